//! Whether the pace of the core may be allowed for.
//!
//! A covariate takes noise out of a comparison only where the subjects had no hand in it (Cox 1958, *Planning
//! of Experiments*, chapter 4). A neighbour on the same core
//! hits both by the luck of the random order. A subject that itself slows its core, by wide vector
//! instructions for example, would have the slowness that it causes taken off its account: where the paces
//! differ between the subjects by more than luck, they are left alone.

use std::borrow::Cow;

use super::paired::{self, Observation};
use crate::{Sample, spread};

/// Fewest rounds in which it is allowed for. With fewer the random order has a say in the answer, which it can
/// have only if nothing was fitted to the rounds before; nor could a subject's own doing be told from luck.
pub const FEWEST_ROUNDS: usize = 14;

/// What a comparison makes of the pace of the core during its runs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Allowance {
    /// None was sampled, it never varied, or there are too few rounds.
    None,
    /// It is allowed for; from run to run it varied by this much, the standard deviation of its logarithm.
    Made {
        /// In units of the natural logarithm.
        varied: f64,
    },
    /// It differed between the subjects: candidate over baseline, in logarithms.
    Refused {
        /// In units of the natural logarithm.
        differed: f64,
    },
}

/// Level at which the paces of two subjects are held to differ. It is strict, because a difference by chance
/// is just what has to be allowed for.
const DIFFER: f64 = 2e-4;

/// A pace that varies less than this is a clock's rounding.
const LEAST: f64 = 1e-6;

/// Returns the rounds with the pace that is allowed for, which may be none.
pub(super) fn allowed(rounds: &[Observation]) -> Cow<'_, [Observation]> {
    match allowance(rounds) {
        Allowance::Made { .. } => Cow::Borrowed(rounds),
        Allowance::None | Allowance::Refused { .. } => Cow::Owned(without(rounds)),
    }
}

/// Returns the rounds as if no pace had been sampled.
pub fn without(rounds: &[Observation]) -> Vec<Observation> {
    rounds.iter().map(|round| Observation { pace: [0.0; 2], ..*round }).collect()
}

/// Decides what is made of the pace in these rounds, for [`paired::estimate`] and for who tells about it.
pub fn allowance(rounds: &[Observation]) -> Allowance {
    if rounds.len() < FEWEST_ROUNDS {
        return Allowance::None;
    }
    let logs: Vec<f64> = rounds.iter().flat_map(|round| round.pace).collect();
    let varied = Sample::new(logs).ok().and_then(|logs| spread::standard_deviation(&logs).ok());
    let Some(varied) = varied.filter(|varied| *varied > LEAST) else { return Allowance::None };
    let paces: Vec<Observation> = rounds
        .iter()
        .map(|round| Observation {
            baseline: round.pace[0],
            candidate: round.pace[1],
            candidate_first: round.candidate_first,
            pace: [0.0; 2],
        })
        .collect();
    match paired::estimate(&paces, DIFFER) {
        Some(estimate) if estimate.low > 0.0 || estimate.high < 0.0 => {
            Allowance::Refused { differed: estimate.centre }
        }
        _ => Allowance::Made { varied },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Rng;

    fn rounds(own_doing: f64, varies: f64) -> Vec<Observation> {
        let mut rng = Rng::new(5);
        let mut pace = || -12.0 + varies * rng.uniform();
        (0..16)
            .map(|round| Observation {
                baseline: 0.0,
                candidate: 0.0,
                candidate_first: round % 2 == 0,
                pace: [pace(), pace() + own_doing],
            })
            .collect()
    }

    #[test]
    fn what_hits_both_subjects_is_allowed_for() {
        let rounds = rounds(0.0, 0.4);
        let Allowance::Made { varied } = allowance(&rounds) else { panic!("{rounds:?}") };
        assert!((0.08..0.16).contains(&varied), "{varied}");
        assert_eq!(*allowed(&rounds), rounds);
    }

    #[test]
    fn what_a_subject_does_to_its_core_stays_on_its_account() {
        let rounds = rounds(0.4, 0.2);
        let Allowance::Refused { differed } = allowance(&rounds) else { panic!("{rounds:?}") };
        assert!((0.3..0.5).contains(&differed), "{differed}");
        assert!(allowed(&rounds).iter().all(|round| round.pace == [0.0; 2]));
    }

    #[test]
    fn few_rounds_are_left_as_they_are() {
        let rounds = rounds(0.4, 0.2);
        assert_eq!(allowance(&rounds[..FEWEST_ROUNDS - 1]), Allowance::None);
        assert!(matches!(allowance(&rounds[..FEWEST_ROUNDS]), Allowance::Refused { .. }));
    }

    #[test]
    fn a_pace_that_never_varies_is_none() {
        assert_eq!(allowance(&rounds(0.0, 0.0)), Allowance::None);
        assert_eq!(allowance(&[]), Allowance::None);
    }
}
