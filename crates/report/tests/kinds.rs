//! Saved records of every kind are shown by what they are about: suites, many benchmarks, runs that failed, values that
//! another tool has computed.

#[expect(dead_code, reason = "only the bare record is used here")]
mod fixture;

use becalm_model::{Metric, Outcome, Record, RecordKind, SubjectTerms, Summary, Unit};
use becalm_report::{
    PictureKind, SharedAxes, Style, hist_text, html, import_text, markdown, plot_text, show_text,
    stats_text,
};

/// A record of these subjects without comparisons.
fn record(names: &[&str]) -> Record {
    Record { kind: RecordKind::Run, ..fixture::bare(names) }
}

/// Adds a metric with values of one subject.
fn add(record: &mut Record, metric: Metric, subject: usize) {
    let number = record.metrics.len();
    record.metrics.push(metric);
    for (index, run) in record.runs.iter_mut().enumerate() {
        run.values.resize(number, None);
        run.values.push((run.subject == subject).then_some(20.0 + (index % 5) as f64 * 0.1));
    }
}

fn benchmark(name: &str) -> Metric {
    Metric { benchmark: Some(name.to_owned()), ..Metric::lower(name, Unit::Second) }
}

#[test]
fn a_saved_suite_shows_each_benchmark_by_its_own_metrics() {
    let mut suite = record(&["walk", "parser"]);
    suite.suite = vec![SubjectTerms::default(); 2];
    add(&mut suite, benchmark("parse"), 1);
    let table = |text: &str| {
        let text = &text.replace('\\', "");
        let lines: Vec<&str> =
            text.lines().filter(|line| line.contains("walk") || line.contains("parse")).collect();
        assert!(
            lines.iter().any(|line| line.contains("walk") && line.contains("wall_time")),
            "{text}"
        );
        assert!(
            lines.iter().any(|line| line.contains("parser") && line.contains("parse ")),
            "{text}"
        );
        assert!(
            !lines.iter().any(|line| line.contains("parser") && line.contains("wall_time")),
            "{text}"
        );
    };
    table(&show_text(&suite, &[], &Style::PLAIN));
    table(&markdown(&suite, &[]));
    let stats = stats_text(&suite, &Style::PLAIN);
    assert!(stats.contains("walk, wall_time: median"), "{stats}");
    assert!(stats.contains("parser, parse: median"), "{stats}");
    assert!(!stats.contains("no value") && !stats.contains("parser, wall_time"), "{stats}");
    let page = html(&suite, &[]);
    assert!(page.contains("<h1 class=\"headline heading\">"), "{page}");
    assert!(
        page.contains("Suite of 2\u{a0}benchmarks") && page.contains("walk, wall_time"),
        "{page}"
    );
    let drawn = hist_text(&suite, None, 10, &SharedAxes::default(), &Style::PLAIN);
    assert!(drawn.contains("walk, wall_time") && drawn.contains("parser, parse"), "{drawn}");
}

#[test]
fn many_benchmarks_are_drawn_by_what_they_are_about() {
    let mut many = record(&["bench"]);
    for name in ["one", "two", "three", "four"] {
        add(&mut many, benchmark(name), 0);
        let size =
            Metric { benchmark: Some(name.to_owned()), ..benchmark(&format!("{name} B/op")) };
        add(&mut many, size, 0);
    }
    let has = |text: &str, wanted: &[&str], others: &[&str]| {
        assert!(wanted.iter().all(|name| text.contains(name)), "{text}");
        assert!(!others.iter().any(|name| text.contains(name)), "{text}");
    };
    has(
        &hist_text(&many, None, 10, &SharedAxes::default(), &Style::PLAIN),
        &["one", "two", "three", "four"],
        &["B/op"],
    );
    has(
        &plot_text(
            &many,
            &[],
            None,
            &SharedAxes::default(),
            &PictureKind::USUAL,
            &[],
            &Style::PLAIN,
        ),
        &["one", "two", "three", "four"],
        &["B/op"],
    );
    let measure = hist_text(&many, Some("B/op"), 10, &SharedAxes::default(), &Style::PLAIN);
    has(&measure, &["one B/op", "four B/op"], &["bench, one\n"]);
    has(
        &plot_text(
            &many,
            &[],
            Some("two"),
            &SharedAxes::default(),
            &PictureKind::USUAL,
            &[],
            &Style::PLAIN,
        ),
        &["Runs, two"],
        &["Runs, one"],
    );
}

#[test]
fn saved_runs_that_were_cut_off_are_told_in_every_view() {
    let mut cut_off = record(&["slow"]);
    for run in &mut cut_off.runs {
        run.outcome = Outcome::TimedOut;
    }
    for text in [
        show_text(&cut_off, &[], &Style::PLAIN),
        stats_text(&cut_off, &Style::PLAIN),
        hist_text(&cut_off, None, 10, &SharedAxes::default(), &Style::PLAIN),
    ] {
        assert!(text.contains("is a lower bound"), "{text}");
    }
    for text in [show_text(&cut_off, &[], &Style::PLAIN), stats_text(&cut_off, &Style::PLAIN)] {
        let text = text.replace(['\u{a0}', '\n'], " ");
        assert!(
            text.contains("s or more: ") && text.contains("were cut off at the timeout"),
            "{text}"
        );
    }
}

#[test]
fn a_mean_of_another_tool_is_called_so() {
    let mut given = record(&["program"]);
    given.kind = RecordKind::Import;
    given.metrics[0].statistic = Some("mean".to_owned());
    given.runs.retain(|run| !run.warmup);
    given.runs.truncate(1);
    let text = stats_text(&given, &Style::PLAIN);
    assert!(text.contains("wall_time: mean 32"), "{text}");
    assert!(text.contains("as the tool reports it") && !text.contains("standard dev"), "{text}");
    assert!(html(&given, &[]).contains("as the tool reports it"));
    given.runs = record(&["program"]).runs;
    let text = stats_text(&given, &Style::PLAIN);
    assert!(text.contains("each a mean"), "{text}");
}

#[test]
fn what_another_tool_says_of_its_values_is_in_the_text_and_in_html() {
    let mut given = record(&["program"]);
    given.kind = RecordKind::Import;
    given.summaries = vec![Summary {
        subject: 0,
        metric: 0,
        figures: vec![("low".to_owned(), 0.0123), ("high".to_owned(), 0.0789)],
    }];
    for shown in [import_text(&given, &Style::PLAIN), html(&given, &[])] {
        assert!(shown.contains("What the tool says"), "{shown}");
        assert!(shown.contains("12.30") && shown.contains("78.90"), "{shown}");
    }
}
