//! Conclusions from records that are written down value by value.

mod exact;

use becalm_model::terms::Primary;
use becalm_model::{
    Comparison, ComparisonNote, CutOffWorth, Direction, Evidence, Metric, Note, Observation,
    Outcome, Record, RecordKind, Run, Subject, Unit, Verdict, WallTimeReason, metric,
};
use becalm_stats::Rng;

use super::*;
use crate::rounds::Judgement;

/// Noise of some per mille that differs between any two runs.
pub(super) fn wobble(round: usize, subject: usize) -> f64 {
    1.0 + 0.001 * Rng::new((round * 8 + subject) as u64).normal()
}

/// A record of `rounds` rounds; `run` changes what its runs are like: they take about one second
/// of one computing thread.
pub(super) fn record(
    n_subjects: usize,
    rounds: usize,
    mut run: impl FnMut(usize, usize, &mut Run),
) -> Record {
    let mut runs = Vec::new();
    for round in 0..rounds {
        for place in 0..n_subjects {
            // Every other round the other way round.
            let subject = if round % 2 == 0 { place } else { n_subjects - 1 - place };
            let seconds = wobble(round, subject);
            let mut one = Run {
                subject,
                round: u32::try_from(round).unwrap(),
                order: u32::try_from(place).unwrap(),
                warmup: false,
                discarded: false,
                started: (round * n_subjects + place) as f64,
                outcome: Outcome::Exited(0),
                values: [seconds, seconds, seconds, 0.0, 1e6].map(Some).to_vec(),
                parts: vec![],
                iterations: vec![],
                evidence: Some(Box::new(Evidence {
                    voluntary_switches: 5,
                    main_thread_time: Some(seconds),
                    run_delay: Some(0.0),
                    ..Evidence::default()
                })),
                padding: 0,
                layout: None,
                load: None,
            };
            run(round, subject, &mut one);
            runs.push(one);
        }
    }
    let subject = |index: usize| {
        let name = char::from(b'A' + u8::try_from(index).unwrap()).to_string();
        Subject::new(name.clone(), vec![name])
    };
    Record {
        seed: 1,
        margin: 0.01,
        metrics: Metric::always(),
        subjects: (0..n_subjects).map(subject).collect(),
        runs: runs.into(),
        ..Record::empty(RecordKind::Comparison)
    }
}

pub(super) fn judgement(primary: &[&str]) -> Judgement {
    let primary = match primary {
        [] => Primary::Auto,
        names => Primary::Named(names.iter().map(|name| (*name).to_owned()).collect()),
    };
    Judgement { confidence: 0.95, margin: 0.01, primary }
}

/// Adds a metric that has this value in the given round and subject.
fn with_metric(
    mut record: Record,
    metric: Metric,
    value: impl Fn(usize, usize) -> Option<f64>,
) -> Record {
    record.metrics.push(metric);
    for run in &mut record.runs {
        run.values.push(value(run.round as usize, run.subject));
    }
    record
}

fn conclude(record: &Record, primary: &[&str]) -> Vec<Comparison> {
    comparisons(record, &judgement(primary), &Shape::single())
}

fn scale(run: &mut Run, metrics: &[usize], factor: f64) {
    for &metric in metrics {
        run.values[metric] = run.values[metric].map(|value| value * factor);
    }
}

const WALL: usize = 0;
const CPU: usize = 1;

#[track_caller]
fn check_choice(record: &Record, metric: &str, reason: &ComparisonNote) {
    let choice = primary_metrics(record, &judgement(&[]));
    assert_eq!(choice.metrics, [record.metric_index(metric).unwrap()]);
    assert_eq!(choice.reason.as_ref(), Some(reason));
}

/// Why the wall time decides, on account of this subject.
fn wall_because(because: WallTimeReason, subject: &str) -> ComparisonNote {
    ComparisonNote::DecidedOnWallTime { because, subject: Some(subject.to_owned()) }
}

/// The first note of a comparison.
#[track_caller]
fn first(comparison: &Comparison) -> &ComparisonNote {
    match &comparison.notes[0] {
        Note::Comparison(note) => note,
        other => panic!("{other:?} is about no comparison"),
    }
}

fn cut_off(subject: &str, rounds: u32, worth: CutOffWorth) -> ComparisonNote {
    ComparisonNote::CutOff { subject: subject.to_owned(), rounds, worth }
}

