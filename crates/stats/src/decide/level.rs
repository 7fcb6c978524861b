//! The treatment effect beside a wandering level: a robust local-level model.
//!
//! Runs are neighbours in time, and machines drift. The values `y_j` of the runs in time order are
//! modelled as
//!
//! ```text
//! y_j = level_j + tau z_j + e_j,   z_j = -1/2 (baseline) or +1/2 (candidate)
//! ```
//!
//! where the level is a random walk (Harvey 1989, *Forecasting, Structural Time Series Models and
//! the Kalman Filter*, ch. 2) and `e` has Student's t distribution with few degrees of freedom, so
//! that a spike loses its own weight and nothing else (Lange, Little and Taylor 1989, *Robust
//! statistical modeling using the t distribution*, JASA 84). The fit iterates weighted least
//! squares; each step is two tridiagonal solves.
//!
//! The standard error is a sandwich over pairs: the score of a round changes sign with the random
//! order inside it, so scores of different rounds are uncorrelated by design and the squares of the
//! scores estimate their variance, whatever the noise does. Compared with a trimmed t test of the
//! paired differences this uses the neighbours beyond the pair (worth 9 to 21 % for lag-1
//! correlations of 0.3 to 0.6) and loses one run to a spike instead of a pair.
//!
//! Where the pace of the core was sampled beside each run, `y_j` has a further term `beta x_j`, with `x` the
//! logarithm of how long a fixed piece of work took meanwhile: the analysis of covariance (Fisher 1932,
//! *Statistical Methods for Research Workers*, section 49.1), with the share `beta` between 0, the subject
//! does not feel it, and 1, the subject slows as much as the sample. It takes a degree of freedom. The
//! scores are those of the part of `z` that `x` does not explain.

use crate::center::median_of;
use crate::student;
use crate::whole::place;

/// Degrees of freedom of the error's distribution. 4 and 5 do equally well on real runs.
const NU: f64 = 5.0;

/// Variance of the level's step relative to that of a run. Between 0.5 and 1 all is equal.
const STEP_VARIANCE: f64 = 1.0;

/// Iterations of the fit; it is settled to far below its standard error after half of them.
const ITERATIONS: usize = 8;

/// Scale estimates are multiplied by this to make up for the freedom that the level takes.
const SCALE_CORRECTION: f64 = 1.1;

/// Inflation of the variance of the scores, beside `n / (n - 2.5)`, set by simulation at small n.
const VARIANCE_INFLATION: f64 = 1.05;

/// Degrees of freedom of the standard error over those of the deviation of as many normal log ratios: what its
/// robustness costs. By simulation, 0.68 to 0.73 for 10 to 60 rounds.
const ERROR_EFFICIENCY: f64 = 0.7;

/// A standard error of the log ratio below this is the rounding of floating-point numbers.
const ROUNDING: f64 = 1e-13;

/// Paces whose weighted spread about their level is below this tell nothing, as where none was sampled.
const LEAST_PACE: f64 = 1e-9;

/// A round: the logarithms of the two values, and which came first.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Observation {
    /// Logarithm of the baseline's value.
    pub baseline: f64,
    /// Logarithm of the candidate's value.
    pub candidate: f64,
    /// Whether the candidate ran before the baseline.
    pub candidate_first: bool,
    /// Logarithms of how long a fixed piece of work took on the core during the baseline's run and
    /// during the candidate's; two zeros where it was not sampled.
    pub pace: [f64; 2],
}

impl Observation {
    /// Returns the logarithm of candidate / baseline.
    pub fn log_ratio(&self) -> f64 {
        self.candidate - self.baseline
    }

    /// Returns the round as it would have been at one pace, of which a subject takes the `share`.
    pub(super) fn at_one_pace(&self, share: f64) -> Self {
        let [baseline, candidate] = self.pace;
        Self {
            baseline: self.baseline - share * baseline,
            candidate: self.candidate - share * candidate,
            candidate_first: self.candidate_first,
            pace: [0.0; 2],
        }
    }
}

