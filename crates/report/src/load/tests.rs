use becalm_model::load::{
    Archetype, ArchetypeTerms, Distrust, FailureKind, Fidelity, Gaps, GeneratorPlace, LoadCounts,
    LoadPart, LoadSecond, LoadValues, RequestTerms, Separation, ThreadUse,
};
use becalm_model::wire::worded;

use super::*;
use crate::page::tests::{WIDE, say_the_same};

const QUANTILES: [f64; 10] = [0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999, 0.9999, 1.0];

fn latency(of: impl Fn(f64) -> (f64, bool)) -> Latency {
    let quantile = |q| {
        let (value, at_least) = of(q);
        QuantileValue { q, value, at_least }
    };
    Latency {
        known: 20_000,
        mean: Some(of(0.5).0),
        quantiles: QUANTILES.map(quantile).to_vec(),
        ..Latency::default()
    }
}

pub(super) fn terms() -> LoadTerms {
    LoadTerms {
        url: "http://127.0.0.1:8080/".to_owned(),
        unix_socket: None,
        protocol: "HTTP/1.1".to_owned(),
        streams: None,
        method: "GET".to_owned(),
        body_bytes: 0,
        grpc: false,
        expected_status: Vec::new(),
        expected_body: None,
        requests: Vec::new(),
        values: None,
        authentication: None,
        follow: None,
        requests_digest: None,
        archetype: None,
        arrivals: Arrivals::Poisson,
        stages: vec![Stage { seconds: 10.0, from: 2000.0, to: 2000.0 }],
        seed: 7,
        duration: 10.0,
        time_limit: 10.0,
        connections: 1000,
        new_connections: false,
        threads: 1,
        batch: None,
    }
}

fn thread(name: &str, cpu: f64) -> ThreadUse {
    ThreadUse { name: name.to_owned(), cpu, waited: Some(0.012) }
}

/// A stall of the server for 200 ms in the sixth of ten seconds.
pub(super) fn stalled() -> LoadRunDocument {
    let tail = |q: f64| if q > 0.98 { 0.2 - (1.0 - q) * 10.0 } else { 80e-6 };
    LoadRunDocument {
        schema: "becalm/load/1".to_owned(),
        becalm: "0.1.0".to_owned(),
        started_at: 1.7e9,
        machine: becalm_model::MachineFacts::default(),
        terms: terms(),
        counts: LoadCounts {
            scheduled: 20_000,
            sent: 20_000,
            answered: 20_000,
            connections: 412,
            ..LoadCounts::default()
        },
        elapsed: 10.0,
        answering: Some(10.0),
        response: latency(|q| (tail(q), false)),
        service: latency(|q| (tail(q) - 20e-6, false)),
        lag: latency(|q| (q * 40e-6, false)),
        errors: Vec::new(),
        mix: Vec::new(),
        fidelity: Fidelity {
            verdict: Trust::Valid,
            reasons: Vec::new(),
            lag_limit: 0.005,
            trusted_to: Some(1.0),
            pickup_p99: Some(30e-6),
            spin: 80e-6,
            batch: 0.0,
            gaps: Gaps { mean: 0.0005, scheduled_variation: 1.003, actual_variation: 1.005 },
            threads: vec![thread("pacer", 0.16), thread("sender 1", 0.11)],
            place: None,
        },
        objectives: Vec::new(),
        seconds: (0..10)
            .map(|second| LoadSecond {
                second,
                scheduled: 2000,
                answered: 2000,
                response_p50: Some(80e-6),
                response_p99: Some(if second == 5 { 0.18 } else { 120e-6 }),
                response_max: Some(if second == 5 { 0.2 } else { 400e-6 }),
                service_p99: Some(if second == 5 { 0.18 } else { 110e-6 }),
                lag_p99: Some(40e-6),
                lag_max: Some(90e-6),
                ..LoadSecond::default()
            })
            .collect(),
        spreads: Vec::new(),
        signal: None,
    }
}

