//! Labels of made evidence.

use std::slice;

use becalm_model::DisturbanceSource as Source;
use proptest::prelude::*;

use super::*;

fn quiet() -> Evidence {
    Evidence {
        involuntary_switches: 2,
        minor_faults: 100,
        run_delay: Some(0.0001),
        window: Some(0.05),
        steal: Some(0.0),
        others: Some(0.002),
        siblings: Some(0.002),
        interrupts: Some(50),
        softirqs: Some(25),
        pressure_io: Some(0.0),
        frequency: Some(3e9),
        ..Evidence::default()
    }
}

/// Labels nine quiet runs of 50 ms and one that is different.
#[track_caller]
fn check(change: impl FnOnce(&mut Evidence), expected: &[(Source, f64)]) {
    let mut different = quiet();
    change(&mut different);
    let mut runs = vec![quiet(); 9];
    runs.insert(4, different);
    let labels = label(&runs);
    let found: Vec<_> = labels[4].iter().map(|label| (label.source, label.limit)).collect();
    let sources: Vec<_> = found.iter().map(|(source, _)| *source).collect();
    assert_eq!(sources, expected.iter().map(|(source, _)| *source).collect::<Vec<_>>());
    for ((_, limit), (_, expected)) in found.iter().zip(expected) {
        assert!((limit - expected).abs() <= 1e-9 * expected.abs(), "{limit} is not {expected}");
    }
    assert!(labels.iter().enumerate().all(|(run, labels)| run == 4 || labels.is_empty()));
}

fn label(runs: &[Evidence]) -> Vec<Vec<Disturbance>> {
    let runs: Vec<_> = runs.iter().map(|evidence| Observed { evidence, wall: 0.05 }).collect();
    disturbances(&runs)
}

#[test]
fn a_run_like_the_others_is_not_disturbed() {
    check(|_| {}, &[]);
    check(|run| run.involuntary_switches = 12, &[]);
    check(|run| run.run_delay = Some(0.0025), &[]);
    check(|run| run.others = Some(0.02), &[]);
    // One tick can be what had gathered before the window.
    check(|run| run.steal = Some(0.01), &[]);
    check(|run| run.major_faults = 1, &[]);
}

#[test]
fn each_kind_of_evidence_past_its_limit_is_named() {
    check(|run| run.involuntary_switches = 13, &[(Source::InvoluntarySwitches, 12.0)]);
    check(|run| run.major_faults = 2, &[(Source::MajorFaults, 1.0)]);
    check(|run| run.minor_faults = 201, &[(Source::MinorFaults, 200.0)]);
    check(|run| run.run_delay = Some(0.003), &[(Source::RunDelay, 0.0026)]);
    check(|run| run.steal = Some(0.02), &[(Source::Steal, 0.01)]);
    check(|run| run.others = Some(0.03), &[(Source::Others, 0.022)]);
    check(|run| run.pressure_io = Some(0.2), &[(Source::IoPressure, 0.1)]);
    check(|run| run.frequency = Some(2e9), &[(Source::Frequency, 2.7e9)]);
    check(|run| run.frequency = Some(4e9), &[(Source::Frequency, 3.3e9)]);
    check(|run| run.siblings = Some(0.03), &[(Source::Siblings, 0.022)]);
    check(|run| run.interrupts = Some(151), &[(Source::Interrupts, 150.0)]);
    check(|run| run.softirqs = Some(126), &[(Source::Softirqs, 125.0)]);
}

#[track_caller]
fn check_round(before: &[Vec<Evidence>], round: &[Evidence], expected: &[bool]) {
    let observe = |evidence| Observed { evidence, wall: 0.05 };
    let before: Vec<Vec<Observed<'_>>> =
        before.iter().map(|runs| runs.iter().map(observe).collect()).collect();
    let round: Vec<Observed<'_>> = round.iter().map(observe).collect();
    let labels = disturbances_of_round(&before, &round);
    assert_eq!(labels.iter().map(|labels| !labels.is_empty()).collect::<Vec<_>>(), expected);
}

