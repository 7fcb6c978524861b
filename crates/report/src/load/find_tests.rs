use becalm_model::MachineFacts;
use becalm_model::load::{
    Distrust, FailureKind, FindGenerator, LoadCounts, LoadTerms, MissedShare, QuantileValue,
};
use becalm_model::wire::worded;

use super::super::find_picture;
use super::super::tests::terms;
use super::*;
use crate::page::tests::{WIDE, say_the_same};

/// A window in which the 99th percentile is this, with an interval of 20 %.
fn window(rate: f64, p99: f64, share: f64) -> FindWindow {
    let requests = becalm_model::whole(rate * 2.0);
    FindWindow {
        rate,
        settled: 0.5,
        seconds: 2.0,
        is_cut: share > 0.5,
        counts: LoadCounts { scheduled: requests, answered: requests, ..LoadCounts::default() },
        missed: MissedShare {
            missed: becalm_model::whole(share * rate * 2.0),
            late: 0,
            requests,
            dispersion: 3.0,
        },
        is_unanswered: false,
        errors: Vec::new(),
        quantile: Some(QuantileRange {
            q: 0.99,
            value: Some(p99),
            low: Some(p99 * 0.9),
            high: (share < 0.5).then_some(p99 * 1.1),
        }),
        response: vec![QuantileValue { q: 0.5, value: 0.0012, at_least: false }],
        service_p99: Some(p99),
        lag_p99: Some(40e-6),
        verdict: Trust::Valid,
        reasons: Vec::new(),
    }
}

/// A server of 1 ms that meets 10 ms up to 773 requests in a second; one window was disturbed.
pub(in super::super) fn found() -> LoadFindDocument {
    let late = Distrust::LateGenerator { lag_p99: 0.03, limit: 0.001, waited: Some(0.2) };
    let disturbed = FindWindow {
        verdict: Trust::Invalid,
        reasons: worded(&[late], super::super::distrust),
        ..window(812.0, 0.05, 0.1)
    };
    LoadFindDocument {
        schema: "becalm/load-find/1".to_owned(),
        becalm: "0.1.0".to_owned(),
        started_at: 1.7e9,
        machine: MachineFacts::default(),
        terms: LoadTerms { stages: Vec::new(), duration: 120.0, ..terms() },
        objective: "p99 < 10ms".parse().unwrap(),
        range: [10.0, 100_000.0],
        answer: FindAnswer::Found { rate: 768.2, low: 741.0, high: 799.0, confidence: 0.95 },
        generator: FindGenerator {
            place: None,
            trusted_to: Some(2560.0),
            failed_from: None,
            reasons: Vec::new(),
        },
        windows: vec![
            window(640.0, 0.004, 0.0),
            window(2560.0, 0.9, 0.95),
            window(790.0, 0.011, 0.013),
            disturbed,
            window(751.0, 0.008, 0.004),
        ],
        elapsed: 97.0,
        is_unanswered: false,
        signal: None,
    }
}

#[test]
fn a_server_that_is_gone_is_said_with_what_failed() {
    let mut document = found();
    let refused = Failed {
        kind: FailureKind::Refused,
        status: None,
        count: 40,
        example: Some("no".to_owned()),
    };
    document.windows[1].errors = vec![Failed { count: 7, ..refused.clone() }];
    document.windows[4].errors = vec![refused];
    (document.windows[4].is_unanswered, document.is_unanswered) = (true, true);
    let text = load_find_text(&document, &Style::PLAIN);
    assert!(text.contains("took no connections any more in the window at 751"), "{text}");
    assert!(text.contains("no: server"), "{text}");
    let line = text.lines().find(|line| line.contains("connection refused")).unwrap();
    assert_eq!(line.split_whitespace().collect::<Vec<_>>(), ["connection", "refused", "47", "no"]);
    let first = LoadFindDocument {
        windows: document.windows.split_off(4),
        answer: FindAnswer::Nothing,
        ..document
    };
    let text = load_find_text(&first, &Style::PLAIN);
    assert!(text.contains("gave no expected answer") && !text.contains("any more"), "{text}");
}

#[test]
fn an_answer_has_its_interval_and_every_window_in_the_order_of_its_rate() {
    insta::assert_snapshot!(load_find_text(&found(), &Style { width: 100, ..Style::PLAIN }));
}

#[test]
fn a_limit_of_the_generator_is_no_answer_about_the_server() {
    let late = Distrust::LateGenerator { lag_p99: 0.03, limit: 0.001, waited: Some(0.2) };
    let limit = FindLimit::Generator;
    let document = LoadFindDocument {
        answer: FindAnswer::AtLeast { rate: 2210.0, confidence: 0.95, limit },
        generator: FindGenerator {
            place: None,
            trusted_to: Some(2560.0),
            failed_from: Some(5120.0),
            reasons: worded(&[late], super::super::distrust),
        },
        windows: vec![window(2560.0, 0.004, 0.0)],
        ..found()
    };
    let text = load_find_text(&document, &Style { width: 100, ..Style::PLAIN });
    insta::assert_snapshot!(
        text.lines().filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n")
    );
}

#[test]
fn every_answer_is_a_sentence() {
    let (rate, low, high, confidence) = (768.2, 500.0, 1100.0, 0.95);
    let said: Vec<String> = [
        FindAnswer::Unresolved { rate, low, high, confidence },
        // What is outside the range was not tried.
        FindAnswer::Unresolved { rate, low: 5.0, high: 200_000.0, confidence },
        FindAnswer::AtMost { rate: 10.4, lowest: 10.0, confidence },
        FindAnswer::AtLeast { rate, confidence, limit: FindLimit::Range },
        FindAnswer::Below { rate: 10.0 },
        FindAnswer::Nothing,
    ]
    .into_iter()
    .map(|answer| super::answer(&LoadFindDocument { answer, ..found() }))
    .collect();
    insta::assert_snapshot!(said.join("\n").replace(NBSP, " "));
}

#[test]
fn every_form_of_a_search_says_the_same() {
    let document = found();
    let page = report(&document, &ELSEWHERE).html("1.0");
    say_the_same(&load_find_text(&document, &WIDE), &page, &load_find_markdown(&document));
}

#[test]
fn the_picture_has_two_marks_for_every_window_that_counts() {
    let picture = find_picture::of(&found()).unwrap();
    insta::assert_snapshot!(crate::svg::within(&picture.drawing));
    // Four windows count, and the legend has two marks; one window has no upper end.
    assert_eq!(picture.drawing.count_of("dot"), 10);
    assert_eq!(picture.drawing.count_of("interval"), 3);
    assert_eq!(picture.drawing.count_of("interval-band"), 1);
    assert!(load_find_html(&found(), "1.0").contains("load-find"));
    let errors = LoadFindDocument { objective: "errors < 1%".parse().unwrap(), ..found() };
    assert!(find_picture::of(&errors).is_none());
}
