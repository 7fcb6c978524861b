//! Every view of the fixture, word for word.

mod fixture;

use becalm_model::conditions::{Described, PaceSampling};
use becalm_model::{ComparisonNote, Interruption, Limit, Note, Record};
use becalm_report::{
    Beside, Detail, PictureKind, SharedAxes, Sides, Style, comparison_text, diff_text, facts_text,
    hist_text, html, markdown, metadata_text, plot_text, run_text, show_text, stats_text,
};
use fixture::disturbed;

const UNICODE: Style = Style { width: 80, colour: false, unicode: true };

#[test]
fn a_comparison_says_its_verdict_first() {
    insta::assert_snapshot!(comparison_text(
        &fixture::comparison(),
        &disturbed(),
        Detail::Full,
        &UNICODE
    ));
}

#[test]
fn a_comparison_reads_the_same_in_ascii() {
    let text = comparison_text(&fixture::comparison(), &disturbed(), Detail::Full, &Style::PLAIN);
    assert!(text.is_ascii(), "{text}");
    insta::assert_snapshot!(text);
}

#[test]
fn an_undecided_comparison_says_what_to_do_next() {
    let text = comparison_text(&fixture::undecided(), &disturbed(), Detail::Full, &UNICODE);
    assert!(text.contains("about 40 more rounds (2.8 s) should decide"), "{text}");
    insta::assert_snapshot!(text);
}

#[test]
fn several_candidates_are_ranked_with_the_baseline_in_its_place() {
    insta::assert_snapshot!(comparison_text(&fixture::ranking(), &[], Detail::Full, &UNICODE));
}

#[test]
fn a_program_against_itself_gives_the_noise_floor() {
    insta::assert_snapshot!(comparison_text(&fixture::same_program(), &[], Detail::Full, &UNICODE));
}

#[test]
fn a_program_that_differs_from_itself_is_a_warning() {
    let mut record = fixture::same_program();
    record.comparisons = fixture::comparison().comparisons;
    let text = comparison_text(&record, &[], Detail::Full, &UNICODE);
    assert!(text.starts_with("Warning: two identical programs differ by +2.1 %"), "{text}");
}

#[test]
fn no_line_of_a_comparison_passes_eighty_columns() {
    let mut record = fixture::undecided();
    for name in ["a", "ten colums", "./bench --with-a-long-option=and-its-value --old"] {
        record.subjects[0].name = name.into();
        record.subjects[1].name = name.into();
        let text = comparison_text(&record, &disturbed(), Detail::Full, &UNICODE);
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        assert!(text.contains("metric  "), "the table is not stacked: {text}");
    }
}

#[test]
fn a_run_shows_the_whole_distribution() {
    insta::assert_snapshot!(run_text(&fixture::single(), &disturbed(), Detail::Full, &UNICODE));
}

#[test]
fn statistics_stand_alone() {
    insta::assert_snapshot!(stats_text(&fixture::single(), &UNICODE));
}

#[test]
fn histograms_leave_a_far_value_out_and_say_so() {
    insta::assert_snapshot!(hist_text(
        &fixture::comparison(),
        None,
        12,
        &SharedAxes::default(),
        &UNICODE
    ));
}

#[test]
fn plots_show_every_run_and_its_place_in_time() {
    insta::assert_snapshot!(plot_text(
        &fixture::comparison(),
        &disturbed(),
        None,
        &SharedAxes::default(),
        &PictureKind::USUAL,
        &[Beside::Box, Beside::Violin],
        &UNICODE
    ));
}

#[test]
fn a_saved_record_says_what_when_and_how() {
    insta::assert_snapshot!(show_text(&fixture::comparison(), &disturbed(), &UNICODE));
}

#[test]
fn metadata_lists_the_session_the_conditions_and_the_machine() {
    insta::assert_snapshot!(metadata_text(&fixture::comparison(), &UNICODE));
}