#[test]
fn programs_that_compute_on_one_thread_are_judged_by_cpu_time() {
    check_choice(&record(2, 10, |_, _, _| {}), metric::CPU_TIME, &ComparisonNote::DecidedOnCpuTime);
}

#[test]
fn a_program_with_threads_is_judged_by_wall_time_and_named() {
    let threads = record(2, 10, |_, subject, run| {
        if subject == 1 {
            scale(run, &[CPU], 4.0);
        }
    });
    check_choice(&threads, metric::WALL_TIME, &wall_because(WallTimeReason::SeveralThreads, "B"));
}

#[test]
fn a_program_that_waits_is_judged_by_wall_time_and_named() {
    let waits = |run: &mut Run| {
        scale(run, &[CPU], 0.5);
        run.evidence.get_or_insert_default().main_thread_time = run.values[CPU];
    };
    let record = record(2, 10, |_, subject, run| {
        if subject == 0 {
            waits(run);
        }
    });
    check_choice(&record, metric::WALL_TIME, &wall_because(WallTimeReason::Waits, "A"));
}

#[test]
fn a_program_that_was_kept_from_its_cpu_did_not_wait() {
    let record = record(2, 10, |_, _, run| {
        scale(run, &[WALL], 2.0);
        run.evidence.get_or_insert_default().run_delay = Some(1.0);
    });
    check_choice(&record, metric::CPU_TIME, &ComparisonNote::DecidedOnCpuTime);
}

#[test]
fn a_program_that_never_went_away_by_itself_did_not_wait() {
    let with_switches = |switches: u64| {
        record(2, 10, |_, _, run| {
            scale(run, &[WALL], 3.0);
            run.evidence.get_or_insert_default().voluntary_switches = switches;
        })
    };
    check_choice(&with_switches(1), metric::CPU_TIME, &ComparisonNote::DecidedOnCpuTime);
    check_choice(&with_switches(2), metric::WALL_TIME, &wall_because(WallTimeReason::Waits, "A"));
}

#[test]
fn what_was_read_while_a_program_was_ending_does_not_make_it_several_threads() {
    let record = record(2, 10, |round, _, run| {
        if round < 7 {
            let evidence = run.evidence.get_or_insert_default();
            evidence.voluntary_switches = 0;
            evidence.main_thread_time = Some(0.1);
        }
    });
    check_choice(&record, metric::CPU_TIME, &ComparisonNote::DecidedOnCpuTime);
}

#[test]
fn time_stolen_from_others_while_a_program_slept_is_no_excuse() {
    let on_a_stolen_machine = |used: f64, steal: f64| {
        record(2, 10, |_, _, run| {
            scale(run, &[CPU], used);
            run.evidence.get_or_insert_default().main_thread_time = run.values[CPU];
            run.evidence.get_or_insert_default().steal = Some(steal);
        })
    };
    check_choice(
        &on_a_stolen_machine(0.6, 0.4),
        metric::CPU_TIME,
        &ComparisonNote::DecidedOnCpuTime,
    );
    check_choice(
        &on_a_stolen_machine(0.01, 0.7),
        metric::WALL_TIME,
        &wall_because(WallTimeReason::Waits, "A"),
    );
    // Of both of its CPUs together.
    check_choice(
        &on_a_stolen_machine(0.01, 1.6),
        metric::WALL_TIME,
        &wall_because(WallTimeReason::Waits, "A"),
    );
}

#[test]
fn what_is_not_known_about_a_program_is_not_claimed() {
    let blind = |usage: f64| {
        record(2, 10, |_, _, run| {
            scale(run, &[CPU], usage);
            run.evidence = None;
        })
    };
    check_choice(&blind(1.0), metric::CPU_TIME, &ComparisonNote::DecidedOnCpuTime);
    check_choice(&blind(0.5), metric::WALL_TIME, &wall_because(WallTimeReason::Unknown, "A"));
    check_choice(&blind(1.8), metric::WALL_TIME, &wall_because(WallTimeReason::Unknown, "A"));
}

#[test]
fn the_choice_is_made_from_the_first_rounds_and_stays() {
    let changes = record(2, 40, |round, _, run| {
        if round >= 8 {
            scale(run, &[CPU], 4.0);
        }
    });
    check_choice(&changes, metric::CPU_TIME, &ComparisonNote::DecidedOnCpuTime);
}

