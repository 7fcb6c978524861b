//! The pages of documents that nobody wishes for, and of an ordinary one.

use std::collections::{BTreeMap, BTreeSet};

use becalm_model::history::{Decision, Review};
use becalm_model::wire::{
    ChangeInHistoryDocument, ChangePointDocument, HistoryEntryDocument, HistorySeriesDocument,
    SeriesStateDocument, SpreadChangeDocument, SpreadInHistoryDocument, StateInHistoryDocument,
    WebBenchmarkDocument, WebBenchmarksDocument, WebChangeCounts, WebChangeDocument,
    WebChangesDocument, WebChoiceDocument, WebCompareCounts, WebCompareDocument,
    WebComparisonDocument, WebElsewhereDocument, WebEntriesDocument, WebEntryDocument,
    WebEntryValueDocument, WebLevelDocument, WebMachineBranchDocument, WebMachineDocument,
    WebMachinesDocument, WebNoiseDocument, WebPart, WebPointDocument, WebSeriesDocument,
    WebSideDocument, WebSuiteBenchmarkDocument, WebSuiteDocument, WebSuitesDocument,
    WebTurnDocument,
};

use super::{
    Decisions, Site, SitePart, SitePlace, WebMessage, web_badge, web_benchmarks, web_changes,
    web_compare, web_entries, web_entry, web_feed, web_machines, web_message, web_series,
    web_style, web_suites,
};

/// What somebody writes who wants a page to do more than show it.
const HOSTILE: &str =
    "</title><script>alert(1)</script>\" onload='x' &amp;\u{0}\u{1b}[31m\r\n\u{202e}";

fn site(text: &str) -> Site {
    let decisions = Some(Decisions { token: "token".to_owned(), by: text.to_owned() });
    Site {
        title: text.to_owned(),
        version: "1.0".to_owned(),
        commits: Some("https://example.org/commit/{commit}".parse().unwrap()),
        place: SitePlace::Served { decisions, part: SitePart::Whole },
    }
}

fn files(text: &str) -> Site {
    Site { place: SitePlace::Files { records: BTreeSet::from([16]) }, ..site(text) }
}

fn machine(text: &str) -> BTreeMap<String, String> {
    [("cpu_model", text), ("kernel_release", text)]
        .map(|(name, value)| (name.into(), value.into()))
        .into()
}

/// A regression in which all texts are this one.
fn change(text: &str, review: &str) -> WebChangeDocument {
    let place = ChangeInHistoryDocument {
        id: "3@16".to_owned(),
        series: 3,
        benchmark: text.to_owned(),
        metric: text.to_owned(),
        unit: "s".to_owned(),
        parameters: BTreeMap::from([(text.to_owned(), text.to_owned())]),
        branch: text.to_owned(),
        fingerprint: text.to_owned(),
        entry: 16,
        commit: Some(text.to_owned()),
        after_commit: Some(text.to_owned()),
        until_commit: Some(text.to_owned()),
        review: review.to_owned(),
        reason: (review == "dismissed").then(|| text.to_owned()),
        by: (review != "open").then(|| text.to_owned()),
        decided: (review != "open").then_some(1_795_219_113.0),
        ..ChangeInHistoryDocument::default()
    };
    WebChangeDocument {
        change: ChangePointDocument {
            index: 3,
            earliest: 3,
            latest: 3,
            before: 1.0,
            after: 1.3,
            mean_before: 1.0,
            mean_after: 1.3,
            modes: None,
            ratio: Some(1.3),
            ratio_low: Some(1.28),
            ratio_high: Some(1.31),
            state: "confirmed".to_owned(),
            kind: "regression".to_owned(),
            part_of: None,
            history: Some(place),
        },
        at_least: Some(0.24),
        seen: 1_795_219_113.0,
        entries_between: 1,
        trend: vec![1.0, 1.01, 0.99, 1.3, 1.31, 1.29],
        trend_at: 3,
        machine: machine(text),
        command: Some(vec![text.to_owned(), text.to_owned()]),
        flags: vec!["--metric".to_owned(), text.to_owned()],
        author: Some(text.to_owned()),
        title: Some(text.to_owned()),
    }
}

