//! The one judge of comparisons, for `becalm gate` and `becalm ci`.
//!
//! Both ask the same: does the interval of the change lie beyond what is let through, within it, or across? Where
//! they answer differently, that stands in [`Policy`], field by field, and nowhere else.

use becalm_model::ci::{CiNoise, Standing};
use becalm_model::gate::GateOutcome;
use becalm_model::{Direction, RatioInterval, Verdict};

/// What the computation of a share may be off by: a value at its margin is within it.
pub(super) const ROUNDING: f64 = 1e-12;

/// A relative change for the worse: 0.02 is 2 % worse, whichever way is better.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Worse {
    /// At least.
    pub low: f64,
    /// Estimate.
    pub estimate: f64,
    /// At most.
    pub high: f64,
}

/// The part of a margin that has to be proved where the estimate is beyond all of it.
pub(super) const PROVED: f64 = 0.5;

/// How a change counts where more is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Loss {
    /// As a share of the old value: a rate of 80 after 100 is 20 % worse.
    OfOld,
    /// As the time that the same work takes: a rate of 80 after 100 is 25 % worse.
    OfNew,
}

impl Worse {
    /// Reads it from a ratio of new over old.
    pub fn of(ratio: &RatioInterval, direction: Direction, loss: Loss) -> Self {
        let RatioInterval { estimate, low, high } = *ratio;
        let [low, estimate, high] = match (direction, loss) {
            (Direction::Lower, _) => [low, estimate, high].map(|ratio| ratio - 1.0),
            (Direction::Higher, Loss::OfOld) => [high, estimate, low].map(|ratio| 1.0 - ratio),
            (Direction::Higher, Loss::OfNew) => {
                [high, estimate, low].map(|ratio| 1.0 / ratio - 1.0)
            }
        };
        Self { low, estimate, high }
    }

    /// Says whether it is beyond the margin rather than within it: the estimate is beyond it, and all of the interval beyond
    /// a part of it.
    pub(super) fn is_rather_beyond(self, margin: f64) -> bool {
        self.estimate > margin + ROUNDING && self.low > PROVED * margin + ROUNDING
    }

    /// Judges a level by the one before. More values of a commit may never come, so it need not be proved that all of the
    /// margin is exceeded.
    pub(super) fn outcome_of_level(self, margin: f64) -> GateOutcome {
        match Extent::of(self, margin).outcome() {
            GateOutcome::Inconclusive if self.is_rather_beyond(margin) => GateOutcome::Fail,
            outcome => outcome,
        }
    }
}

/// Says whether a value is worse than the worst of others, and than their level by more than the margin.
pub(super) fn is_beyond_all(
    value: f64,
    level: f64,
    worst: f64,
    margin: f64,
    direction: Direction,
) -> bool {
    match direction {
        Direction::Lower => value > worst.max(level * (1.0 + margin)),
        Direction::Higher => value < worst.min(level * (1.0 - margin)),
    }
}

/// Returns the worst of some values.
pub(super) fn worst_of(values: impl Iterator<Item = f64>, direction: Direction) -> f64 {
    match direction {
        Direction::Lower => values.fold(f64::NEG_INFINITY, f64::max),
        Direction::Higher => values.fold(f64::INFINITY, f64::min),
    }
}

/// Where a change lies against what is let through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// All of its interval is within.
    Within,
    /// Its interval is partly within and partly beyond.
    Across,
    /// All of its interval is beyond.
    Beyond,
}

impl Extent {
    /// Returns what that means where nothing else counts.
    pub fn outcome(self) -> GateOutcome {
        match self {
            Self::Within => GateOutcome::Pass,
            Self::Across => GateOutcome::Inconclusive,
            Self::Beyond => GateOutcome::Fail,
        }
    }

    /// Puts a change against the largest share for the worse that is let through.
    pub fn of(worse: Worse, allowed: f64) -> Self {
        let allowed = allowed + ROUNDING;
        if worse.low > allowed {
            Self::Beyond
        } else if worse.high <= allowed {
            Self::Within
        } else {
            Self::Across
        }
    }
}

/// What a comparison has to do to fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Basis {
    /// Its interval decides: the rule may have another margin than the one that the verdict was reached with.
    Interval,
    /// Its verdict decides, and the interval only whether what is worse is let through: verdict and rule are of one
    /// command line.
    Verdict,
}

/// Where the two gates differ.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Policy {
    /// Largest share for the worse that is let through. `gate` takes the margin of its rule, 1 %
    /// where nobody says; `ci` takes `--allow`, which is nothing if nobody says, because its
    /// verdict has a margin already.
    pub allowed: f64,
    /// What has to say that it is worse.
    pub basis: Basis,
    /// How less of something good counts.
    pub loss: Loss,
    /// What comes of something that is worse, perhaps by no more than is let through: `gate` cannot tell, while
    /// somebody who gave `ci` an allowance agreed to it.
    pub perhaps_allowed: GateOutcome,
}

impl Policy {
    /// Returns that of `becalm gate` with this margin.
    pub fn gate(margin: f64) -> Self {
        Self {
            allowed: margin,
            basis: Basis::Interval,
            loss: Loss::OfOld,
            perhaps_allowed: GateOutcome::Inconclusive,
        }
    }