#[test]
fn a_record_without_cpu_time_or_without_whole_runs_is_judged_by_wall_time() {
    let mut bare = record(2, 10, |_, _, _| {});
    bare.metrics.truncate(1);
    let because = WallTimeReason::NoCpuTime;
    let reason = ComparisonNote::DecidedOnWallTime { because, subject: None };
    check_choice(&bare, metric::WALL_TIME, &reason);
    let cut = record(2, 10, |_, subject, run| {
        if subject == 1 {
            run.outcome = Outcome::TimedOut;
        }
    });
    check_choice(&cut, metric::WALL_TIME, &wall_because(WallTimeReason::NoCompleteRun, "B"));
}

#[test]
fn what_a_program_used_until_it_was_cut_off_is_no_bound() {
    let record = record(2, 12, |round, subject, run| {
        if subject == 1 && round % 2 == 0 {
            run.outcome = Outcome::TimedOut;
            scale(run, &[CPU], 0.01);
        }
    });
    check_choice(&record, metric::WALL_TIME, &wall_because(WallTimeReason::CutOff, "B"));
    let found = &conclude(&record, &["cpu_time"])[0];
    assert_eq!(
        (found.verdict, found.rounds, found.discarded_rounds),
        (Verdict::Inconclusive, 6, 6),
        "what hangs in every second run is not as fast"
    );
    assert_eq!(*first(found), cut_off("B", 6, CutOffWorth::Nothing(Verdict::Equivalent)));
}

#[test]
fn the_primary_comparisons_come_first_and_wall_and_cpu_time_beside_them() {
    let record = with_metric(
        record(2, 10, |_, _, _| {}),
        Metric::lower(metric::CONTEXT_SWITCHES, Unit::Count),
        |_, _| Some(2.0),
    );
    let shown: Vec<(&str, bool)> = conclude(&record, &["max_rss"])
        .iter()
        .map(|one| (record.metrics[one.metric].name.as_str(), one.primary))
        .map(|(name, primary)| (metric::ALWAYS.into_iter().find(|n| *n == name), primary))
        .map(|(name, primary)| (name.unwrap_or("counter"), primary))
        .collect();
    assert_eq!(
        shown,
        [("max_rss", true), ("wall_time", false), ("cpu_time", false), ("counter", false)]
    );
}

#[test]
fn several_candidates_share_the_error_step_by_step() {
    // B is far off, C is the same, D is a little off.
    let factors = [1.0, 2.0, 1.0, 1.05];
    let record = record(4, 24, |_, subject, run| scale(run, &[WALL], factors[subject]));
    let found = conclude(&record, &["wall_time"]);
    let primary: Vec<&Comparison> = found.iter().filter(|one| one.primary).collect();
    let levels: Vec<f64> = primary.iter().map(|one| 1.0 - one.confidence).collect();
    let share = |part: f64| levels.iter().filter(|l| (**l - 0.05 / part).abs() < 1e-9).count();
    assert_eq!((share(3.0), share(2.0), share(1.0)), (1, 1, 1), "{levels:?}");
    assert!((levels[1] - 0.05).abs() < 1e-9, "the one without a difference comes last");
    let verdicts: Vec<Verdict> = primary.iter().map(|one| one.verdict).collect();
    assert_eq!(verdicts, [Verdict::Slower, Verdict::Equivalent, Verdict::Slower]);
}

#[test]
fn after_the_first_that_fails_nobody_gets_an_easier_level() {
    let record = record(4, 24, |_, _, _| {});
    for one in conclude(&record, &["wall_time"]).iter().filter(|one| one.primary) {
        assert!((one.confidence - (1.0 - 0.05 / 3.0)).abs() < 1e-9, "{one:?}");
    }
}

#[test]
fn a_run_that_was_cut_off_counts_as_a_lower_bound_and_two_say_nothing() {
    let record = record(2, 12, |round, subject, run| {
        if subject == 1 || round < 2 {
            run.outcome = Outcome::TimedOut;
            scale(run, &[WALL], 3.0);
        }
    });
    let found = &conclude(&record, &["wall_time"])[0];
    assert_eq!((found.verdict, found.rounds, found.discarded_rounds), (Verdict::Slower, 10, 2));
    assert_eq!(*first(found), cut_off("B", 10, CutOffWorth::AtLeast));
    let ratio = found.ratio.unwrap();
    assert!(ratio.low > 2.5 && ratio.high.is_infinite(), "nobody knows how much larger: {found:?}");
    assert_eq!(found.noise_floor, None);
}

