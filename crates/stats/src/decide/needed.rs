//! How many rounds a comparison needs: the rounds after which one that looks as `compare` does has found a change
//! with a given power.
//!
//! For so many rounds at most the looks ([`super::looks`]) and their levels ([`super::spending`]) are known. The log
//! ratios of the rounds are drawn as independent normal values, look by look: the mean and the sum of squares of
//! the rounds between two looks, put together by Chan, Golub and `LeVeque`, "Algorithms for Computing the Sample
//! Variance", Am. Stat. 37 (1983). A shift of all log ratios moves their mean and not their spread. So each draw has a
//! smallest change that it would find, and the quantile at the power of these is what so many rounds find:
//! the sample size of a group sequential trial, Jennison and Turnbull, "Group Sequential Methods" (2000), chapter 7.

use super::looks::{FIRST_LOOK, looks_until};
use super::spending::{Look, levels};
use crate::whole::{count, place};
use crate::{Rng, chi_squared, sample::assert_confidence, student};

/// Sessions that are drawn: the standard error of a power of 90 % is then below a point.
const DRAWS: usize = 2000;

/// Change that one look finds 90 % of the time, at 5 %, in standard errors.
const ONE_LOOK: f64 = 3.24;

/// Steps after which a number is taken as it is. Three or four are usual.
const MOST_STEPS: usize = 12;

/// Most rounds of a plan.
pub const MOST_ROUNDS: u32 = 1_000_000;

/// What a comparison is to find.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Wanted {
    /// Relative change of the candidate, above 0.
    pub change: f64,
    /// How likely it is to be found.
    pub power: f64,
    /// Confidence of the comparison.
    pub confidence: f64,
    /// Smallest relative change that matters, at most `change`: a session ends early where the interval leaves it.
    pub margin: f64,
}

/// What it needs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Needed {
    /// Rounds at most, for `--max-rounds`.
    pub rounds: u32,
    /// Rounds after which half of the sessions have ended, if the change is as large as wanted.
    pub usual: u32,
    /// Half width of the interval after all rounds, as a share.
    pub noise_floor: f64,
}

/// Returns the rounds that a comparison needs, where the log ratio of a round has this standard deviation; `None`
/// when [`MOST_ROUNDS`] are not enough.
///
/// Panics unless the change is above 0, the margin at most the change, and confidence and power between 0 and 1.
pub fn needed(deviation: f64, wanted: &Wanted) -> Option<Needed> {
    assert_confidence(wanted.confidence);
    assert_confidence(wanted.power);
    let Wanted { change, margin, .. } = *wanted;
    assert!(change > 0.0 && (0.0..=change).contains(&margin), "{wanted:?}");
    // What is found falls with the root of the rounds, but for the looks. One look finds 3.2 standard errors.
    let aim = change.ln_1p();
    let scaled = |rounds: f64, found: f64| {
        count((rounds * (found / aim).powi(2)).ceil().min(f64::from(MOST_ROUNDS))).max(FIRST_LOOK)
    };
    let mut rounds = scaled(1.0, ONE_LOOK * deviation);
    let mut sessions = Sessions::new(rounds, wanted);
    for _ in 0..MOST_STEPS {
        let found = sessions.found(deviation);
        if found > aim && rounds == MOST_ROUNDS {
            return None;
        }
        let next = scaled(f64::from(rounds), found);
        // Closer than this the draws do not know it.
        let is_close = next.abs_diff(rounds) <= rounds / 100;
        if is_close && found <= aim {
            break;
        }
        rounds = if is_close { rounds.max(next) + 1 } else { next };
        sessions = Sessions::new(rounds, wanted);
    }
    Some(Needed {
        rounds,
        usual: sessions.usual_end(deviation),
        noise_floor: sessions.half_width(deviation).exp_m1(),
    })
}

/// The sessions of at most so many rounds.
struct Sessions {
    /// Rounds at each look, and how many standard errors the interval reaches to each side.
    looks: Vec<(u32, f64)>,
    wanted: Wanted,
}

/// What a draw has at a look, in units of the deviation of a round: mean and standard error.
struct Seen {
    mean: f64,
    error: f64,
}

impl Sessions {
    fn new(rounds: u32, wanted: &Wanted) -> Self {
        let looks: Vec<Look> = looks_until(rounds, 0)
            .into_iter()
            .map(|at| Look { rounds: at, fraction: f64::from(at) / f64::from(rounds) })
            .collect();
        let levels = levels(&looks, 1.0 - wanted.confidence);
        let looks = looks.iter().zip(levels).map(|(look, level)| {
            // Two degrees of freedom go as in the fit of a comparison.
            let df = f64::from(look.rounds) - 2.0;
            let reach = if level > 0.0 {
                student::two_sided_quantile(1.0 - level, df)
            } else {
                f64::INFINITY
            };
            (look.rounds, reach)
        });
        Self { looks: looks.collect(), wanted: *wanted }
    }