    /// Returns that of `becalm ci` with this allowance.
    pub fn ci(allow: f64) -> Self {
        Self {
            allowed: allow,
            basis: Basis::Verdict,
            loss: Loss::OfNew,
            perhaps_allowed: GateOutcome::Pass,
        }
    }
}

/// What is known of one metric of two sides.
#[derive(Debug, Clone, Copy)]
pub struct Compared {
    /// Ratio of new over old; `None` where there is none.
    pub ratio: Option<RatioInterval>,
    /// Which way is better.
    pub direction: Direction,
    /// What the comparison says.
    pub verdict: Verdict,
    /// The old side against itself; only a job of `ci` measures that.
    pub noise: Option<CiNoise>,
    /// Whether runs of the new side were cut off at the timeout, so that it seems faster than it is. A verdict heeds
    /// that; an interval does not.
    pub is_cut_off: bool,
}

/// What a judge says: in the words of `ci`, and in those of `gate`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Judged {
    /// What the comparison means.
    pub standing: Standing,
    /// Whether it is let through.
    pub outcome: GateOutcome,
}

/// Judges a comparison.
pub fn judge(compared: &Compared, policy: &Policy) -> Judged {
    let worse = compared.ratio.map(|ratio| Worse::of(&ratio, compared.direction, policy.loss));
    // What has no ratio may be anything.
    let extent = worse.map_or(Extent::Across, |worse| Extent::of(worse, policy.allowed));
    let standing = match (policy.basis, worse) {
        (Basis::Interval, _) => by_interval(compared, extent),
        (Basis::Verdict, Some(worse)) => by_verdict(compared, worse, extent),
        (Basis::Verdict, None) => Standing::Inconclusive,
    };
    let outcome = match standing {
        Standing::Regression => GateOutcome::Fail,
        Standing::Doubtful | Standing::Inconclusive => GateOutcome::Inconclusive,
        Standing::Tolerated if extent != Extent::Within => policy.perhaps_allowed,
        Standing::Tolerated | Standing::Improvement | Standing::Equivalent => GateOutcome::Pass,
    };
    Judged { standing, outcome }
}

fn by_interval(compared: &Compared, extent: Extent) -> Standing {
    match (extent, compared.verdict) {
        (Extent::Beyond, _) => Standing::Regression,
        (_, Verdict::Inconclusive) | (Extent::Within, Verdict::Slower | Verdict::Equivalent)
            if compared.is_cut_off =>
        {
            Standing::Doubtful
        }
        (_, Verdict::Slower) => Standing::Tolerated,
        (Extent::Within, Verdict::Faster) => Standing::Improvement,
        (Extent::Within, _) => Standing::Equivalent,
        (Extent::Across, _) => Standing::Inconclusive,
    }
}