/// The fitted effect.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Fit {
    /// Logarithm of the ratio candidate / baseline.
    pub(super) effect: f64,
    /// Its standard error; 0 when the values leave no noise at all.
    pub(super) standard_error: f64,
    /// Degrees of freedom for Student's t.
    pub(super) df: f64,
    /// Degrees of freedom with which the standard error is known, to say how well another session's is.
    pub(super) df_of_error: f64,
    /// Share of the core's change of pace that the subjects take, 0 to 1; 0 where none was sampled.
    pub(super) pace: f64,
}

impl Fit {
    /// Returns the two-sided p value of no effect.
    pub(super) fn p(&self) -> f64 {
        if self.standard_error > 0.0 {
            student::two_sided_p(self.effect / self.standard_error, self.df)
        } else if self.effect == 0.0 {
            1.0
        } else {
            0.0
        }
    }
}

/// Fits the model to at least three rounds of finite values in time order. `quantum` is the
/// smallest step that the values can make, 0 if they have none.
pub(super) fn fit(rounds: &[Observation], quantum: f64) -> Fit {
    let n = rounds.len();
    let runs = Runs::of(rounds);
    let mut effect = median_of(&mut rounds.iter().map(Observation::log_ratio).collect::<Vec<_>>());
    let mut pace = 0.0;
    let mut level = running_median(&runs.without(effect, pace));
    let floor = (quantum / 2.0).max(1e-7);
    let penalty = 1.0 / STEP_VARIANCE;
    let mut scale = floor;
    let mut about = vec![About::default(); 2 * n];
    let mut solved = Solved::default();
    for _ in 0..ITERATIONS {
        let errors = runs.errors(&level, effect, pace);
        scale = (SCALE_CORRECTION * spread(&errors)).max(floor);
        let weights: Vec<f64> =
            errors.iter().map(|e| (NU + 1.0) / (NU + (e / scale).powi(2))).collect();
        let smooth = Smoother::new(&weights, penalty);
        let [of_values, of_design, of_pace] =
            smooth.solve([&runs.values, &runs.design, &runs.pace]);
        for (j, about) in about.iter_mut().enumerate() {
            *about = About {
                value: weights[j] * (runs.values[j] - of_values[j]),
                design: weights[j] * (runs.design[j] - of_design[j]),
                pace: weights[j] * (runs.pace[j] - of_pace[j]),
                pace_alone: runs.pace[j] - of_pace[j],
            };
        }
        let Some(next) = Solved::of(&runs, &about) else { break };
        solved = next;
        (effect, pace) = (solved.effect, solved.pace);
        for (j, level) in level.iter_mut().enumerate() {
            *level = of_values[j] - effect * of_design[j] - pace * of_pace[j];
        }
    }
    let unexplained: Vec<f64> = (runs.design.iter().zip(&about))
        .map(|(z, about)| z - solved.explained * about.pace_alone)
        .collect();
    let score = |j: usize| {
        let About { value, design, pace: of_pace, .. } = about[j];
        unexplained[j] * (value - effect * design - pace * of_pace)
    };
    // A round that tells much of the pace lies too close to the fit: HC2 (MacKinnon and White 1985, J. of
    // Econometrics 29).
    let told = |j: usize| about[j].pace_alone * about[j].pace;
    let told_by_all: f64 = (0..2 * n).map(told).sum();
    let squares: Vec<f64> = (0..n)
        .map(|i| {
            let [first, second] = [2 * i, 2 * i + 1];
            let leverage = if solved.explained == 0.0 {
                0.0
            } else {
                ((told(first) + told(second)) / told_by_all).clamp(0.0, 0.5)
            };
            (score(first) + score(second)).powi(2) / (1.0 - leverage)
        })
        .collect();
    let variance: f64 = squares.iter().sum();
    let errors = runs.errors(&level, effect, pace);
    let curvature = curvature(&errors, &unexplained, scale, penalty);
    let count = n as f64;
    let taken = if solved.is_paced { 1.0 } else { 0.0 };
    let df = count - 2.0 - taken;
    let inflation = VARIANCE_INFLATION * count / (count - 2.5 - taken);
    let standard_error = (inflation * variance).sqrt() / curvature;
    if standard_error < ROUNDING {
        // No noise at all: every round shows the same ratio, which the fit only blurs.
        let mut ratios: Vec<f64> =
            rounds.iter().map(|round| round.at_one_pace(pace).log_ratio()).collect();
        let effect = median_of(&mut ratios);
        return Fit { effect, standard_error: 0.0, df, df_of_error: df, pace };
    }
    // Twice the square of the variance over its own variance, by the fourth moments of the scores.
    let fourth: f64 = squares.iter().map(|square| square.powi(2)).sum();
    let moments = 2.0 / (fourth / variance.powi(2) - count.recip()).max(f64::MIN_POSITIVE);
    let df_of_error = ERROR_EFFICIENCY * moments.min(df);
    Fit { effect, standard_error, df, df_of_error, pace }
}

