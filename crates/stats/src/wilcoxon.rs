//! Wilcoxon's signed-rank test: are differences symmetric about 0?
//!
//! Zeros are dropped, |d| ranked, W = sum of the ranks of the positive ones. Exact for at most 50
//! differences without zeros and ties; else normal with variance n (n + 1)(2n + 1) / 24 - sum (t^3
//! - t) / 48 and, as SciPy's default, no continuity correction.
//!
//! Wilcoxon, "Individual Comparisons by Ranking Methods", Biometrics Bulletin 1 (1945). Assumes
//! independent differences, symmetric when there is no effect.

use crate::p_method::PMethod;
use crate::rank::Ranks;
use crate::{Sample, Violation, normal};

/// Number of differences up to which p is exact, when there are neither ties nor zeros.
pub const EXACT_LIMIT: usize = 50;

/// Result of the signed-rank test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Wilcoxon {
    /// Sum of the ranks of the positive differences.
    pub positive: f64,
    /// Sum of the ranks of the negative differences.
    pub negative: f64,
    /// Two-sided probability.
    pub p: f64,
    /// How p was computed.
    pub method: PMethod,
}

/// Tests differences against 0; at least one must differ from 0.
pub fn wilcoxon(differences: &Sample) -> Result<Wilcoxon, Violation> {
    let kept: Vec<f64> = differences.values().iter().copied().filter(|&d| d != 0.0).collect();
    if kept.is_empty() {
        return Err(Violation::NoSpread);
    }
    let ranks = Ranks::of(&kept.iter().map(|d| d.abs()).collect::<Vec<_>>());
    let n = kept.len();
    let nf = n as f64;
    let total = nf * (nf + 1.0) / 2.0;
    let positive: f64 =
        kept.iter().zip(&ranks.ranks).filter(|(d, _)| **d > 0.0).map(|(_, r)| r).sum();
    let negative = total - positive;
    let zeros = n < differences.len();
    let (p, method) = if n <= EXACT_LIMIT && !zeros && !ranks.tied() {
        (2.0 * exact_lower_tail(n, positive.min(negative)), PMethod::Exact)
    } else {
        let variance = nf * (nf + 1.0) * (2.0 * nf + 1.0) / 24.0 - ranks.tie_term() / 48.0;
        (normal::two_sided_p((positive - total / 2.0) / variance.sqrt()), PMethod::Normal)
    };
    Ok(Wilcoxon { positive, negative, p: p.min(1.0), method })
}

/// Returns P(W <= w) when each of the ranks 1..=n is positive with probability one half.
fn exact_lower_tail(n: usize, w: f64) -> f64 {
    let size = n * (n + 1) / 2 + 1;
    let mut share = vec![0.0; size];
    share[0] = 1.0;
    for rank in 1..=n {
        for at in (0..size).rev() {
            let with = if at >= rank { share[at - rank] } else { 0.0 };
            share[at] = f64::midpoint(share[at], with);
        }
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "an integer between 0 and size"
    )]
    let w = w as usize;
    share[..=w].iter().sum()
}
