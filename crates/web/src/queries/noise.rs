//! How much values of a series differ from one entry to the next, although nothing changed.
//!
//! Of a series, the differences of the logarithms of neighbouring values: their median absolute size, over 0.6745 and the
//! root of 2, is the standard deviation of one value, if they are normal. A step is one difference and does not move the
//! median; drift that is slower than an entry does not count. The median absolute size of n differences, which overlap, has
//! about three tenths of n degrees of freedom: the tests hold intervals that are made of it to their confidence.
//!
//! Noise that lasts longer than an entry is not in it: two entries far from each other differ by more.

use becalm_model::wire::WebNoiseDocument;
use becalm_stats::Sample;
use becalm_stats::center::median_of;
use becalm_stats::quantile::quantile;

use crate::kept::Line;

/// Values from which the noise of a series is known.
const FEWEST: usize = 6;

/// The last values that count.
const LAST: usize = 60;

/// Entries of one window.
const WINDOW: usize = 20;

/// Windows that are shown.
const WINDOWS: usize = 24;

/// Median of the absolute value of a standard normal variable.
const MEDIAN_OF_NORMAL: f64 = 0.674_489_750_196_081_7;

/// Degrees of freedom of each difference.
const EACH: f64 = 0.3;

/// The noise of a series.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Noise {
    /// Standard deviation of the logarithm of one value.
    pub(crate) deviation: f64,
    /// How well it is known, in degrees of freedom.
    pub(crate) degrees: f64,
}

impl Noise {
    /// Finds the noise of the last values; `None` if these are too few, or not all above 0.
    pub(crate) fn of(values: &[f64]) -> Option<Self> {
        let values = &values[values.len().saturating_sub(LAST)..];
        if values.len() < FEWEST || !values.iter().all(|value| *value > 0.0 && value.is_finite()) {
            return None;
        }
        let mut sizes: Vec<f64> =
            values.windows(2).map(|two| (two[1] / two[0]).ln().abs()).collect();
        let degrees = EACH * sizes.len() as f64;
        let deviation = median_of(&mut sizes) / (MEDIAN_OF_NORMAL * std::f64::consts::SQRT_2);
        Some(Self { deviation, degrees })
    }

    /// Returns that of two series together.
    pub(crate) fn pooled(self, other: Self) -> Self {
        let degrees = self.degrees + other.degrees;
        let squares =
            self.degrees * self.deviation.powi(2) + other.degrees * other.deviation.powi(2);
        Self { deviation: (squares / degrees).sqrt(), degrees }
    }
}

/// The noise on a machine over time, collected series by series.
#[derive(Debug, Default)]
pub(crate) struct OverTime {
    /// Of each window of entries: when it began and ended, and the noise of each series.
    windows: Vec<(f64, f64, Vec<f64>)>,
}

impl OverTime {
    /// Adds a series of the machine.
    pub(crate) fn take(&mut self, line: Line<'_>) {
        let n = line.moments.len();
        let windows = n.div_ceil(WINDOW).min(WINDOWS);
        let first = n.saturating_sub(windows * WINDOW);
        if self.windows.is_empty() {
            let entries = line.moments[first..].chunks(WINDOW);
            self.windows = entries.map(|of| (of[0].at, of[of.len() - 1].at, Vec::new())).collect();
        }
        for (window, (_, _, noise)) in self.windows.iter_mut().enumerate() {
            let begin = first + window * WINDOW;
            let place = |at: usize| line.places.partition_point(|place| (*place as usize) < at);
            let values = &line.values[place(begin)..place(begin + WINDOW)];
            noise.extend(Noise::of(values).map(|noise| noise.deviation));
        }
    }

    /// Returns what was found, the oldest first.
    pub(crate) fn documents(self) -> Vec<WebNoiseDocument> {
        let document = |(from, until, noise): (f64, f64, Vec<f64>)| {
            let series = noise.len();
            let sample = Sample::new(noise).ok()?;
            let [middle, most] = [0.5, 0.9].map(|share| quantile(&sample, share));
            Some(WebNoiseDocument { from, until, series, middle, most })
        };
        self.windows.into_iter().filter_map(document).collect()
    }
}

#[cfg(test)]
mod tests {
    use becalm_stats::Rng;

    use super::*;

    #[test]
    fn a_step_is_no_noise_and_few_values_have_none() {
        let mut rng = Rng::new(3);
        let mut values: Vec<f64> = (0..60).map(|_| 5.0 * (0.02 * rng.normal()).exp()).collect();
        let quiet = Noise::of(&values).unwrap();
        assert!((0.012..0.03).contains(&quiet.deviation), "{quiet:?}");
        for value in &mut values[30..] {
            *value *= 3.0;
        }
        let stepped = Noise::of(&values).unwrap();
        assert!(stepped.deviation < 1.2 * quiet.deviation, "{stepped:?}");
        assert_eq!(Noise::of(&values[..5]), None);
        values[40] = 0.0;
        assert_eq!(Noise::of(&values), None);
        let same = Noise::of(&[2.0; 10]).unwrap();
        assert!(same.deviation == 0.0);
    }
}
