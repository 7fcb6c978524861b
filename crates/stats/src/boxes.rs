//! The five figures of a box plot: quartiles, and whiskers to the farthest values within one and a half times their
//! distance; Tukey, "Exploratory Data Analysis" (1977), section 2D, with quartiles of type 7 ([`crate::quantile`]).

use crate::Sample;
use crate::quantile::quantile;

/// What a box plot draws.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BoxFigures {
    /// End of the lower whisker.
    pub low: f64,
    /// Lower quartile, median and upper quartile.
    pub quartiles: [f64; 3],
    /// End of the upper whisker.
    pub high: f64,
}

impl BoxFigures {
    /// Returns those of a sample.
    pub fn of(sample: &Sample) -> Self {
        let quartiles = [0.25, 0.5, 0.75].map(|p| quantile(sample, p));
        let reach = 1.5 * (quartiles[2] - quartiles[0]);
        let inside = |value: &f64| (quartiles[0] - reach..=quartiles[2] + reach).contains(value);
        let within = || sample.values().iter().copied().filter(inside);
        Self {
            low: within().fold(quartiles[0], f64::min),
            quartiles,
            high: within().fold(quartiles[2], f64::max),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whiskers_end_at_values_and_leave_out_what_is_far() {
        let values = vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 40.0];
        let figures = BoxFigures::of(&Sample::new(values).unwrap());
        assert_eq!(figures, BoxFigures { low: 1.0, quartiles: [3.0, 5.0, 7.0], high: 8.0 });
    }
}