#[test]
fn facts_say_what_could_not_be_read() {
    insta::assert_snapshot!(facts_text(&fixture::comparison().machine, &Style::PLAIN), @r"
      cpu_model       AMD Ryzen 9 5950X 16-Core Processor
      governor        performance
      kernel_release  6.8.0-60-generic
      virtualisation  none

    Could not be read:
      - microcode: permission denied
    ");
}

#[test]
fn separately_recorded_files_are_compared_with_a_warning() {
    let (old, mut new) = (fixture::comparison(), fixture::comparison());
    new.machine.facts.insert("kernel_release".into(), "6.12.1".into());
    new.conditions.pace = Some(Described::Value(PaceSampling { every_us: 250 }));
    let mut comparisons = new.comparisons.clone();
    comparisons[0].notes = vec![ComparisonNote::MeasuredSeparately.into()];
    insta::assert_snapshot!(diff_text(
        (&old, &new),
        Sides::Apart,
        &comparisons,
        (0.01, 0.95),
        &[],
        &UNICODE
    ));
}

#[test]
fn markdown_is_short_enough_to_paste() {
    insta::assert_snapshot!(markdown(&fixture::comparison(), &disturbed()));
}

#[test]
fn the_html_report_is_the_same_every_time() {
    insta::assert_snapshot!(html(&small(fixture::comparison()), &[]));
}

/// A record with few runs, so that its snapshot can be read.
fn small(mut record: Record) -> Record {
    record.runs.truncate(10);
    record
}

#[test]
fn the_html_report_needs_nothing_else() {
    let page = html(&fixture::comparison(), &disturbed());
    for outside in ["<script", "<link", "<img", "src=", "@import", "url("] {
        assert!(!page.contains(outside), "{outside}");
    }
    // The only address is the name of the SVG namespace, which nobody fetches.
    let addresses = page.matches("http").count();
    assert_eq!(addresses, page.matches("http://www.w3.org/2000/svg").count());
}

#[test]
fn what_was_read_from_the_output_comes_first_and_the_wall_time_stays() {
    let mut record = fixture::single();
    record.metrics[1].name = "rate".into();
    let text = run_text(&record, &[], Detail::Full, &UNICODE);
    let at = |part: &str| text.find(part).unwrap_or_else(|| panic!("no {part:?} in\n{text}"));
    assert!(at(", rate: median") < at(", wall_time: median"), "{text}");
}

#[test]
fn names_and_commands_cannot_inject_markup() {
    let mut record = fixture::comparison();
    let evil = "<script>alert('\"&\")</script>";
    record.subjects[0].name = evil.into();
    record.subjects[1].command = vec![evil.into(), "</code></svg>".into()];
    record.arguments.push(evil.into());
    record.notes.push(Note::text(evil));
    record.interrupted = Some(Interruption::from(evil.to_owned()));
    record.version = evil.into();
    record.metrics[1].name = evil.into();
    record.conditions.limits.push(Limit::text(evil));
    record.conditions.environment.push(evil.into());
    record.machine.facts.insert(evil.into(), evil.into());
    record.machine.unreadable.insert(evil.into(), evil.into());
    let page = html(&record, &disturbed());
    assert!(!page.contains("<script") && !page.contains("alert('\""));
    assert!(page.contains("&lt;script&gt;alert(&#39;&quot;&amp;&quot;)&lt;/script&gt;"));
    // A `<` in a Markdown text would be markup too; inside code it is not.
    let text = markdown(&record, &[]);
    assert!(text.lines().all(|line| !line.contains("<script") || line.contains('`')), "{text}");
}

#[test]
fn a_name_cannot_fake_a_verdict_with_escape_sequences() {
    let mut record = fixture::comparison();
    record.subjects[0].name = "\u{1b}[32mA is faster\u{1b}[0m".into();
    record.subjects[0].command = vec!["\u{1b}]0;title\u{7}".into()];
    record.notes.push(Note::text("\u{1b}[2J"));
    for text in [
        comparison_text(&record, &[], Detail::Full, &UNICODE),
        show_text(&record, &[], &UNICODE),
        metadata_text(&record, &UNICODE),
        plot_text(&record, &[], None, &SharedAxes::default(), &PictureKind::USUAL, &[], &UNICODE),
    ] {
        assert!(!text.contains('\u{1b}') && !text.contains('\u{7}'), "{text}");
    }
}

#[test]
fn colour_adds_nothing_but_colour() {
    let colour = Style { colour: true, ..UNICODE };
    let plain = comparison_text(&fixture::comparison(), &disturbed(), Detail::Full, &UNICODE);
    let painted = comparison_text(&fixture::comparison(), &disturbed(), Detail::Full, &colour);
    assert_ne!(plain, painted);
    assert_eq!(without_escapes(&painted), plain);
}

fn without_escapes(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('\u{1b}') {
        out.push_str(before);
        rest = after.split_once('m').map_or("", |(_, after)| after);
    }
    out + rest
}

/// Lines of a short comparison of two commands.
const SHORT: usize = 20;

#[test]
fn a_short_comparison_fits_on_a_screen_and_keeps_what_puts_it_in_doubt() {
    for (name, record) in [
        ("comparison", fixture::comparison()),
        ("undecided", fixture::undecided()),
        ("same_program", fixture::same_program()),
    ] {
        let text = comparison_text(&record, &disturbed(), Detail::Short, &UNICODE);
        assert!(text.lines().count() <= SHORT, "{name}:\n{text}");
        insta::assert_snapshot!(format!("short_{name}"), text);
    }
    insta::assert_snapshot!(comparison_text(&fixture::ranking(), &[], Detail::Short, &UNICODE));
}

#[test]
fn a_short_run_has_the_estimate_and_every_run() {
    insta::assert_snapshot!(run_text(&fixture::single(), &disturbed(), Detail::Short, &UNICODE));
}

#[test]
fn what_is_shown_afterwards_says_what_to_do_next() {
    let text = show_text(&fixture::undecided(), &disturbed(), &UNICODE);
    assert!(text.contains("about 40 more rounds (2.8 s) should decide"), "{text}");
}
