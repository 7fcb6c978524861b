//! Two normal modes of equal width, fitted by expectation-maximisation from several starts.
//!
//! Equal widths keep the likelihood bounded: with free widths one mode can shrink onto a single
//! value. Dempster, Laird and Rubin, "Maximum Likelihood from Incomplete Data via the EM
//! Algorithm", JRSS B 39 (1977).

use crate::whole::place;

/// Shares of the values that the lower mode starts with.
const STARTS: [f64; 5] = [0.15, 0.3, 0.5, 0.7, 0.85];

/// Steps from each start: the likelihood has settled to well under 0.1 nats for modes that matter.
const STEPS: usize = 60;

/// Least width of a mode, in standard deviations of the sample.
const LEAST_WIDTH: f64 = 0.02;

/// The fit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct TwoModes {
    pub(crate) lower: f64,
    pub(crate) upper: f64,
    pub(crate) upper_share: f64,
    pub(crate) width: f64,
    pub(crate) log_likelihood: f64,
}

impl TwoModes {
    /// Fits `sorted` values with standard deviation near 1.
    pub(crate) fn fit(sorted: &[f64]) -> Self {
        let fits = STARTS.iter().map(|&share| {
            let mut fit = Self::start(sorted, share);
            (0..STEPS).for_each(|_| fit.step(sorted));
            fit.log_likelihood = fit.log_likelihood(sorted);
            fit
        });
        let better = |a: Self, b: Self| if b.log_likelihood > a.log_likelihood { b } else { a };
        fits.reduce(better).expect("there are starts")
    }

    /// Returns the value that is equally likely to come from either mode.
    pub(crate) fn split(&self) -> f64 {
        let odds = ((1.0 - self.upper_share) / self.upper_share).ln();
        let split = f64::midpoint(self.lower, self.upper)
            + odds * self.width * self.width / (self.upper - self.lower);
        split.clamp(self.lower, self.upper)
    }

    fn start(sorted: &[f64], share: f64) -> Self {
        let n = sorted.len();
        let (low, high) = sorted.split_at(place(share * n as f64).clamp(1, n - 1));
        let mean = |part: &[f64]| part.iter().sum::<f64>() / part.len() as f64;
        let (lower, upper) = (mean(low), mean(high));
        let squares =
            |part: &[f64], centre: f64| part.iter().map(|x| (x - centre).powi(2)).sum::<f64>();
        let width =
            ((squares(low, lower) + squares(high, upper)) / n as f64).sqrt().max(LEAST_WIDTH);
        Self {
            lower,
            upper,
            upper_share: high.len() as f64 / n as f64,
            width,
            log_likelihood: f64::NEG_INFINITY,
        }
    }

    fn step(&mut self, values: &[f64]) {
        let n = values.len() as f64;
        let (mut weight, mut upper, mut lower, mut square) = (0.0, 0.0, 0.0, 0.0);
        for &x in values {
            let share = 1.0 / (1.0 + self.odds_of_lower(x).exp());
            weight += share;
            upper += share * x;
            lower += (1.0 - share) * x;
            square += x * x;
        }
        let weight = weight.clamp(1.0, n - 1.0);
        (self.lower, self.upper, self.upper_share) =
            (lower / (n - weight), upper / weight, weight / n);
        let between = (n - weight) * self.lower * self.lower + weight * self.upper * self.upper;
        self.width = ((square - between).max(0.0) / n).sqrt().max(LEAST_WIDTH);
    }

    /// Returns the log of the odds that `x` comes from the lower mode.
    fn odds_of_lower(&self, x: f64) -> f64 {
        let (a, b) = ((x - self.lower) / self.width, (x - self.upper) / self.width);
        ((1.0 - self.upper_share) / self.upper_share).ln() + (b * b - a * a) / 2.0
    }

    fn log_likelihood(&self, values: &[f64]) -> f64 {
        let constant = self.upper_share.ln() - self.width.ln() - std::f64::consts::TAU.ln() / 2.0;
        let density = |&x: &f64| {
            let (odds, b) = (self.odds_of_lower(x), (x - self.upper) / self.width);
            constant - b * b / 2.0 + odds.max(0.0) + (-odds.abs()).exp().ln_1p()
        };
        values.iter().map(density).sum()
    }
}