#[test]
fn what_hangs_now_and_then_is_not_faster() {
    let hanging = |side: usize| {
        record(2, 40, move |round, subject, run| {
            scale(run, &[WALL, CPU], if subject == 1 { 0.9 } else { 1.0 });
            if subject == side && round % 20 == 9 {
                run.outcome = Outcome::TimedOut;
                scale(run, &[WALL], 10.0);
            }
        })
    };
    for metric in ["wall_time", "cpu_time"] {
        let found = &conclude(&hanging(1), &[metric])[0];
        assert_eq!(found.verdict, Verdict::Inconclusive, "{metric}");
        assert_eq!(*first(found), cut_off("B", 2, CutOffWorth::Nothing(Verdict::Faster)));
        assert_eq!(found.rounds_needed, None);
        assert_eq!(conclude(&hanging(0), &[metric])[0].verdict, Verdict::Faster, "{metric}");
    }
}

#[test]
fn a_run_that_is_cut_off_late_does_not_change_what_decides() {
    let late = record(2, 40, |round, subject, run| {
        if subject == 1 && round == 30 {
            run.outcome = Outcome::TimedOut;
        }
    });
    check_choice(&late, metric::CPU_TIME, &ComparisonNote::DecidedOnCpuTime);
}

#[test]
fn rounds_without_a_value_are_discarded_and_counted() {
    let record = with_metric(
        record(2, 12, |_, _, _| {}),
        Metric::lower("t", Unit::Second),
        |round, subject| (round != 3 || subject == 0).then(|| wobble(round, subject)),
    );
    let found = &conclude(&record, &["t"])[0];
    assert_eq!((found.rounds, found.discarded_rounds), (11, 1));
    let none =
        with_metric(self::record(2, 12, |_, _, _| {}), Metric::lower("t", Unit::Second), |_, _| {
            None
        });
    let found = &conclude(&none, &["t"])[0];
    assert_eq!((found.verdict, found.rounds), (Verdict::Inconclusive, 0));
    assert_eq!(found.rounds_needed, None, "more rounds of this kind help nobody");
}

#[test]
fn zero_has_no_ratio_and_says_so() {
    let zero_in = |rounds: usize| {
        let metric = Metric::lower("faults", Unit::Count);
        with_metric(record(2, 12, |_, _, _| {}), metric, move |round, subject| {
            Some(if round < rounds { 0.0 } else { wobble(round, subject) })
        })
    };
    let found = &conclude(&zero_in(4), &["faults"])[0];
    assert_eq!((found.rounds, found.discarded_rounds), (8, 4));
    let metric = "faults".to_owned();
    assert_eq!(*first(found), ComparisonNote::RoundsWithoutRatio { rounds: 4, metric });
    let found = &conclude(&zero_in(12), &["faults"])[0];
    assert_eq!((found.verdict, found.rounds), (Verdict::Inconclusive, 0));
    assert!(found.ratio.is_none());
}

#[test]
fn too_few_rounds_say_how_many_are_missing() {
    let found = &conclude(&record(2, 3, |_, _, _| {}), &["wall_time"])[0];
    assert_eq!((found.verdict, found.ratio, found.rounds), (Verdict::Inconclusive, None, 3));
    let missing = found.rounds_needed.unwrap();
    assert!((2..=5).contains(&missing), "{missing}");
    let of = Observation::Round;
    assert!(matches!(first(found), ComparisonNote::TooFew { of: it, usable: 3, .. } if *it == of));
}

#[test]
fn a_rate_gets_better_upwards() {
    let rate = Metric { direction: Direction::Higher, ..Metric::lower("rate", Unit::Count) };
    let record = with_metric(record(2, 12, |_, _, _| {}), rate, |round, subject| {
        Some(wobble(round, subject) * [1.0, 1.1][subject])
    });
    assert_eq!(conclude(&record, &["rate"])[0].verdict, Verdict::Faster);
}