/// An unstable series in which all texts are this one.
fn state(text: &str) -> SeriesStateDocument {
    let place = StateInHistoryDocument {
        series: 3,
        benchmark: text.to_owned(),
        metric: text.to_owned(),
        unit: text.to_owned(),
        parameters: BTreeMap::from([(text.to_owned(), text.to_owned())]),
        branch: text.to_owned(),
        commit: Some(text.to_owned()),
        end_commit: Some(text.to_owned()),
        changes: vec!["3@16".to_owned(), "3@20".to_owned()],
        ..StateInHistoryDocument::default()
    };
    SeriesStateDocument {
        state: "unstable".to_owned(),
        kind: "change".to_owned(),
        start: 3,
        end: 9,
        current: false,
        from: 1.0,
        to: 1.3,
        ratio: Some(1.3),
        changes: vec![3, 7],
        history: Some(place),
    }
}

fn changes(text: &str) -> WebChangesDocument {
    WebChangesDocument {
        state: "open".to_owned(),
        branch: Some(text.to_owned()),
        branches: vec![text.to_owned(), "main".to_owned()],
        part: WebPart { page: 1, pages: 2, items: 21 },
        counts: WebChangeCounts { open: 21, acknowledged: 3, dismissed: 1, open_regressions: 20 },
        series: 5,
        entries: 30,
        changes: vec![change(text, "open"), change(text, "dismissed")],
        states: vec![state(text)],
        ..WebChangesDocument::default()
    }
}

fn one_series(text: &str) -> HistorySeriesDocument {
    HistorySeriesDocument {
        series: 3,
        benchmark: text.to_owned(),
        metric: text.to_owned(),
        unit: text.to_owned(),
        direction: text.to_owned(),
        parameters: BTreeMap::from([(text.to_owned(), text.to_owned())]),
        fingerprint: text.to_owned(),
        branch: text.to_owned(),
        points: 6,
        last: Some(1_795_219_113.0),
        value: Some(1.3),
        ..HistorySeriesDocument::default()
    }
}

fn series(text: &str) -> WebSeriesDocument {
    let values = [1.0, 1.01, 0.99, 1.3, 1.31, 1.29];
    let point = |(index, value): (usize, &f64)| WebPointDocument {
        index,
        entry: 13 + i64::try_from(index).unwrap_or(0),
        time: 1_795_219_113.0 + 86_400.0 * index as f64,
        commit: Some(text.to_owned()),
        value: *value,
        error: Some(0.01),
        runs: 10,
    };
    let level =
        |first, level| WebLevelDocument { first, last: first + 2, level, low: None, high: None };
    WebSeriesDocument {
        series: one_series(text),
        machine: machine(text),
        by: "order".to_owned(),
        part: WebPart { page: 1, pages: 1, items: 6 },
        points: values.iter().enumerate().map(point).collect(),
        levels: vec![level(0, 1.0), level(3, 1.3)],
        changes: vec![change(text, "open")],
        spreads: vec![SpreadChangeDocument {
            index: 3,
            kind: "noisier".to_owned(),
            before: 0.01,
            after: 0.03,
            history: Some(SpreadInHistoryDocument {
                commit: Some(text.to_owned()),
                ..SpreadInHistoryDocument::default()
            }),
            ..SpreadChangeDocument::default()
        }],
        elsewhere: vec![WebElsewhereDocument {
            series: 4,
            branch: text.to_owned(),
            fingerprint: text.to_owned(),
            machine: machine(text),
            value: 2.0,
            last: 1_795_219_113.0,
        }],
        ..WebSeriesDocument::default()
    }
}