/// A run's value, design and pace about their levels, times its weight.
#[derive(Debug, Clone, Copy, Default)]
struct About {
    value: f64,
    design: f64,
    pace: f64,
    /// The pace without the weight.
    pace_alone: f64,
}

/// The solution of the normal equations.
#[derive(Debug, Clone, Copy, Default)]
struct Solved {
    effect: f64,
    pace: f64,
    /// What the pace explains of the design, by chance.
    explained: f64,
    /// Whether there was a pace to go by.
    is_paced: bool,
}

impl Solved {
    /// Solves for the effect and the share of the pace; `None` where nothing tells the subjects apart.
    fn of(runs: &Runs, about: &[About]) -> Option<Self> {
        let sum = |of: &[f64], pick: fn(&About) -> f64| -> f64 {
            of.iter().zip(about).map(|(x, about)| x * pick(about)).sum()
        };
        let information = sum(&runs.design, |about| about.design);
        if information <= 1e-12 {
            return None;
        }
        let along = sum(&runs.design, |about| about.value);
        let paces = sum(&runs.pace, |about| about.pace);
        let alone = Self { effect: along / information, ..Self::default() };
        if paces <= LEAST_PACE {
            return Some(alone);
        }
        let shared = sum(&runs.design, |about| about.pace);
        let left = information - shared * shared / paces;
        if left <= 1e-3 * information {
            // The subjects ran at two paces, so that nobody can tell which it was.
            return Some(alone);
        }
        let along_pace = sum(&runs.pace, |about| about.value);
        let free = (along_pace - along * shared / information) / (paces * left / information);
        let pace = free.clamp(0.0, 1.0);
        Some(Self {
            effect: (along - pace * shared) / information,
            pace,
            explained: if pace > 0.0 && pace < 1.0 { shared / paces } else { 0.0 },
            is_paced: true,
        })
    }
}

/// Slope of the summed score at the fit, with the level profiled out. Runs far out in the tails
/// have negative curvature; it is floored so that no single run can undo the others.
fn curvature(errors: &[f64], design: &[f64], scale: f64, penalty: f64) -> f64 {
    const LEAST_WEIGHT: f64 = 0.02;
    const LEAST_SHARE: f64 = 0.3;
    let raw: Vec<f64> = errors
        .iter()
        .map(|e| {
            let square = (e / scale).powi(2);
            (NU + 1.0) * (NU - square) / (NU + square).powi(2)
        })
        .collect();
    let weights: Vec<f64> = raw.iter().map(|w| w.max(LEAST_WEIGHT)).collect();
    let [smooth] = Smoother::new(&weights, penalty).solve([design]);
    let slope: f64 =
        design.iter().zip(&weights).zip(&smooth).map(|((z, w), x)| z * w * (z - x)).sum();
    let kept = raw.iter().sum::<f64>() / weights.iter().sum::<f64>();
    slope * kept.max(LEAST_SHARE)
}

/// The runs in time order.
struct Runs {
    values: Vec<f64>,
    design: Vec<f64>,
    pace: Vec<f64>,
}

impl Runs {
    fn of(rounds: &[Observation]) -> Self {
        let mut runs = Self {
            values: Vec::with_capacity(2 * rounds.len()),
            design: Vec::with_capacity(2 * rounds.len()),
            pace: Vec::with_capacity(2 * rounds.len()),
        };
        for round in rounds {
            let [of_baseline, of_candidate] = round.pace;
            let mut pair =
                [(round.baseline, -0.5, of_baseline), (round.candidate, 0.5, of_candidate)];
            if round.candidate_first {
                pair.swap(0, 1);
            }
            for (value, design, pace) in pair {
                runs.values.push(value);
                runs.design.push(design);
                runs.pace.push(pace);
            }
        }
        runs
    }