/// Where the old side seems to differ from itself, no difference counts that is not wholly beyond it: what moves the
/// old side can move the new one as well.
fn by_verdict(compared: &Compared, worse: Worse, extent: Extent) -> Standing {
    let own = match compared.noise {
        Some(CiNoise { verdict: Verdict::Faster | Verdict::Slower, ratio: Some(ratio) }) => {
            ratio.high.max(1.0 / ratio.low)
        }
        _ => 1.0,
    };
    match compared.verdict {
        Verdict::Equivalent => Standing::Equivalent,
        Verdict::Inconclusive => Standing::Inconclusive,
        Verdict::Faster if worse.high < 1.0 / own - 1.0 => Standing::Improvement,
        // Without an end nobody knows how much worse.
        Verdict::Slower if extent != Extent::Beyond && worse.high.is_infinite() => {
            Standing::Doubtful
        }
        Verdict::Slower if extent != Extent::Beyond => Standing::Tolerated,
        Verdict::Slower if worse.low > own - 1.0 => Standing::Regression,
        Verdict::Faster | Verdict::Slower => Standing::Doubtful,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What `becalm gate` judged by before there was one judge.
    fn gate_before(compared: &Compared, margin: f64) -> GateOutcome {
        let outcome = compared.ratio.map_or(GateOutcome::Inconclusive, |ratio| {
            let (low, high) = match compared.direction {
                Direction::Lower => (ratio.low - 1.0, ratio.high - 1.0),
                Direction::Higher => (1.0 - ratio.high, 1.0 - ratio.low),
            };
            let margin = margin + 1e-12;
            if low > margin {
                GateOutcome::Fail
            } else if high <= margin {
                GateOutcome::Pass
            } else {
                GateOutcome::Inconclusive
            }
        });
        let is_doubtful = outcome != GateOutcome::Fail
            && (compared.verdict == Verdict::Inconclusive
                || outcome == GateOutcome::Pass && compared.verdict != Verdict::Faster)
            && compared.is_cut_off;
        if is_doubtful { GateOutcome::Inconclusive } else { outcome }
    }

    /// What `becalm ci` judged by before there was one judge.
    fn ci_before(compared: &Compared, allow: f64) -> Standing {
        let Some(ratio) = compared.ratio else { return Standing::Inconclusive };
        let (low, high) = match compared.direction {
            Direction::Lower => (ratio.low, ratio.high),
            Direction::Higher => (1.0 / ratio.high, 1.0 / ratio.low),
        };
        let own = match compared.noise.map(|noise| (noise.verdict, noise.ratio)) {
            Some((Verdict::Faster | Verdict::Slower, Some(ratio))) => {
                ratio.high.max(1.0 / ratio.low)
            }
            _ => 1.0,
        };
        match compared.verdict {
            Verdict::Equivalent => Standing::Equivalent,
            Verdict::Inconclusive => Standing::Inconclusive,
            Verdict::Faster if high < 1.0 / own => Standing::Improvement,
            Verdict::Slower if low <= 1.0 + allow && high.is_infinite() => Standing::Doubtful,
            Verdict::Slower if low <= 1.0 + allow => Standing::Tolerated,
            Verdict::Slower if low > own => Standing::Regression,
            Verdict::Faster | Verdict::Slower => Standing::Doubtful,
        }
    }

    /// Intervals on both sides of 1, narrow and wide, with ends at what is allowed and without an end, and none.
    fn ratios() -> Vec<Option<RatioInterval>> {
        let lows = [0.0, 0.5, 0.9, 0.97, 0.98, 0.99, 0.995, 1.0, 1.005, 1.01, 1.02, 1.03, 1.2, 3.0];
        let widths = [0.0, 0.003, 0.02, 0.3, f64::INFINITY];
        let of = |low: f64, width: f64| {
            let high = low + width;
            let estimate = if high.is_finite() { f64::midpoint(low, high) } else { low + 0.01 };
            (estimate > 0.0).then_some(RatioInterval { estimate, low, high })
        };
        let all = lows.iter().flat_map(|&low| widths.map(|width| of(low, width)));
        all.flatten().map(Some).chain([None]).collect()
    }

    fn every_comparison(mut check: impl FnMut(&Compared)) {
        let noises = [
            None,
            Some((Verdict::Equivalent, 0.998, 1.002)),
            Some((Verdict::Faster, 0.94, 0.98)),
            Some((Verdict::Slower, 1.02, 1.03)),
        ];
        for ratio in ratios() {
            for verdict in Verdict::ALL {
                for direction in [Direction::Lower, Direction::Higher] {
                    for (noise, is_cut_off) in
                        noises.iter().flat_map(|one| [(one, false), (one, true)])
                    {
                        let noise = noise.map(|(verdict, low, high)| CiNoise {
                            ratio: Some(RatioInterval {
                                estimate: f64::midpoint(low, high),
                                low,
                                high,
                            }),
                            verdict,
                        });
                        check(&Compared { ratio, direction, verdict, noise, is_cut_off });
                    }
                }
            }
        }
    }

    #[test]
    fn both_gates_judge_as_they_did_before_there_was_one_judge() {
        for allowed in [0.0, 0.005, 0.01, 0.02, 0.1] {
            every_comparison(|compared| {
                let gate = judge(compared, &Policy::gate(allowed));
                assert_eq!(gate.outcome, gate_before(compared, allowed), "{compared:?} {allowed}");
                let ci = judge(compared, &Policy::ci(allowed));
                assert_eq!(ci.standing, ci_before(compared, allowed), "{compared:?} {allowed}");
            });
        }
    }

    #[test]
    fn both_gates_agree_but_for_what_their_policies_say() {
        use becalm_stats::decide::margin::{Answer, answer};
        let margin = 0.02;
        let mut agreed = 0;
        every_comparison(|compared| {
            // Where less is better, nothing was cut off and the old side is like itself; and the verdict was reached
            // with what is allowed as its margin.
            let verdict = compared.ratio.map_or(Verdict::Inconclusive, |ratio| {
                match answer(ratio.low, ratio.high, margin) {
                    Answer::Equivalent => Verdict::Equivalent,
                    Answer::Above => Verdict::Slower,
                    Answer::Below => Verdict::Faster,
                    Answer::Inconclusive => Verdict::Inconclusive,
                }
            });
            let is_plain = compared.direction == Direction::Lower
                && compared.noise.is_none()
                && !compared.is_cut_off
                && compared.verdict == verdict;
            if !is_plain {
                return;
            }
            let (gate, ci) =
                (judge(compared, &Policy::gate(margin)), judge(compared, &Policy::ci(margin)));
            match (gate.standing, ci.standing) {
                // Inside the margin on the worse side, though undecided on the better one: only an interval tells.
                // And without an end nobody knows how much worse.
                (Standing::Equivalent, Standing::Inconclusive)
                | (Standing::Tolerated, Standing::Doubtful) => {}
                (one, other) => assert_eq!(one, other, "{compared:?}"),
            }
            if gate.standing == Standing::Tolerated {
                assert_eq!(gate.outcome, GateOutcome::Inconclusive, "{compared:?}");
            } else if gate.standing == ci.standing {
                assert_eq!(gate.outcome, ci.outcome, "{compared:?}");
            }
            agreed += usize::from(gate == ci);
        });
        assert!(agreed > 40, "{agreed} comparisons");
    }
}