#[test]
fn the_levels_of_a_series_are_ridges_over_one_axis() {
    insta::assert_snapshot!(crate::web::ridges::ridges(&series("sort")).unwrap());
    let mut document = series("sort");
    document.levels.truncate(1);
    assert_eq!(
        crate::web::ridges::ridges(&document),
        None,
        "one level alone is the picture of the points"
    );
}

fn an_entry(text: &str) -> HistoryEntryDocument {
    HistoryEntryDocument {
        entry: 16,
        commit: Some(text.to_owned()),
        commit_author: Some(text.to_owned()),
        commit_title: Some(text.to_owned()),
        branch: text.to_owned(),
        tags: vec![text.to_owned()],
        fingerprint: text.to_owned(),
        facts: machine(text),
        has_record: true,
        ..HistoryEntryDocument::default()
    }
}

fn compared(text: &str) -> WebCompareDocument {
    let side = WebSideDocument {
        series: 3,
        entry: 16,
        branch: text.to_owned(),
        fingerprint: text.to_owned(),
        entries: 10,
        value: 1.0,
    };
    let comparison = WebComparisonDocument {
        benchmark: text.to_owned(),
        parameters: BTreeMap::from([(text.to_owned(), text.to_owned())]),
        metric: text.to_owned(),
        unit: text.to_owned(),
        before: side.clone(),
        after: WebSideDocument { value: 1.3, ..side },
        ratio: Some(1.3),
        ratio_low: Some(1.2),
        ratio_high: Some(1.4),
        verdict: "slower".to_owned(),
        ..WebComparisonDocument::default()
    };
    let choice = WebChoiceDocument { value: text.to_owned(), name: text.to_owned() };
    WebCompareDocument {
        of: "machines".to_owned(),
        before: text.to_owned(),
        after: "other".to_owned(),
        choices: vec![choice],
        show: "all".to_owned(),
        search: text.to_owned(),
        margin: 0.01,
        confidence: 0.95,
        counts: WebCompareCounts { slower: 60, ..WebCompareCounts::default() },
        part: WebPart { page: 1, pages: 2, items: 60 },
        comparisons: vec![comparison],
        ..WebCompareDocument::default()
    }
}

fn machines(text: &str) -> WebMachinesDocument {
    let turn = WebTurnDocument {
        entry: 16,
        fact: text.to_owned(),
        before: text.to_owned(),
        ..WebTurnDocument::default()
    };
    let branch =
        WebMachineBranchDocument { branch: text.to_owned(), ..WebMachineBranchDocument::default() };
    let noise =
        WebNoiseDocument { middle: 0.01, most: 0.02, series: 3, ..WebNoiseDocument::default() };
    let one = WebMachineDocument {
        fingerprint: text.to_owned(),
        facts: machine(text),
        branches: vec![branch],
        noise: vec![noise, noise],
        turns: vec![turn],
        of_entries: 40,
    };
    WebMachinesDocument {
        part: WebPart { page: 1, pages: 1, items: 1 },
        machines: vec![one],
        ..WebMachinesDocument::default()
    }
}

fn suites(text: &str) -> WebSuitesDocument {
    let suite = WebSuiteDocument {
        branch: text.to_owned(),
        fingerprint: text.to_owned(),
        machine: machine(text),
        entry: 16,
        ..WebSuiteDocument::default()
    };
    let benchmark = WebSuiteBenchmarkDocument {
        benchmark: text.to_owned(),
        parameters: BTreeMap::from([(text.to_owned(), text.to_owned())]),
        metric: text.to_owned(),
        seconds: 3.0,
        trend: vec![1.0, 2.0],
        ..WebSuiteBenchmarkDocument::default()
    };
    WebSuitesDocument {
        branch: text.to_owned(),
        fingerprint: text.to_owned(),
        suites: vec![suite.clone(), WebSuiteDocument { branch: "other".to_owned(), ..suite }],
        part: WebPart { page: 1, pages: 2, items: 60 },
        benchmarks: vec![benchmark],
        ..WebSuitesDocument::default()
    }
}