/// Ten connections to a server that takes 10 ms, and a third of its answers wrong.
pub(super) fn starved() -> LoadRunDocument {
    let reasons = [
        Distrust::PoolTooSmall {
            starved: 19_500,
            scheduled: 20_000,
            connections: 10,
            lag_p99: 9.9,
            limit: 0.5,
        },
        Distrust::Unsent { requests: 5000, scheduled: 20_000 },
    ];
    let usual = stalled();
    LoadRunDocument {
        counts: LoadCounts {
            scheduled: 20_000,
            sent: 15_000,
            answered: 10_000,
            errors: 5000,
            starved: 19_500,
            given_back: 1,
            unsent: 5000,
            connections: 10,
        },
        elapsed: 20.0,
        answering: Some(20.0),
        response: latency(|q| (q * 10.0, q > 0.4)),
        lag: latency(|q| (q * 9.9, q > 0.7)),
        errors: vec![
            Failed { kind: FailureKind::Status, status: Some(503), count: 4999, example: None },
            Failed {
                kind: FailureKind::Closed,
                status: None,
                count: 1,
                example: Some("the connection ended before the answer did".to_owned()),
            },
        ],
        fidelity: Fidelity {
            verdict: Trust::Invalid,
            reasons: worded(&reasons, distrust),
            lag_limit: 0.5,
            trusted_to: None,
            ..usual.fidelity.clone()
        },
        objectives: vec![
            ObjectiveResult {
                objective: "p99 < 20ms".parse().unwrap(),
                found: None,
                is_kept: false,
            },
            ObjectiveResult {
                objective: "errors < 60%".parse().unwrap(),
                found: Some(0.5),
                is_kept: true,
            },
        ],
        signal: Some(2),
        ..usual
    }
}

#[test]
fn a_load_that_is_valid_has_its_times_side_by_side() {
    insta::assert_snapshot!(load_text(&stalled(), &Style { width: 100, ..Style::PLAIN }));
}

#[test]
fn one_whose_requests_were_gathered_says_for_how_long() {
    let usual = stalled();
    let gathered =
        LoadRunDocument { fidelity: Fidelity { batch: 2e-4, ..usual.fidelity.clone() }, ..usual };
    let text = load_text(&gathered, &Style { width: 400, ..Style::PLAIN });
    let sentence = "It gathered requests for up to 200 us to send them together. The gaps";
    assert!(text.contains(sentence), "{text}");
}

#[test]
fn one_that_is_invalid_says_so_first_and_why() {
    insta::assert_snapshot!(load_text(&starved(), &Style { width: 100, ..Style::PLAIN }));
}

