//! The rules by which evidence is judged: what is too small to matter, and in what it is counted.

use becalm_model::{DisturbanceSource as Source, Evidence};

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
/// System management interrupts: any at all beyond what is usual.
const SMIS: f64 = 0.5;
/// Share by which the frequency right after a run differs from the usual one.
const FREQUENCY: f64 = 0.1;
/// Share by which the mean frequency over a window differs from the usual one; it is not the luck of one
/// moment.
const EFFECTIVE_FREQUENCY: f64 = 0.05;
/// Interrupts or softirqs a second: this many more, or half as many again. Each takes a microsecond or
/// two, so it is 0.2 % of the time.
const INTERRUPTS: f64 = 2000.0;

/// What a slack can depend on.
pub(super) struct Expected {
    /// Median of the evidence, in a window as long as that of the run in question.
    pub(super) value: f64,
    /// Median duration of the runs.
    pub(super) wall: f64,
    /// Length of the window of the run in question, which many runs may share.
    pub(super) window: f64,
}

/// How one kind of evidence is judged.
pub(super) struct Rule {
    pub(super) source: Source,
    pub(super) value: fn(&Evidence) -> Option<f64>,
    pub(super) slack: fn(&Expected) -> f64,
    pub(super) over: Over,
    /// Whether less than usual is a disturbance too.
    pub(super) both_sides: bool,
}

/// What an amount is an amount in.
#[derive(Clone, Copy)]
pub(super) enum Over {
    /// The run.
    Run,
    /// The window, which can be longer than the run.
    Window,
}

/// What samples of the pace took of the CPU during a run: that is becalm's own doing, and more in a longer run.
fn taken(evidence: &Evidence) -> f64 {
    const WITH_SWITCHES: f64 = 10e-6;
    evidence.pace_samples.unwrap_or(0) as f64 * WITH_SWITCHES
}

const fn rule(
    source: Source,
    over: Over,
    value: fn(&Evidence) -> Option<f64>,
    slack: fn(&Expected) -> f64,
) -> Rule {
    Rule { source, value, slack, over, both_sides: false }
}

/// How all evidence is judged.
pub(super) const RULES: &[Rule] = &[
    rule(
        Source::InvoluntarySwitches,
        Over::Run,
        |evidence| {
            let by_samples = evidence.pace_samples.unwrap_or(0);
            Some(evidence.involuntary_switches.saturating_sub(by_samples) as f64)
        },
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
        |evidence| Some((evidence.run_delay? - taken(evidence)).max(0.0)),
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
        Source::Firmware,
        Over::Window,
        |evidence| evidence.smis.map(|count| count as f64),
        |_| SMIS,
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
