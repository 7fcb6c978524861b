//! When the machine has come to rest: what is read before a round, held against what was read at the
//! start of the session. Pure; who waits is `spawn`.
//!
//! One reading that is within all limits is enough to go on. Otherwise the machine has to look calm in
//! [`CALM_LOOKS`] readings in a row, [`BETWEEN_LOOKS`] apart, because a moment without a task that wants
//! a CPU is common on a machine that is busy.

use std::collections::BTreeMap;
use std::time::Duration;

use becalm_machine::Unrest;
use becalm_model::conditions::Settle;
use becalm_model::{Calm, Limit, Note, Record, SessionLimit, SessionNote};

/// Readings at the start of the session.
pub(super) const BASELINE_LOOKS: usize = 10;

/// Time between two readings.
pub(super) const BETWEEN_LOOKS: Duration = Duration::from_millis(20);

/// Readings in a row that have to be calm after one that was not.
const CALM_LOOKS: u32 = 3;

/// Degrees above the temperature at the start that are still calm: sensors move in whole degrees.
const DEGREES: f64 = 3.0;

/// Share of the time between two readings in which some task waited for memory or I/O, beyond that at the
/// start, that is still calm.
const STALLED: f64 = 0.05;

/// The limits that follow from the start of a session. `None` means that nothing can be told.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Baseline {
    temperature: Option<f64>,
    runnable: Option<u32>,
    /// Share of the time.
    stalled: Option<f64>,
}

impl Baseline {
    /// Takes the limits from readings in time order.
    pub(super) fn of(readings: &[Unrest]) -> Self {
        let mut runnable: Vec<u32> =
            readings.iter().filter_map(|reading| reading.runnable).collect();
        runnable.sort_unstable();
        let degrees = readings.iter().filter_map(|reading| reading.temperature);
        Self {
            temperature: degrees.reduce(f64::max).map(|degrees| degrees + DEGREES),
            // Three readings of four pass on a machine that stays as it is.
            runnable: runnable.get(runnable.len() * 3 / 4).copied(),
            stalled: match readings {
                [first, .., last] => stalled(first, last).map(|share| share + STALLED),
                _ => None,
            },
        }
    }

    /// Returns what is waited for, at most for `maximum`.
    pub(super) fn settle(&self, maximum: Duration) -> Settle {
        let Self { temperature, runnable, stalled } = *self;
        Settle { maximum: maximum.as_secs_f64(), runnable, temperature, stalled }
    }

    /// Returns what is beyond its limit; pressure is that since the `earlier` reading.
    fn restless(&self, earlier: Option<&Unrest>, now: &Unrest) -> Vec<Calm> {
        let beyond = |value: Option<f64>, limit: Option<f64>| {
            value.zip(limit).is_some_and(|(value, limit)| value > limit)
        };
        let stalled = earlier.and_then(|earlier| stalled(earlier, now));
        [
            (Calm::Temperature, beyond(now.temperature, self.temperature)),
            (Calm::Load, beyond(now.runnable.map(f64::from), self.runnable.map(f64::from))),
            (Calm::Pressure, beyond(stalled, self.stalled)),
        ]
        .into_iter()
        .filter_map(|(what, is_beyond)| is_beyond.then_some(what))
        .collect()
    }
}

/// Returns the share of the time between two readings in which some task was stalled.
fn stalled(earlier: &Unrest, now: &Unrest) -> Option<f64> {
    let seconds = now.at.checked_sub(earlier.at)?.as_secs_f64();
    let stalled = now.stalled? - earlier.stalled?;
    (seconds > 0.0 && stalled >= 0.0).then(|| stalled / seconds)
}

/// One wait before a round.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wait {
    baseline: Baseline,
    earlier: Option<Unrest>,
    looks: u32,
    calm: u32,
}

/// What to do after a reading.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Step {
    /// Go on: the machine is at rest.
    Settled,
    /// Look again after [`BETWEEN_LOOKS`]; the reasons are those of this reading.
    LookAgain(Vec<Calm>),
}

impl Wait {
    /// Begins a wait; `earlier` is the latest reading before it, if there is one.
    pub(super) fn new(baseline: Baseline, earlier: Option<Unrest>) -> Self {
        Self { baseline, earlier, looks: 0, calm: 0 }
    }

    /// Takes a reading and says what to do.
    pub(super) fn see(&mut self, now: Unrest) -> Step {
        let restless = self.baseline.restless(self.earlier.as_ref(), &now);
        self.earlier = Some(now);
        self.looks += 1;
        if self.looks == 1 && restless == [Calm::Pressure] {
            // Since the earlier reading a round was made, and its subjects may have waited themselves.
            self.calm = CALM_LOOKS - 1;
            return Step::LookAgain(Vec::new());
        }
        self.calm = if restless.is_empty() { self.calm + 1 } else { 0 };
        if self.calm == CALM_LOOKS || (self.looks == 1 && self.calm == 1) {
            Step::Settled
        } else {
            Step::LookAgain(restless)
        }
    }
}

/// How often the machine had not come to rest when the longest wait was over, by what kept it.
pub(super) type Unsettled = BTreeMap<Calm, u32>;