#[test]
fn subjects_that_are_alike_have_the_same_limits_and_others_their_own() {
    let with = |switches: &[u64]| -> Vec<Evidence> {
        let run = |&involuntary_switches| Evidence { involuntary_switches, ..quiet() };
        switches.iter().map(run).collect()
    };
    let calm = with(&[2, 2, 2, 2, 2]);
    let restless = with(&[2, 6, 4, 0, 8]);
    let other = with(&[500, 500, 500, 500, 500]);
    check_round(slice::from_ref(&calm), &with(&[14]), &[true]);
    check_round(&[calm.clone(), restless], &with(&[14, 14]), &[false, false]);
    check_round(&[calm.clone(), other], &with(&[14, 800]), &[true, true]);
    check_round(&[calm[..4].to_vec()], &with(&[1000]), &[false]);
}

#[test]
fn a_longer_window_holds_more_of_everything() {
    let long = |run: &mut Evidence| {
        (run.window, run.interrupts, run.softirqs) = (Some(5.0), Some(5000), Some(2500));
        (run.others, run.siblings, run.steal) = (Some(0.2), Some(0.2), Some(0.1));
    };
    check(long, &[]);
    let longer = |run: &mut Evidence| (run.window, run.others) = (Some(5.0), Some(0.71));
    check(longer, &[(Source::Others, 0.7)]);
}

#[test]
fn the_mean_frequency_counts_where_it_is_known() {
    let run = |effective: f64| Evidence { effective_frequency: Some(effective), ..quiet() };
    let mut runs = vec![run(3e9); 9];
    runs.push(Evidence { frequency: Some(1e9), ..run(3.1e9) });
    assert!(label(&runs).iter().all(Vec::is_empty));
    runs.push(run(2.8e9));
    let labels = label(&runs);
    assert_eq!(labels[10][0].source, Source::Frequency);
    assert!((labels[10][0].limit - 2.85e9).abs() < 1.0, "{labels:?}");
}

#[test]
fn a_disturbed_run_can_have_several_labels() {
    check(
        |run| (run.major_faults, run.run_delay) = (9, Some(1.0)),
        &[(Source::MajorFaults, 1.0), (Source::RunDelay, 0.0026)],
    );
}

#[test]
fn what_is_usual_for_a_subject_is_no_disturbance() {
    let busy = Evidence { involuntary_switches: 5000, steal: Some(0.02), ..quiet() };
    assert!(label(&vec![busy; 10]).iter().all(Vec::is_empty));
}

#[test]
fn a_few_runs_cannot_say_what_is_usual() {
    let mut runs = vec![quiet(); 3];
    runs.push(Evidence { major_faults: 1000, ..quiet() });
    assert!(label(&runs).iter().all(Vec::is_empty));
    assert_eq!(label(&[]), Vec::<Vec<Disturbance>>::new());
}

#[test]
fn evidence_that_could_not_be_read_labels_nothing() {
    let mut runs = vec![Evidence::default(); 9];
    runs.push(quiet());
    assert!(label(&runs).iter().all(Vec::is_empty));
}

proptest! {
    #[test]
    fn the_duration_of_a_run_never_decides_about_it(
        delays in proptest::collection::vec(0.0_f64..0.02, 7..20),
        long in 0.06_f64..10.0,
        which in 0_usize..7,
    ) {
        let runs: Vec<_> = delays
            .iter()
            .map(|delay| Evidence { run_delay: Some(*delay), ..quiet() })
            .collect();
        let observe = |wall: f64| -> Vec<_> {
            let walls = (0..runs.len()).map(|run| if run == which { wall } else { 0.05 });
            let runs = runs.iter().zip(walls);
            disturbances(&runs.map(|(evidence, wall)| Observed { evidence, wall }).collect::<Vec<_>>())
        };
        prop_assert_eq!(observe(0.05), observe(long));
    }

    #[test]
    fn fewer_than_half_of_the_runs_are_disturbed(
        counts in proptest::collection::vec(0_u64..10_000, 5..40),
    ) {
        let runs: Vec<_> = counts
            .iter()
            .map(|count| Evidence { involuntary_switches: *count, ..quiet() })
            .collect();
        let disturbed = label(&runs).iter().filter(|labels| !labels.is_empty()).count();
        prop_assert!(disturbed * 2 <= runs.len());
    }
}