/// Every page in which all texts are this one.
fn every_page(text: &str) -> Vec<(&'static str, String)> {
    let benchmark = WebBenchmarkDocument {
        series: HistorySeriesDocument { state: Some(text.to_owned()), ..one_series(text) },
        machine: machine(text),
        trend: vec![1.0, 2.0],
        last_change: Some(change(text, "open").change),
    };
    let benchmarks = WebBenchmarksDocument {
        search: text.to_owned(),
        part: WebPart { page: 2, pages: 3, items: 101 },
        benchmarks: vec![benchmark],
        ..WebBenchmarksDocument::default()
    };
    let part = WebPart { page: 1, pages: 1, items: 1 };
    let entries =
        WebEntriesDocument { part, entries: vec![an_entry(text)], ..WebEntriesDocument::default() };
    let value = WebEntryValueDocument {
        benchmark: text.to_owned(),
        metric: text.to_owned(),
        unit: text.to_owned(),
        ..WebEntryValueDocument::default()
    };
    let entry = WebEntryDocument {
        entry: an_entry(text),
        part,
        values: vec![value],
        ..WebEntryDocument::default()
    };
    let review = Review {
        decision: Decision::Dismissed { reason: text.into() },
        by: text.into(),
        time: 1.0,
    };
    let mut pages = Vec::new();
    for site in [site(text), files(text)] {
        pages.extend([
            ("changes", web_changes(&changes(text), &site)),
            ("series", web_series(&series(text), &site)),
            (
                "by time",
                web_series(&WebSeriesDocument { by: "time".into(), ..series(text) }, &site),
            ),
            ("benchmarks", web_benchmarks(&benchmarks, &site)),
            ("entries", web_entries(&entries, &site)),
            ("entry", web_entry(&entry, &site)),
            ("compare", web_compare(&compared(text), &site)),
            ("machines", web_machines(&machines(text), &site)),
            ("suites", web_suites(&suites(text), &site)),
            ("feed", web_feed(&[change(text, "acknowledged")], &site, text)),
            ("bad request", web_message(&WebMessage::BadRequest(text.into()), &site, 1)),
            ("no database", web_message(&WebMessage::NoDatabase(text.into()), &site, 0)),
            (
                "meanwhile",
                web_message(
                    &WebMessage::Meanwhile { review: Some(review.clone()), series: 3 },
                    &site,
                    1,
                ),
            ),
        ]);
    }
    pages
}

#[test]
fn texts_of_others_are_shown_and_do_nothing() {
    for (name, page) in every_page(HOSTILE) {
        assert!(!page.contains("<script"), "{name}: {page}");
        assert!(!page.contains("onload='x'") && !page.contains("\" onload"), "{name}: {page}");
        assert!(page.contains("&lt;script&gt;alert(1)&lt;/script&gt;"), "{name}: {page}");
        let control = page.chars().find(|c| c.is_control() && *c != '\n');
        assert_eq!(control, None, "{name}: {page}");
        assert!(!page.contains('\u{202e}'), "{name}: {page}");
        assert!(!page.contains(" style=\""), "{name}: {page}");
    }
}

#[test]
fn texts_without_end_do_not_make_pages_without_end() {
    let long = "long ".repeat(200_000);
    for (name, page) in every_page(&long) {
        assert!(page.len() < 100_000, "{name}: {} bytes", page.len());
    }
}

#[test]
fn an_ordinary_front_page() {
    let mut document = changes("main");
    document.branch = None;
    document.states.clear();
    for change in &mut document.changes {
        change.command = Some(["./sort", "-n", "big file"].map(str::to_owned).into());
        change.machine = machine("A processor");
        let place = change.change.history.as_mut().unwrap();
        place.benchmark = "sort".to_owned();
        place.metric = "wall_time".to_owned();
        place.parameters.clear();
        place.after_commit = Some("14abcdef0123456789".to_owned());
        place.until_commit = Some("15abcdef0123456789".to_owned());
        place.commit.clone_from(&place.until_commit);
        place.fingerprint = "0a1b2c3d4e".to_owned();
    }
    let page = web_changes(&document, &site("a history"));
    insta::assert_snapshot!(page.split_once("<main id=\"main\">\n").unwrap().1);
}