#[test]
fn calls_of_grpc_are_called_that_and_their_errors_have_number_name_and_words() {
    let usual = stalled();
    let failed = |kind, status, example: &str| Failed {
        kind,
        status,
        count: 3,
        example: Some(example.to_owned()),
    };
    let document = LoadRunDocument {
        terms: LoadTerms {
            grpc: true,
            protocol: "HTTP/2".to_owned(),
            method: "POST".to_owned(),
            url: "http://127.0.0.1:50051/a.B/C".to_owned(),
            ..terms()
        },
        errors: vec![
            failed(FailureKind::GrpcStatus, Some(14), "no backend"),
            failed(FailureKind::GrpcMessage, None, "2 messages"),
        ],
        ..usual
    };
    let text = load_text(&document, &WIDE);
    for words in [
        "gRPC calls of http://127.0.0.1:50051/a.B/C, HTTP/2:",
        "gRPC status 14 UNAVAILABLE",
        "no backend",
        "not one gRPC message",
        "2 messages",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
}

/// Two kinds of requests, one of which fails more often.
fn mixed() -> LoadRunDocument {
    let usual = stalled();
    let kind = |name: &str, weight| RequestTerms {
        name: name.to_owned(),
        weight,
        method: "GET".to_owned(),
        path: "/".to_owned(),
        body_bytes: 0,
    };
    let part = |name: &str, scheduled, errors, slower: f64| LoadPart {
        name: name.to_owned(),
        counts: LoadCounts {
            scheduled,
            answered: scheduled - errors,
            errors,
            ..LoadCounts::default()
        },
        response: latency(|q| (q * 1e-3 * slower, errors > 0 && q > 0.98)),
        service: latency(|q| (q * 0.9e-3 * slower, false)),
    };
    LoadRunDocument {
        terms: LoadTerms {
            requests: vec![kind("list", 3.0), kind("add an item", 1.0)],
            values: Some(LoadValues {
                file: "ids.csv".to_owned(),
                columns: vec!["id".to_owned()],
                rows: 1000,
                digest: String::new(),
            }),
            authentication: Some(Authentication::Bearer("env:TOKEN".to_owned())),
            follow: Some(2),
            archetype: Some(ArchetypeTerms {
                archetype: Archetype::Enterprise,
                capacity: 5210.4,
                connections: 16,
            }),
            ..terms()
        },
        mix: vec![part("list", 15_000, 0, 1.0), part("add an item", 5000, 200, 4.0)],
        ..usual
    }
}

#[test]
fn a_mix_has_a_line_for_each_kind() {
    let text = load_text(&mixed(), &Style { width: 100, ..Style::PLAIN });
    let lines: Vec<&str> = text.lines().filter(|line| !line.is_empty()).take(18).collect();
    insta::assert_snapshot!(lines.join("\n"));
}

#[test]
fn every_form_says_the_same() {
    for document in [stalled(), starved(), mixed()] {
        let page = report(&document, &ELSEWHERE).html("1.0");
        say_the_same(&load_text(&document, &WIDE), &page, &load_markdown(&document));
    }
}

#[test]
fn a_page_has_the_pictures_with_a_mark_for_every_value() {
    let html = load_html(&stalled(), "1.0");
    for id in ["load-spectrum", "load-times", "load-rate"] {
        assert!(html.contains(id), "{id}");
    }
    let drawn = pictures::of(&stalled());
    // Ten seconds with three times, and three marks of the legend.
    assert_eq!(drawn[1].drawing.count_of("dot"), 33);
    assert_eq!(drawn[2].drawing.count_of("bar"), 10);
}

#[test]
fn the_cpus_of_the_generator_are_said_and_what_could_not_be_done() {
    let cpus = |text: &str| text.parse::<becalm_model::CpuSet>().unwrap();
    let server = || "nginx".to_owned();
    let said: Vec<String> = [
        Separation::Chosen,
        Separation::Apart { server: server(), server_cpus: cpus("0") },
        Separation::Shared { server: server(), server_cpus: cpus("0-3") },
        Separation::Elsewhere,
        Separation::Hidden,
        Separation::Refused { error: "invalid argument".to_owned() },
    ]
    .into_iter()
    .map(|separation| {
        let awake = (separation == Separation::Chosen).then(|| cpus("0-3"));
        words::place(&GeneratorPlace { cpus: cpus("2-3"), separation, awake })
    })
    .collect();
    insta::assert_snapshot!(said.join("\n"));
}

#[test]
fn every_reason_names_what_to_change() {
    let reasons = [
        Distrust::LateGenerator { lag_p99: 0.12, limit: 0.006, waited: Some(0.3) },
        Distrust::LateGenerator { lag_p99: 0.12, limit: 0.006, waited: None },
        Distrust::SlowConnecting { lag_p99: 0.02, limit: 0.001, connections: 400 },
        Distrust::BusyPacer { share: 0.8, limit: 0.7 },
    ];
    let said: Vec<String> = reasons.iter().map(distrust).collect();
    insta::assert_snapshot!(said.join("\n").replace(NBSP, " "));
}

#[test]
fn rates_and_arrivals_are_in_the_words_of_the_command_line() {
    let step = |from, to| Stage { seconds: 5.0, from, to };
    assert_eq!(rates(&[step(100.0, 100.0), step(200.5, 200.5)]), "100, 200.5 requests/s ");
    assert_eq!(rates(&[step(0.0, 2000.0)]), "0 .. 2000 requests/s ");
    assert_eq!(rates(&[]), "");
}

#[test]
fn percentiles_with_requests_that_were_never_answered_are_dashed() {
    let percentiles = |document: &LoadRunDocument| {
        let all = super::pictures::of(document);
        all.into_iter().find(|one| one.section == "Percentiles").unwrap()
    };
    let known = percentiles(&stalled());
    assert_eq!(known.drawing.count_of("at-least"), 0);
    assert!(!known.caption.contains("dashed"), "{}", known.caption);
    let unanswered = |q: f64| (if q > 0.98 { 0.2 } else { 80e-6 }, q > 0.98);
    let document = LoadRunDocument { response: latency(unanswered), ..stalled() };
    let drawn = percentiles(&document);
    assert!(drawn.drawing.count_of("at-least") > 0 && drawn.caption.contains("dashed"));
    assert_eq!(drawn.drawing.count_of("beyond"), drawn.drawing.count_of("at-least"));
    insta::assert_snapshot!(crate::svg::within(&drawn.drawing));
}
