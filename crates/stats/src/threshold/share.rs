//! A share whose hits come in clusters, from batches of a stretch of time.
//!
//! ```text
//! p   = sum k_j / sum n_j                                     k_j hits among n_j, in batch j of m
//! phi = sum (k_j - p n_j)^2 / ((m - 1) mean(n) p (1 - p))     at least 1
//! ```
//!
//! Who waits long in a queue waits beside others who do, so `n` requests say as much as `n / phi` that are independent:
//! `phi` is the dispersion of the quasi-likelihood (Wedderburn 1974, *Quasi-likelihood functions, generalized linear
//! models, and the Gauss-Newton method*, Biometrika 61), here from the means of batches (Law and Carson 1979, *A
//! sequential procedure for determining the length of a steady-state simulation*, Operations Research 27). Assumed is that
//! batches are much longer than the clusters; where they are not, `phi` is too small.

use crate::normal;

/// Hits among so many, and how they cluster.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Share {
    /// How many hits.
    pub hits: f64,
    /// Among how many.
    pub total: f64,
    /// How many neighbours say as much as one alone; at least 1.
    pub dispersion: f64,
}

impl Share {
    /// Adds up batches of hits and totals.
    pub fn of_batches(batches: &[(u64, u64)]) -> Self {
        let hits: f64 = batches.iter().map(|(hits, _)| *hits as f64).sum();
        let total: f64 = batches.iter().map(|(_, total)| *total as f64).sum();
        let (p, batches_1) = (hits / total.max(1.0), batches.len().saturating_sub(1) as f64);
        let expected = batches_1 * total / batches.len().max(1) as f64 * p * (1.0 - p);
        let squares: f64 =
            batches.iter().map(|(hits, total)| (*hits as f64 - p * *total as f64).powi(2)).sum();
        let dispersion = if expected > 0.0 { (squares / expected).max(1.0) } else { 1.0 };
        Self { hits, total, dispersion }
    }

    /// Returns the share; 0 of nothing.
    pub fn value(&self) -> f64 {
        if self.total > 0.0 { self.hits / self.total } else { 0.0 }
    }

    /// Returns the two shares between which the ranks of a quantile `q` of as many values lie at this confidence, if they
    /// cluster as these do: quantiles at these shares are the interval of the quantile.
    pub fn ranks(&self, q: f64, confidence: f64) -> (f64, f64) {
        let z = normal::quantile(0.5 + confidence / 2.0);
        let error = z * (q * (1.0 - q) * self.dispersion / self.total.max(1.0)).sqrt();
        ((q - error).max(0.0), (q + error).min(1.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Rng;

    #[test]
    fn hits_alone_have_no_dispersion_and_hits_in_pairs_have_two() {
        let mut rng = Rng::new(5);
        let mut batches = |cluster: u64| -> Vec<(u64, u64)> {
            let draw =
                |rng: &mut Rng| (0..1000 / cluster).filter(|_| rng.uniform() < 0.1).count() as u64;
            (0..400).map(|_| (cluster * draw(&mut rng), 1000)).collect()
        };
        for cluster in [1, 2, 10] {
            let share = Share::of_batches(&batches(cluster));
            let off = share.dispersion / cluster as f64;
            assert!((off - 1.0).abs() < 0.15, "{cluster}: {share:?}");
            assert!((share.value() - 0.1).abs() < 0.01);
        }
    }

    #[test]
    fn nothing_and_everything_are_shares() {
        assert_eq!(Share::of_batches(&[]).value(), 0.0);
        let none = Share::of_batches(&[(0, 10), (0, 10)]);
        let all = Share::of_batches(&[(10, 10), (10, 10)]);
        assert_eq!((none.dispersion, none.value()), (1.0, 0.0));
        assert_eq!((all.dispersion, all.value()), (1.0, 1.0));
    }

    #[test]
    fn the_ranks_of_a_quantile_lie_around_it() {
        let share = Share { hits: 0.0, total: 10_000.0, dispersion: 4.0 };
        let (low, high) = share.ranks(0.99, 0.95);
        assert!(
            (low - (0.99 - 0.0039)).abs() < 1e-4 && (high - 0.9939).abs() < 1e-4,
            "{low} {high}"
        );
        assert_eq!(Share { total: 10.0, ..share }.ranks(0.99, 0.95).1, 1.0);
    }
}