    fn without(&self, effect: f64, pace: f64) -> Vec<f64> {
        let explained = self.design.iter().zip(&self.pace).map(|(z, x)| effect * z + pace * x);
        self.values.iter().zip(explained).map(|(y, explained)| y - explained).collect()
    }

    fn errors(&self, level: &[f64], effect: f64, pace: f64) -> Vec<f64> {
        self.without(effect, pace).iter().zip(level).map(|(u, level)| u - level).collect()
    }
}

/// The smoother of a random walk: solves `(W + penalty L) x = W b` with the Laplacian `L` of a
/// path, which is tridiagonal; it is eliminated once for all `b`.
struct Smoother<'a> {
    weights: &'a [f64],
    penalty: f64,
    inverse_pivots: Vec<f64>,
}

impl<'a> Smoother<'a> {
    fn new(weights: &'a [f64], penalty: f64) -> Self {
        let n = weights.len();
        let mut inverse_pivots: Vec<f64> = Vec::with_capacity(n);
        for (j, weight) in weights.iter().enumerate() {
            let ends = usize::from(j == 0) + usize::from(j + 1 == n);
            let diagonal = weight + penalty * (2 - ends) as f64;
            let eliminated =
                inverse_pivots.last().map_or(0.0, |inverse| penalty * penalty * inverse);
            inverse_pivots.push((diagonal - eliminated).recip());
        }
        Self { weights, penalty, inverse_pivots }
    }

    /// Solves for several `b` side by side, so that their chains of dependent steps overlap.
    fn solve<const K: usize>(&self, values: [&[f64]; K]) -> [Vec<f64>; K] {
        let n = self.weights.len();
        let mut x: [Vec<f64>; K] = std::array::from_fn(|_| vec![0.0; n]);
        let mut last = [0.0; K];
        for j in 0..n {
            for k in 0..K {
                let sum = self.weights[j] * values[k][j] + self.penalty * last[k];
                last[k] = sum * self.inverse_pivots[j];
                x[k][j] = last[k];
            }
        }
        for j in (0..n - 1).rev() {
            let factor = self.penalty * self.inverse_pivots[j];
            for k in 0..K {
                last[k] = x[k][j] + factor * last[k];
                x[k][j] = last[k];
            }
        }
        x
    }
}

/// Scale of the errors: the median absolute error, backed by the upper quartile so that many equal
/// values do not make it vanish, and by the mean where even that does.
fn spread(errors: &[f64]) -> f64 {
    let mut absolute: Vec<f64> = errors.iter().map(|e| e.abs()).collect();
    let n = absolute.len();
    let above = place((0.75 * (n - 1) as f64).round());
    // The number of runs is even and at least 6, so that both middle values lie below the quartile.
    let (lower, &mut quartile, _) = absolute.select_nth_unstable_by(above, f64::total_cmp);
    let (lowest, &mut upper, _) = lower.select_nth_unstable_by(n / 2, f64::total_cmp);
    let middle = 0.5 * (upper + lowest.iter().copied().fold(0.0, f64::max));
    let scale = (1.4826 * middle).max(0.5 * quartile / 1.1503);
    let root_mean_square = (errors.iter().map(|e| e * e).sum::<f64>() / n as f64).sqrt();
    if scale <= 1e-3 * root_mean_square {
        // sqrt(pi / 2) makes the mean absolute error of a normal distribution its deviation.
        1.2533 * absolute.iter().sum::<f64>() / n as f64
    } else {
        scale
    }
}

/// Median over windows of five, reflected at the ends: the level to start from.
fn running_median(values: &[f64]) -> Vec<f64> {
    let n = values.len();
    let reflected = |index: usize, offset: usize| -> f64 {
        let position = index + offset;
        // Two places to the left are offset 0: the position is shifted by two.
        let mirrored = position.abs_diff(2);
        if mirrored < n { values[mirrored] } else { values[2 * (n - 1) - mirrored] }
    };
    (0..n)
        .map(|index| {
            median_of(&mut (0..5).map(|offset| reflected(index, offset)).collect::<Vec<_>>())
        })
        .collect()
}