#[test]
fn metrics_that_disagree_say_so() {
    let record = record(2, 16, |_, subject, run| {
        if subject == 1 {
            scale(run, &[WALL], 1.2);
            scale(run, &[CPU], 0.8);
        }
    });
    let found = conclude(&record, &["cpu_time"]);
    assert_eq!(
        found[0].notes,
        [Note::Comparison(ComparisonNote::MetricsDisagree {
            metric: "cpu_time".to_owned(),
            verdict: Verdict::Faster,
            wall_time: Verdict::Slower,
        })]
    );
    let agree = self::record(2, 16, |_, subject, run| {
        scale(run, &[WALL, CPU], [1.0, 1.2][subject]);
    });
    assert_eq!(conclude(&agree, &["cpu_time"])[0].notes, []);
}

#[test]
fn how_long_a_server_ran_is_not_compared() {
    let quantile = Metric::lower("response_p99", Unit::Second);
    let record = with_metric(record(2, 16, |_, _, _| {}), quantile, |round, subject| {
        Some(wobble(round, subject) * [1.0, 1.2][subject])
    });
    let found = conclude(&record, &["response_p99"]);
    assert_eq!((found[0].verdict, &found[0].notes[..]), (Verdict::Slower, &[][..]));
    assert!(found.iter().all(|one| one.metric != WALL), "{found:?}");
}

#[test]
fn an_unfinished_round_and_the_warm_up_are_not_used() {
    let mut record = record(2, 12, |round, subject, run| {
        if round == 0 {
            run.warmup = true;
            scale(run, &[WALL], [1.0, 100.0][subject]);
        }
    });
    record.runs.pop();
    let found = &conclude(&record, &["wall_time"])[0];
    assert_eq!((found.rounds, found.discarded_rounds), (10, 1));
    assert_eq!(found.verdict, Verdict::Equivalent);
}

/// A record of 16 rounds on a core whose pace varies; `own` is what the candidate itself adds to it.
fn paced(own: f64) -> Record {
    record(2, 16, |round, subject, run| {
        let mut rng = Rng::new((round * 2 + subject) as u64 + 100);
        let slow = 0.5 * rng.uniform() + if subject == 1 { own } else { 0.0 };
        let seconds = (0.4 * slow).exp() * wobble(round, subject);
        run.values = [seconds, seconds, seconds, 0.0, 1e6].map(Some).to_vec();
        run.evidence = Some(Box::new(Evidence {
            main_thread_time: Some(seconds),
            run_delay: Some(0.0),
            pace: Some(4e-6 * slow.exp()),
            ..Evidence::default()
        }));
    })
}

#[test]
fn the_pace_of_the_core_is_allowed_for_in_cpu_time_and_told() {
    let found = comparisons(&paced(0.0), &judgement(&[]), &Shape::single());
    let of = |name: &str| {
        found.iter().find(|one| Metric::always()[one.metric].name == name).expect("it is compared")
    };
    let (cpu, wall) = (of(metric::CPU_TIME), of(metric::WALL_TIME));
    assert_eq!(cpu.verdict, Verdict::Equivalent);
    assert!(cpu.noise_floor.unwrap() < 0.005 && wall.noise_floor.unwrap() > 0.02, "{cpu:?}");
    let &ComparisonNote::PaceAllowedFor { varied, ratio_low, ratio, ratio_high, .. } = first(cpu)
    else {
        panic!("{cpu:?}");
    };
    assert!((0.095..0.195).contains(&varied), "{cpu:?}");
    assert!(ratio_low < ratio && ratio < ratio_high, "{cpu:?}");
    assert!(wall.notes.is_empty(), "{:?}", wall.notes);
}

#[test]
fn a_pace_that_is_a_subjects_own_doing_stays_on_its_account() {
    let found = comparisons(&paced(0.5), &judgement(&[]), &Shape::single());
    assert_eq!(found[0].verdict, Verdict::Slower);
    assert!(found[0].ratio.unwrap().low > 1.1, "{:?}", found[0]);
    assert!(matches!(first(&found[0]), ComparisonNote::PaceDiffered { .. }), "{:?}", found[0]);
}

#[test]
fn one_run_without_a_pace_leaves_all_of_them_as_they_are() {
    let mut record = paced(0.0);
    if let Some(evidence) = &mut record.runs[5].evidence {
        evidence.pace = None;
    }
    let found = comparisons(&record, &judgement(&[]), &Shape::single());
    assert!(found[0].noise_floor.unwrap() > 0.02);
    assert_eq!(*first(&found[0]), ComparisonNote::PaceUnknown { rounds: 1 });
}
