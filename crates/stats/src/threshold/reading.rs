//! What one place says: the likelihood of its hits if the answer is so far away.

use super::clusters::log_likelihood;

/// Mean sizes of clusters that are considered, as powers of this.
const SIZE_RATIO: f64 = 3.0;

/// How many of them.
pub(super) const SIZES: usize = 7;

/// How far the line of log odds may be off, as a share of the distance from the permitted share: one standard deviation.
const BENT: f64 = 0.3;

/// The least of that; it only has to be more than nothing.
const LEAST: f64 = 1e-3;

/// How often hits are those of a disturbance.
const DISTURBED: f64 = 0.01;

/// Then the log odds are anywhere in a range of this width.
const ANYWHERE: f64 = 20.0;

/// The least probability of what hits are missing from.
const FLOOR: f64 = 1e-5;

/// Log odds beyond the permitted ones from which a reading says only that it is at least so many: ten times the odds.
const OVERLOAD: f64 = std::f64::consts::LN_10;

/// Log odds further away are as good as certain.
const FAR: f64 = 30.0;

/// Points to either side of 0 at which the likelihood is tabulated, denser where it bends.
const HALF: i32 = 100;

/// Points and weights of Gauss and Hermite for the standard normal distribution.
const NORMAL: [(f64, f64); 5] = [
    (-2.856_970_013_872_805_7, 0.011_257_411_327_720_69),
    (-1.355_626_179_974_265_8, 0.222_075_922_005_612_63),
    (0.0, 0.533_333_333_333_333_3),
    (1.355_626_179_974_265_8, 0.222_075_922_005_612_63),
    (2.856_970_013_872_805_7, 0.011_257_411_327_720_69),
];

/// The area below `exp(-z^2 / 2)`.
const SQRT_2_PI: f64 = 2.506_628_274_631_000_7;

/// Hits at a place that was tried.
#[derive(Debug, Clone, PartialEq)]
pub struct Reading {
    /// The place.
    pub at: f64,
    /// For each size of clusters the log likelihood over the distance in log odds.
    tables: Vec<Vec<f64>>,
}

impl Reading {
    /// Takes `hits` among `total` at a place, where a share of `permitted` is permitted.
    pub fn new(at: f64, hits: f64, total: f64, permitted: f64) -> Self {
        let away = |index: i32| {
            let share = f64::from(index) / f64::from(HALF);
            FAR * (share * share).copysign(share)
        };
        let counted = Counted { hits, total, centre: (permitted / (1.0 - permitted)).ln() };
        let tables = (0..SIZES)
            .map(|power| {
                let size = SIZE_RATIO.powi(i32::try_from(power).unwrap_or(0));
                (-HALF..=HALF).map(|index| counted.over_bends(away(index), size)).collect()
            })
            .collect();
        Self { at, tables }
    }

    /// Returns the log likelihood if the log odds are so far from the permitted ones, for clusters of a size.
    pub(super) fn log_likelihood(&self, away: f64, size: usize) -> f64 {
        let root = (away.abs() / FAR).min(1.0).sqrt().copysign(away);
        let place = root.mul_add(f64::from(HALF), f64::from(HALF));
        let table = &self.tables[size];
        let below = crate::whole::place(place).min(table.len() - 2);
        let within = place - below as f64;
        (table[below + 1] - table[below]).mul_add(within, table[below])
    }
}

struct Counted {
    hits: f64,
    total: f64,
    centre: f64,
}

impl Counted {
    /// Returns the log likelihood of the hits if their log odds are so far from the centre.
    fn at(&self, hits: f64, beyond: f64, size: f64) -> f64 {
        let share = 1.0 / (1.0 + (-beyond - self.centre).exp());
        log_likelihood(hits, share * self.total, size)
    }

    /// Returns the same if they are so far from it, give or take what the line is bent.
    fn over_bends(&self, away: f64, size: f64) -> f64 {
        let spread = (BENT * away).abs().max(LEAST);
        if self.hits <= 0.0 {
            let none = |beyond: f64| self.at(0.0, beyond, size).exp();
            return mean(away, spread, none).max(FLOOR).ln();
        }
        let share = 1.0 / (1.0 + (-OVERLOAD - self.centre).exp());
        if self.hits > share * self.total {
            let least = share * self.total;
            let best = self.at(least, OVERLOAD, size);
            let at_least = |beyond: f64| {
                if beyond >= OVERLOAD {
                    1.0
                } else {
                    (self.at(least, beyond, size) - best).exp().min(1.0)
                }
            };
            let usual = mean(away, spread, at_least);
            return (1.0 - DISTURBED).mul_add(usual, DISTURBED).ln();
        }
        // A normal distribution that is like the likelihood, and the product with that of the bends.
        let (hits, misses) = (self.hits + size, self.total - self.hits + size);
        let found = (hits / misses).ln() - self.centre;
        let error = (2.0 * size / hits).sqrt();
        let (a, b) = (error * error, spread * spread);
        let middle = (found * b + away * a) / (a + b);
        let width = error * spread / (a + b).sqrt();
        let best = self.at(self.hits, found, size);
        let each = NORMAL.map(|(z, weight)| {
            let beyond = z.mul_add(width, middle);
            let ratio = (z * z - ((beyond - away) / spread).powi(2)) / 2.0;
            weight * (self.at(self.hits, beyond, size) - best + ratio).exp()
        });
        let usual = each.iter().sum::<f64>() * width / spread;
        let anywhere = SQRT_2_PI * error / ANYWHERE;
        (1.0 - DISTURBED).mul_add(usual, DISTURBED * anywhere).ln() + best
    }
}

/// Returns the mean of a function over a normal distribution.
fn mean(centre: f64, spread: f64, of: impl Fn(f64) -> f64) -> f64 {
    NORMAL.map(|(z, weight)| weight * of(z.mul_add(spread, centre))).iter().sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(hits: f64, away: f64) -> f64 {
        Reading::new(0.0, hits, 2000.0, 0.01).log_likelihood(away, 1)
    }

    #[test]
    fn as_many_as_are_permitted_are_likeliest_at_the_answer() {
        assert!(at(20.0, 0.0) > at(20.0, 0.7) && at(20.0, 0.0) > at(20.0, -0.7));
    }

    #[test]
    fn none_says_only_that_it_is_at_most_so_many() {
        assert!((at(0.0, -5.0) - at(0.0, -20.0)).abs() < 0.3);
        assert!(at(0.0, -5.0) > at(0.0, 0.0) && at(0.0, 0.0) > at(0.0, 2.0));
    }

    #[test]
    fn an_overload_says_only_that_it_is_at_least_so_many() {
        assert!((at(1500.0, 8.0) - at(1500.0, 25.0)).abs() < 0.2);
        assert!(at(1500.0, 5.0) > at(1500.0, 0.0));
    }

    #[test]
    fn no_number_of_hits_is_impossible() {
        for hits in [1.0, 20.0, 150.0, 2000.0] {
            assert!(at(hits, -25.0) > at(hits, (hits / 20.0_f64).ln()) - 15.0, "{hits}");
        }
        assert!(at(0.0, 25.0).is_finite());
    }
}