    /// Draws what a session of equal programs sees at each look.
    fn draw(&self, rng: &mut Rng) -> Vec<Seen> {
        let (mut n, mut mean, mut squares) = (0.0, 0.0, 0.0);
        let mut seen = Vec::with_capacity(self.looks.len());
        for &(rounds, _) in &self.looks {
            let more = f64::from(rounds) - n;
            let mean_of_more = rng.normal() / more.sqrt();
            if more > 1.0 {
                squares += chi_squared::draw(rng, more - 1.0);
            }
            let apart: f64 = mean_of_more - mean;
            squares += apart * apart * n * more / (n + more);
            n += more;
            mean += apart * more / n;
            seen.push(Seen { mean, error: (squares / (n - 1.0) / n).sqrt() });
        }
        seen
    }

    /// Returns the log ratio that is found with the power.
    fn found(&self, deviation: f64) -> f64 {
        let mut rng = Rng::new(1);
        let mut smallest: Vec<f64> = (0..DRAWS)
            .map(|_| {
                let seen = self.draw(&mut rng);
                let last = seen.len() - 1;
                let found_at = seen.iter().zip(&self.looks).enumerate().map(|(k, (seen, look))| {
                    // Before the end a session goes on until the interval has left the margin.
                    let beyond = if k == last { 0.0 } else { self.wanted.margin.ln_1p() };
                    beyond + deviation * (look.1 * seen.error - seen.mean)
                });
                found_at.fold(f64::INFINITY, f64::min)
            })
            .collect();
        let place = place(self.wanted.power * DRAWS as f64).min(DRAWS - 1);
        *smallest.select_nth_unstable_by(place, f64::total_cmp).1
    }

    /// Returns after how many rounds half of the sessions have ended, where the change is the wanted one.
    fn usual_end(&self, deviation: f64) -> u32 {
        let mut rng = Rng::new(1);
        let all = self.looks.last().map_or(0, |look| look.0);
        let beyond = self.wanted.change.ln_1p() - self.wanted.margin.ln_1p();
        let mut ends: Vec<u32> = (0..DRAWS)
            .map(|_| {
                let seen = self.draw(&mut rng);
                let mut looks = seen.iter().zip(&self.looks);
                let has_left = |(seen, look): &(&Seen, &(u32, f64))| {
                    deviation * (look.1 * seen.error - seen.mean) < beyond
                };
                looks.find(has_left).map_or(all, |(_, look)| look.0)
            })
            .collect();
        *ends.select_nth_unstable(DRAWS / 2).1
    }

    /// Returns the half width of the interval at the last look.
    fn half_width(&self, deviation: f64) -> f64 {
        let Some(&(rounds, reach)) = self.looks.last() else { return f64::INFINITY };
        deviation * reach / f64::from(rounds).sqrt()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TWO_PERCENT: Wanted = Wanted { change: 0.02, power: 0.9, confidence: 0.95, margin: 0.01 };

    #[test]
    fn looking_costs_a_little_more_than_one_look() {
        // A paired t test at 5 % finds a change of a deviation over 3 in n = 97 rounds 90 % of the time.
        let needed = needed(3.0 * 1.02_f64.ln(), &Wanted { margin: 0.0, ..TWO_PERCENT }).unwrap();
        assert!((100..135).contains(&needed.rounds), "{needed:?}");
        assert!(needed.usual < needed.rounds * 2 / 3, "{needed:?}");
        let half_width = 1.02_f64.ln() * 3.0 * 2.45 / f64::from(needed.rounds).sqrt();
        assert!((needed.noise_floor / half_width - 1.0).abs() < 0.05, "{needed:?} {half_width}");
    }

    #[test]
    fn a_margin_makes_sessions_end_later() {
        let with = needed(0.03, &TWO_PERCENT).unwrap();
        let without = needed(0.03, &Wanted { margin: 0.0, ..TWO_PERCENT }).unwrap();
        assert!(without.usual < with.usual && with.usual <= with.rounds, "{without:?} {with:?}");
    }

    #[test]
    fn more_noise_and_less_change_need_more() {
        let of = |deviation, change| {
            needed(deviation, &Wanted { change, margin: 0.0, ..TWO_PERCENT }).unwrap().rounds
        };
        assert!(of(0.01, 0.02) < of(0.02, 0.02) && of(0.02, 0.02) < of(0.02, 0.01));
        assert_eq!(of(0.0, 0.02), FIRST_LOOK);
    }

    #[test]
    fn what_no_number_of_rounds_finds_is_said() {
        assert_eq!(needed(10.0, &Wanted { change: 1e-6, margin: 0.0, ..TWO_PERCENT }), None);
    }
}