#[test]
fn no_command_has_a_commit_that_could_be_a_flag() {
    for commit in ["--build=rm", "-x", "a;rm -rf", "$(x)", "", "a\nb"] {
        let mut document = changes("main");
        document.changes.truncate(1);
        document.changes[0].change.history.as_mut().unwrap().after_commit = Some(commit.to_owned());
        let page = web_changes(&document, &site("a history"));
        assert!(!page.contains("becalm compare"), "{commit}: {page}");
    }
}

#[test]
fn what_is_read_and_what_is_drawn_are_the_same_points() {
    let page = web_series(&series("main"), &site("a history"));
    assert_eq!(page.matches("<circle").count(), 6);
    // Each leads to its record, from the picture and from the table.
    assert_eq!(page.matches("href=\"../record/16\"").count(), 2 + 1, "{page}");
    let published = web_series(&series("main"), &files("a history"));
    assert!(
        published.contains("href=\"../record/16.html\"")
            && published.contains("href=\"../entry/15.html\"")
    );
}

#[test]
fn levels_are_ridges_below_each_other_with_the_newest_on_top() {
    let page = web_series(&series("<m>"), &site("a history"));
    let place = |text: &str| page.find(text).unwrap_or_else(|| panic!("{text}: {page}"));
    assert!(place("points 4 to 6, 3") < place("points 1 to 3, 3"));
    assert!(page.contains("Ridges of &lt;m&gt;"));
    let mut flat = series("m");
    flat.levels.truncate(1);
    assert!(!web_series(&flat, &site("a history")).contains("Ridges of"));
}

#[test]
fn a_series_that_does_not_stay_is_above_the_changes() {
    let page = web_changes(&changes("main"), &site("a history"));
    let (above, _) = page.split_once("<article").unwrap();
    let unstable = "<strong>unstable</strong> since <code>main</code> up to <code>main</code>";
    assert!(above.contains(unstable) && above.contains("href=\"series/3"), "{above}");
    let trend = SeriesStateDocument {
        state: "trend".to_owned(),
        kind: "regression".to_owned(),
        current: true,
        ..state("main")
    };
    let page = web_series(
        &WebSeriesDocument { states: vec![trend], ..series("main") },
        &site("a history"),
    );
    assert!(page.contains("<strong>trend for the worse</strong> since <code>main</code>: from"));
    assert!(page.contains("+30.0\u{a0}% (2\u{a0}changes)"), "{page}");
}

#[test]
fn a_badge_says_how_many() {
    let of = |open_regressions| {
        web_badge(WebChangeCounts { open_regressions, ..WebChangeCounts::default() })
    };
    assert!(of(0).contains(">no open regression<"));
    assert!(of(1).contains(">1 open regression<"));
    assert!(of(12).contains(">12 open regressions<"));
}

#[test]
fn the_style_sheet_asks_for_nothing_else() {
    let style = web_style();
    assert!(!style.contains("url(") && !style.contains("@import"), "{style}");
}

#[test]
fn an_interval_that_reaches_beyond_its_picture_has_an_arrow_and_is_written_beside_it() {
    let drawn = |low: f64, high: f64| {
        let mut document = compared("main");
        document.comparisons[0].ratio_low = Some(low);
        document.comparisons[0].ratio_high = Some(high);
        web_compare(&document, &site("main"))
    };
    let arrows = |page: &str| page.matches("<path class=\"forest-reach\"").count() - 1;
    let (within, beyond) = (drawn(1.2, 1.35), drawn(0.2, 9.0));
    assert_eq!((arrows(&within), arrows(&beyond)), (0, 2), "{beyond}");
    assert!(
        beyond.contains("<span class=\"quiet\">from -80.0\u{a0}% to +800.0\u{a0}%</span>"),
        "{beyond}"
    );
}