/// Says how the longest wait of `maximum` was not enough; `None` if it always was.
pub(super) fn unsettled_limit(unsettled: &Unsettled, maximum: Duration) -> Option<Limit> {
    let above = unsettled.iter().map(|(what, rounds)| (*what, *rounds)).collect();
    let maximum = maximum.as_secs_f64();
    (!unsettled.is_empty()).then(|| SessionLimit::Unrest { maximum, above }.into())
}

/// Writes into the record how long was waited for the machine, in place of an earlier such note.
pub fn settle_note(record: &mut Record) {
    record.notes.retain(|note| !matches!(note, Note::Session(SessionNote::Settled { .. })));
    let waits: Vec<f64> = record.runs.iter().filter_map(|run| run.evidence().settle_wait).collect();
    if waits.is_empty() {
        return;
    }
    let long: Vec<f64> = waits.iter().copied().filter(|&wait| wait > 0.0).collect();
    let note = SessionNote::Settled {
        rounds: waits.len(),
        waited: long.len(),
        seconds: long.iter().sum(),
        longest: long.iter().copied().fold(0.0, f64::max),
    };
    record.notes.push(note.into());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reading(at_ms: u64, degrees: f64, runnable: u32, stalled_ms: f64) -> Unrest {
        Unrest {
            at: Duration::from_millis(at_ms),
            temperature: Some(degrees),
            runnable: Some(runnable),
            stalled: Some(stalled_ms / 1000.0),
        }
    }

    /// A start with 40 degrees, mostly no other task, and no stalls.
    fn baseline() -> Baseline {
        let runnable = [0, 0, 1, 0, 2, 0, 0, 1, 0, 0];
        let readings: Vec<Unrest> = (0_u64..)
            .zip(runnable)
            .map(|(look, runnable)| reading(20 * look, 40.0, runnable, 0.0))
            .collect();
        Baseline::of(&readings)
    }

    /// Feeds readings 20 ms apart and says how many were needed; `None` if they were not enough.
    #[track_caller]
    fn check(readings: &[(f64, u32, f64)], needed: Option<usize>) {
        let mut wait = Wait::new(baseline(), Some(reading(980, 40.0, 0, 0.0)));
        let found = (0_u64..).zip(readings).position(|(look, &(degrees, runnable, stalled))| {
            wait.see(reading(1000 + 20 * look, degrees, runnable, stalled)) == Step::Settled
        });
        assert_eq!(found.map(|index| index + 1), needed);
    }

    #[test]
    fn a_machine_as_at_the_start_is_not_waited_for() {
        check(&[(40.0, 0, 0.0)], Some(1));
        check(&[(43.0, 1, 1.0)], Some(1));
    }

    #[test]
    fn one_reading_beyond_a_limit_asks_for_three_calm_ones() {
        let calm = (40.0, 0, 0.0);
        check(&[(44.0, 0, 0.0), calm, calm, calm], Some(4));
        check(&[(40.0, 2, 0.0), calm, calm, calm], Some(4));
        check(&[(40.0, 2, 0.0), calm, calm, (40.0, 3, 0.0), calm, calm], None);
    }

    #[test]
    fn a_stall_before_the_first_look_may_be_that_of_the_round_before() {
        // Two milliseconds in twenty, which do not go on.
        check(&[(40.0, 0, 2.0), (40.0, 0, 2.0)], Some(2));
        check(&[(40.0, 0, 2.0), (40.0, 0, 4.0), (40.0, 0, 4.0), (40.0, 0, 4.0)], None);
        let mut wait = Wait::new(baseline(), Some(reading(980, 40.0, 0, 0.0)));
        let step = wait.see(reading(1000, 40.0, 0, 2.0));
        assert_eq!(
            step,
            Step::LookAgain(Vec::new()),
            "nothing that could be held against the machine"
        );
    }

    #[test]
    fn the_reasons_are_told() {
        let mut wait = Wait::new(baseline(), Some(reading(980, 40.0, 0, 0.0)));
        let step = wait.see(reading(1000, 50.0, 9, 20.0));
        assert_eq!(step, Step::LookAgain(vec![Calm::Temperature, Calm::Load, Calm::Pressure]));
    }

    #[test]
    fn a_machine_that_is_busy_at_the_start_is_not_expected_to_be_quieter() {
        let busy: Vec<Unrest> = (0..10).map(|look| reading(20 * look, 70.0, 3, 0.0)).collect();
        let mut wait = Wait::new(Baseline::of(&busy), None);
        assert_eq!(wait.see(reading(1000, 70.0, 3, 0.0)), Step::Settled);
    }

    #[test]
    fn what_cannot_be_read_is_not_waited_for() {
        let mut wait = Wait::new(Baseline::of(&[]), None);
        assert_eq!(wait.see(reading(1000, 99.0, 99, 99.0)), Step::Settled);
        let mut wait = Wait::new(baseline(), None);
        assert_eq!(wait.see(Unrest::default()), Step::Settled);
        let nothing = Settle { maximum: 1.0, runnable: None, temperature: None, stalled: None };
        assert_eq!(Baseline::default().settle(Duration::from_secs(1)), nothing);
    }

    #[test]
    fn what_is_waited_for_is_told() {
        assert_eq!(
            baseline().settle(Duration::from_secs(9)),
            Settle {
                maximum: 9.0,
                runnable: Some(1),
                temperature: Some(43.0),
                stalled: Some(0.05)
            }
        );
    }
}
