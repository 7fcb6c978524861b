//! The logarithm of a ratio, with what is known of its error.

use becalm_stats::student;

use super::super::noise::Noise;
use super::CONFIDENCE;

/// So many standard errors have a p value above 5 % with any degrees of freedom: with infinitely many, 1.96 have 5 %.
const NEVER: f64 = 1.95;

/// What is known of the logarithm of a ratio.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Estimate {
    /// The logarithm.
    pub(super) log: f64,
    /// Its standard error and degrees of freedom; `None` if nothing tells the noise.
    error: Option<(f64, f64)>,
}

impl Estimate {
    /// Compares a value of one side with that of the other, from the noise of both, or else from errors within entries.
    pub(super) fn of(
        log: f64,
        noise: Option<Noise>,
        shares: f64,
        within: [Option<(f64, u32)>; 2],
    ) -> Self {
        let error = match (noise, within) {
            (Some(noise), _) => Some((noise.deviation * shares.sqrt(), noise.degrees)),
            (None, [Some((one, n)), Some((other, m))]) => {
                Some((one.hypot(other), f64::from(n + m - 2)))
            }
            _ => None,
        };
        Self { log, error }
    }

    /// Returns the p value of no difference; 1 for what is above 5 % in any case, which is most.
    pub(super) fn p(self) -> f64 {
        match self.error {
            None => 1.0,
            Some(_) if self.log == 0.0 => 1.0,
            Some((error, _)) if error <= 0.0 => 0.0,
            Some((error, _)) if self.log.abs() < NEVER * error => 1.0,
            Some((error, degrees)) => student::two_sided_p(self.log / error, degrees),
        }
    }

    /// Returns the ends of the interval, from the two-sided quantile of Student's t by degrees of freedom.
    pub(super) fn interval(self, quantile: impl FnOnce(f64) -> f64) -> Option<[f64; 2]> {
        let (error, degrees) = self.error?;
        let reach = if error > 0.0 { error * quantile(degrees) } else { 0.0 };
        Some([self.log - reach, self.log + reach])
    }
}

/// Returns the quantile of Student's t between whose two sides the confidence lies.
pub(super) fn quantile(degrees: f64) -> f64 {
    student::two_sided_quantile(CONFIDENCE, degrees)
}

#[cfg(test)]
mod tests {
    use becalm_stats::Rng;
    use becalm_stats::center::median_of;

    use super::*;

    /// How often the interval of a ratio of 1 has 1, with so many earlier values and values of each side.
    fn covered(earlier: usize, each: usize, rng: &mut Rng) -> f64 {
        const TIMES: usize = 4000;
        let mut has = 0;
        for _ in 0..TIMES {
            let past: Vec<f64> = (0..earlier).map(|_| (0.03 * rng.normal()).exp()).collect();
            let noise = Noise::of(&past);
            let mut side = || {
                let mut values: Vec<f64> = (0..each).map(|_| 0.03 * rng.normal()).collect();
                median_of(&mut values)
            };
            let log = side() - side();
            let share = if each < 3 { 1.0 } else { std::f64::consts::FRAC_PI_2 } / each as f64;
            let [low, high] =
                Estimate::of(log, noise, 2.0 * share, [None; 2]).interval(quantile).unwrap();
            has += usize::from(low <= 0.0 && high >= 0.0);
        }
        has as f64 / TIMES as f64
    }

    #[test]
    fn intervals_have_their_confidence_for_young_and_old_series() {
        let mut rng = Rng::new(17);
        for (earlier, each) in [(6, 1), (12, 1), (30, 1), (60, 1), (60, 5), (60, 10)] {
            let share = covered(earlier, each, &mut rng);
            assert!((0.935..0.995).contains(&share), "{earlier} earlier, {each} each: {share}");
        }
    }

    #[test]
    fn errors_within_entries_serve_where_there_is_no_history_and_exact_values_need_none() {
        let young = Estimate::of(0.1, None, 2.0, [Some((0.01, 10)), Some((0.01, 10))]);
        let [low, high] = young.interval(quantile).unwrap();
        assert!(low > 0.06 && high < 0.14, "{low} {high}");
        let unknown = Estimate::of(0.1, None, 2.0, [None, Some((0.01, 10))]);
        assert_eq!((unknown.interval(quantile), unknown.p()), (None, 1.0));
        let exact = Estimate::of(0.1, Some(Noise { deviation: 0.0, degrees: 1.0 }), 2.0, [None; 2]);
        assert_eq!((exact.interval(quantile), exact.p()), (Some([0.1, 0.1]), 0.0));
    }

    #[test]
    fn what_no_correction_could_reject_is_not_computed() {
        let noise = |degrees| Noise { deviation: 1.0, degrees };
        for degrees in [1.0, 3.0, 18.0, 1e9] {
            let p = |log| Estimate::of(log, Some(noise(degrees)), 1.0, [None; 2]).p();
            assert_eq!(p(1.949).to_bits(), 1.0_f64.to_bits());
            assert_eq!(p(-1.951).to_bits(), student::two_sided_p(-1.951, degrees).to_bits());
            assert!(student::two_sided_p(NEVER, degrees) > 1.0 - CONFIDENCE);
        }
    }
}
