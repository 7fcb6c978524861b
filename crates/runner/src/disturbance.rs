//! Which runs were disturbed, told by their evidence and never by what they measured.
//!
//! A run is compared with the other runs of the same subject: what is usual for it is no
//! disturbance, however much it is. The limit for each kind of evidence is
//!
//! `median + max(SIGMAS * sigma, slack)`
//!
//! as [`becalm_stats::usual`] has it, with slack the amount below which the evidence is too small to
//! matter or too coarse to be believed.
//!
//! How long a run took must not decide whether it counts. What the machine did in a window is compared
//! per second of the window, because a longer one holds more of everything; and where a slack is a share
//! of the run's duration, it is of the *median* duration of the subject.

use becalm_model::{Disturbance, DisturbanceSource as Source, Evidence};
use becalm_stats::Sample;
use becalm_stats::center::median;
use becalm_stats::usual::{Usual, limits_alike};

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
/// Share by which the frequency right after a run differs from the usual one.
const FREQUENCY: f64 = 0.1;
/// Share by which the mean frequency over a window differs from the usual one; it is not the luck of one
/// moment.
const EFFECTIVE_FREQUENCY: f64 = 0.05;
/// Interrupts or softirqs a second: this many more, or half as many again. Each takes a microsecond or
/// two, so it is 0.2 % of the time.
const INTERRUPTS: f64 = 2000.0;

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
    label(&[runs], &[runs]).swap_remove(0)
}

