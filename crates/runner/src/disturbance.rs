//! Which runs were disturbed, told by their evidence and never by what they measured.
//!
//! A run is compared with the other runs of the same subject: what is usual for it is no
//! disturbance, however much it is. The limit for each kind of evidence is
//!
//! `median + max(SIGMAS * sigma, slack)`
//!
//! with sigma the scaled median absolute deviation of all runs (Leys et al., "Detecting outliers",
//! J. Exp. Soc. Psychol. 49, 2013), so that a few bad runs cannot widen it, and slack the amount
//! below which the evidence is too small to matter or too coarse to be believed.
//!
//! Where a slack is a share of the run's duration, it is of the *median* duration of the subject:
//! how long a run took must not decide whether it counts.

use becalm_model::{Disturbance, DisturbanceSource as Source, Evidence};
use becalm_stats::Sample;
use becalm_stats::center::median;
use becalm_stats::spread::{MAD_TO_SIGMA, mad};

/// Scaled deviations above the median that are still usual. Counts of rare events have long
/// tails, so it is more than the customary 3.
pub const SIGMAS: f64 = 5.0;

/// Fewest runs that can say what is usual. With fewer, nothing is labelled.
pub const MIN_RUNS: usize = 5;

/// Resolution of `/proc/stat`, in seconds (`USER_HZ` is 100): a step of one tick says nothing.
const TICK: f64 = 0.01;

/// The kernel gathers the totals of `/proc/pressure` only every 2 s (`PSI_FREQ`), so that a
/// shorter window holds either nothing or two seconds' worth.
const PRESSURE_PERIOD: f64 = 2.0;

/// Switches away from a subject that could have run on: this many more, or half as many again.
const SWITCHES: f64 = 10.0;
/// Moves between CPUs: this many more, or half as many again.
const MIGRATIONS: f64 = 3.0;
/// Faults with I/O: each is worth 0.1 ms or more.
const MAJOR_FAULTS: f64 = 1.0;
/// Faults without I/O: this many more, or a tenth as many again.
const MINOR_FAULTS: f64 = 100.0;
/// Waiting for a CPU: this long, and this share of the usual duration.
const RUN_DELAY: (f64, f64) = (0.001, 0.05);
/// Share of the window that the hypervisor took.
const STEAL: f64 = 0.02;
/// Share of the window that others used on the subject's CPUs.
const OTHERS: f64 = 0.1;
/// Share of the time in which some task stalled for memory or I/O.
const PRESSURE: f64 = 0.05;
/// Seconds for which the quota held the subject back.
const QUOTA: f64 = 1e-4;
/// Thermal throttle events: any at all.
const THERMAL: f64 = 0.5;
/// Share by which the frequency differs from the usual one.
const FREQUENCY: f64 = 0.1;

/// One run of a subject, as far as this module may know it.
#[derive(Debug, Clone, Copy)]
pub struct Observed<'a> {
    /// What happened on the machine meanwhile.
    pub evidence: &'a Evidence,
    /// Seconds from release to exit; only the median over all runs is used.
    pub wall: f64,
}

/// Labels the runs of one subject, in their order; an undisturbed run has no label.
///
/// Give it all measured runs of one subject under the same conditions.
pub fn disturbances(runs: &[Observed<'_>]) -> Vec<Vec<Disturbance>> {
    let mut labels = vec![Vec::new(); runs.len()];
    let Some(usual_wall) = median_of(runs.iter().map(|run| run.wall)) else { return labels };
    for rule in RULES {
        let values: Vec<_> = runs.iter().map(|run| (rule.value)(run.evidence)).collect();
        let known: Vec<f64> = values.iter().flatten().copied().collect();
        if known.len() < MIN_RUNS {
            continue;
        }
        let Ok(sample) = Sample::new(known) else { continue };
        let (usual, sigma) = (median(&sample), mad(&sample) * MAD_TO_SIGMA);
        for ((run, value), labels) in runs.iter().zip(values).zip(&mut labels) {
            let Some(value) = value else { continue };
            let window = run.evidence.window.unwrap_or(usual_wall);
            let slack = (rule.slack)(&Usual { value: usual, wall: usual_wall, window });
            let most = usual + slack.max(SIGMAS * sigma);
            let least = usual - slack.max(SIGMAS * sigma);
            let limit = if value > most {
                most
            } else if value < least && rule.both_sides {
                least
            } else {
                continue;
            };
            labels.push(Disturbance { source: rule.source, value, limit });
        }
    }
    labels
}

fn median_of(values: impl Iterator<Item = f64>) -> Option<f64> {
    Sample::new(values.collect()).ok().map(|sample| median(&sample))
}

/// What a slack can depend on.
struct Usual {
    /// Median of the evidence.
    value: f64,
    /// Median duration of the runs.
    wall: f64,
    /// Length of the window of the run in question, which many runs may share.
    window: f64,
}

/// How one kind of evidence is judged.
struct Rule {
    source: Source,
    value: fn(&Evidence) -> Option<f64>,
    slack: fn(&Usual) -> f64,
    /// Whether less than usual is a disturbance too.
    both_sides: bool,
}

const fn rule(
    source: Source,
    value: fn(&Evidence) -> Option<f64>,
    slack: fn(&Usual) -> f64,
) -> Rule {
    Rule { source, value, slack, both_sides: false }
}

const RULES: &[Rule] = &[
    rule(
        Source::InvoluntarySwitches,
        |evidence| Some(evidence.involuntary_switches as f64),
        |usual| SWITCHES.max(usual.value / 2.0),
    ),
    rule(
        Source::Migrations,
        |evidence| evidence.migrations.map(|count| count as f64),
        |usual| MIGRATIONS.max(usual.value / 2.0),
    ),
    rule(Source::MajorFaults, |evidence| Some(evidence.major_faults as f64), |_| MAJOR_FAULTS),
    rule(
        Source::MinorFaults,
        |evidence| Some(evidence.minor_faults as f64),
        |usual| MINOR_FAULTS.max(usual.value / 10.0),
    ),
    rule(
        Source::RunDelay,
        |evidence| evidence.run_delay,
        |usual| RUN_DELAY.0.max(RUN_DELAY.1 * usual.wall),
    ),
    rule(Source::Steal, |evidence| evidence.steal, |usual| TICK.max(STEAL * usual.window)),
    rule(
        Source::Others,
        |evidence| evidence.others,
        |usual| (2.0 * TICK).max(OTHERS * usual.window),
    ),
    rule(
        Source::MemoryPressure,
        |evidence| evidence.pressure_memory,
        |usual| PRESSURE * usual.window.max(PRESSURE_PERIOD),
    ),
    rule(
        Source::IoPressure,
        |evidence| evidence.pressure_io,
        |usual| PRESSURE * usual.window.max(PRESSURE_PERIOD),
    ),
    rule(Source::QuotaThrottled, |evidence| evidence.quota_throttled, |_| QUOTA),
    rule(
        Source::ThermalThrottle,
        |evidence| evidence.thermal_throttles.map(|count| count as f64),
        |_| THERMAL,
    ),
    Rule {
        source: Source::Frequency,
        value: |evidence| evidence.frequency,
        slack: |usual| FREQUENCY * usual.value,
        both_sides: true,
    },
];

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn quiet() -> Evidence {
        Evidence {
            involuntary_switches: 2,
            minor_faults: 100,
            run_delay: Some(0.0001),
            window: Some(0.05),
            steal: Some(0.0),
            others: Some(0.002),
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
}
