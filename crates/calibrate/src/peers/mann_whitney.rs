//! Mann and Whitney's test: is a value of one sample more often above a value of the other?
//!
//! U = (sum of the ranks of the first sample) - m (m + 1) / 2. Exact without ties when one sample
//! has at most 8 values, as `SciPy`'s `method="auto"`; else normal, with variance m n / 12 (N + 1 -
//! sum (t^3 - t) / (N (N - 1))) and continuity correction 1/2. Two-sided p is twice the smaller
//! tail, at most 1.
//!
//! Mann and Whitney, "On a Test of Whether one of Two Random Variables is Stochastically Larger
//! than the Other", Annals of Mathematical Statistics 18 (1947). Assumes independent values; not
//! for paired rounds.

use becalm_stats::rank::Ranks;
use becalm_stats::{Sample, normal};

/// Size of the smaller sample up to which p is exact, when there are no ties.
const EXACT_LIMIT: usize = 8;

/// Size of the larger sample up to which p is exact, so that the count of arrangements stays small.
const EXACT_LARGER_LIMIT: usize = 500;

/// Result of Mann and Whitney's test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MannWhitney {
    /// U of the first sample: pairs in which its value is larger, a tie counting one half.
    pub u: f64,
    /// Two-sided probability; 1 when all values are equal.
    pub p: f64,
    /// Whether p was counted over all arrangements, and not taken from the normal distribution.
    pub is_exact: bool,
    /// U / (m n): probability that a value of the first sample is the larger one.
    pub superiority: f64,
}

/// Compares two independent samples by ranks.
pub fn mann_whitney(a: &Sample, b: &Sample) -> MannWhitney {
    let (m, n) = (a.len(), b.len());
    let pooled: Vec<f64> = a.values().iter().chain(b.values()).copied().collect();
    let ranks = Ranks::of(&pooled);
    let (mf, nf) = (m as f64, n as f64);
    let u = ranks.ranks[..m].iter().sum::<f64>() - mf * (mf + 1.0) / 2.0;
    let larger = u.max(mf * nf - u);
    let tied = ranks.groups.iter().any(|&size| size > 1);
    let is_exact = m.min(n) <= EXACT_LIMIT && m.max(n) <= EXACT_LARGER_LIMIT && !tied;
    let p = if is_exact {
        2.0 * exact_upper_tail(m.min(n), m.max(n), larger)
    } else {
        let total = mf + nf;
        let tie_term: f64 = ranks.groups.iter().map(|&t| (t as f64).powi(3) - t as f64).sum();
        let variance = mf * nf / 12.0 * (total + 1.0 - tie_term / (total * (total - 1.0)));
        let distance = larger - mf * nf / 2.0 - 0.5;
        let tail =
            if variance > 0.0 { normal::upper_tail(distance / variance.sqrt()) } else { 1.0 };
        2.0 * tail
    };
    MannWhitney { u, p: p.min(1.0), is_exact, superiority: u / (mf * nf) }
}

/// Returns P(U >= u) over all arrangements of `m` and `n` different values, `m <= n`.
///
/// The number of arrangements with a given U is a coefficient of the Gaussian binomial coefficient,
/// the product of (1 - q^(n + i)) / (1 - q^i) for i = 1..m. Dividing by (n + i) / i at each step
/// keeps them probabilities.
fn exact_upper_tail(m: usize, n: usize, u: f64) -> f64 {
    let size = m * n + 1;
    let mut share = vec![0.0; size];
    share[0] = 1.0;
    for i in 1..=m {
        for at in (n + i..size).rev() {
            share[at] -= share[at - (n + i)];
        }
        for at in i..size {
            share[at] += share[at - i];
        }
        let scale = i as f64 / (n + i) as f64;
        for s in &mut share {
            *s *= scale;
        }
    }
    // U is symmetric about m n / 2: the upper tail is the lower one mirrored, which holds fewer
    // terms.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "an integer between 0 and m n"
    )]
    let mirrored = (m * n) - u as usize;
    share[..=mirrored].iter().sum::<f64>()
}