/// Labels one run of each subject by what was usual `before`, with limits that are the same for subjects
/// which are alike ([`limits_alike`]): whether a round is discarded must not follow from who was hit.
pub(crate) fn disturbances_of_round(
    before: &[Vec<Observed<'_>>],
    round: &[Observed<'_>],
) -> Vec<Vec<Disturbance>> {
    let before: Vec<&[Observed<'_>]> = before.iter().map(Vec::as_slice).collect();
    let round: Vec<&[Observed<'_>]> = round.iter().map(std::slice::from_ref).collect();
    label(&before, &round).into_iter().flatten().collect()
}

/// Labels the runs of several subjects by what is usual among `known` runs of the same.
fn label(known: &[&[Observed<'_>]], judged: &[&[Observed<'_>]]) -> Vec<Vec<Vec<Disturbance>>> {
    let mut labels: Vec<_> = judged.iter().map(|runs| vec![Vec::new(); runs.len()]).collect();
    let walls = known.iter().filter_map(|runs| median_of(runs.iter().map(|run| run.wall)));
    let Some(wall) = walls.reduce(f64::max) else { return labels };
    for rule in RULES {
        // Of the subjects about whom enough is known.
        let (subjects, usual): (Vec<usize>, Vec<Usual>) = known
            .iter()
            .enumerate()
            .filter_map(|(subject, runs)| Some((subject, rule.usual(runs, wall)?)))
            .unzip();
        for (place, &subject) in subjects.iter().enumerate() {
            for (run, labels) in judged[subject].iter().zip(&mut labels[subject]) {
                let Some(value) = (rule.value)(run.evidence) else { continue };
                let scale = rule.scale(run, wall);
                let window = run.evidence.window.unwrap_or(wall);
                let slack = |median: f64| {
                    (rule.slack)(&Expected { value: median * scale, wall, window }) / scale
                };
                let (least, most) = limits_alike(&usual, slack)[place];
                let limit = if value / scale > most {
                    most
                } else if value / scale < least && rule.both_sides {
                    least
                } else {
                    continue;
                };
                labels.push(Disturbance { source: rule.source, value, limit: limit * scale });
            }
        }
    }
    labels
}

impl Rule {
    /// Returns what the value of a run is divided by: amounts are compared in a second of the window.
    fn scale(&self, run: &Observed<'_>, wall: f64) -> f64 {
        match self.over {
            Over::Run => 1.0,
            Over::Window => run.evidence.window.filter(|&window| window > 0.0).unwrap_or(wall),
        }
    }

    /// Returns what is usual among the runs of one subject; `None` where too few have the value.
    fn usual(&self, runs: &[Observed<'_>], wall: f64) -> Option<Usual> {
        let value = |run: &Observed<'_>| Some((self.value)(run.evidence)? / self.scale(run, wall));
        Usual::of(runs.iter().filter_map(value).collect())
    }
}

fn median_of(values: impl Iterator<Item = f64>) -> Option<f64> {
    Sample::new(values.collect()).ok().map(|sample| median(&sample))
}

/// What a slack can depend on.
struct Expected {
    /// Median of the evidence, in a window as long as that of the run in question.
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
    slack: fn(&Expected) -> f64,
    over: Over,
    /// Whether less than usual is a disturbance too.
    both_sides: bool,
}

/// What an amount is an amount in.
#[derive(Clone, Copy)]
enum Over {
    /// The run.
    Run,
    /// The window, which can be longer than the run.
    Window,
}

const fn rule(
    source: Source,
    over: Over,
    value: fn(&Evidence) -> Option<f64>,
    slack: fn(&Expected) -> f64,
) -> Rule {
    Rule { source, value, slack, over, both_sides: false }
}

const RULES: &[Rule] = &[
    rule(
        Source::InvoluntarySwitches,
        Over::Run,
        |evidence| Some(evidence.involuntary_switches as f64),
        |usual| SWITCHES.max(usual.value / 2.0),
    ),
    rule(
        Source::Migrations,
        Over::Run,
        |evidence| evidence.migrations.map(|count| count as f64),
        |usual| MIGRATIONS.max(usual.value / 2.0),
    ),
    rule(
        Source::MajorFaults,
        Over::Run,
        |evidence| Some(evidence.major_faults as f64),
        |_| MAJOR_FAULTS,
    ),
    rule(
        Source::MinorFaults,
        Over::Run,
        |evidence| Some(evidence.minor_faults as f64),
        |usual| MINOR_FAULTS.max(usual.value / 10.0),
    ),
    rule(
        Source::RunDelay,
        Over::Run,
        |evidence| evidence.run_delay,
        |usual| RUN_DELAY.0.max(RUN_DELAY.1 * usual.wall),
    ),
    rule(
        Source::Steal,
        Over::Window,
        |evidence| evidence.steal,
        |usual| TICK.max(STEAL * usual.window),
    ),
    rule(
        Source::Others,
        Over::Window,
        |evidence| evidence.others,
        |usual| (2.0 * TICK).max(OTHERS * usual.window),
    ),
    rule(
        Source::Siblings,
        Over::Window,
        |evidence| evidence.siblings,
        |usual| (2.0 * TICK).max(OTHERS * usual.window),
    ),
    rule(
        Source::MemoryPressure,
        Over::Window,
        |evidence| evidence.pressure_memory,
        |usual| PRESSURE * usual.window.max(PRESSURE_PERIOD),
    ),
    rule(
        Source::IoPressure,
        Over::Window,
        |evidence| evidence.pressure_io,
        |usual| PRESSURE * usual.window.max(PRESSURE_PERIOD),
    ),
    rule(Source::QuotaThrottled, Over::Window, |evidence| evidence.quota_throttled, |_| QUOTA),
    rule(
        Source::ThermalThrottle,
        Over::Window,
        |evidence| evidence.thermal_throttles.map(|count| count as f64),
        |_| THERMAL,
    ),
    rule(
        Source::Interrupts,
        Over::Window,
        |evidence| evidence.interrupts.map(|count| count as f64),
        |usual| (INTERRUPTS * usual.window).max(usual.value / 2.0),
    ),
    rule(
        Source::Softirqs,
        Over::Window,
        |evidence| evidence.softirqs.map(|count| count as f64),
        |usual| (INTERRUPTS * usual.window).max(usual.value / 2.0),
    ),
    Rule {
        source: Source::Frequency,
        // Where the mean over the window is known, the one moment after it says nothing more.
        value: |evidence| evidence.frequency.filter(|_| evidence.effective_frequency.is_none()),
        slack: |usual| FREQUENCY * usual.value,
        over: Over::Run,
        both_sides: true,
    },
    Rule {
        source: Source::Frequency,
        value: |evidence| evidence.effective_frequency,
        slack: |usual| EFFECTIVE_FREQUENCY * usual.value,
        over: Over::Run,
        both_sides: true,
    },
];

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::slice;

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
}
