//! Normal scores: where a value stands among others, as a normal quantile.
//!
//! A value with share u of a reference below it (ties count half) scores z(u), the normal quantile of
//! u. For a value from the same distribution as n others, u = (below + equal / 2 + 1 / 2) / (n + 1) is
//! all but uniform whatever that distribution is, so that sums of scores are all but normal for skewed,
//! heavy-tailed and bimodal noise alike, and one value alone never weighs more than z(1 - 1 / (2 n +
//! 2)): 2.6 among 100.
//!
//! Van der Waerden, "Order Tests for the Two-Sample Problem and their Power", Indagationes
//! Mathematicae 14 (1952); Chernoff and Savage (1958) on their efficiency, which is never below that
//! of the t test.

use std::sync::LazyLock;

use crate::normal;
use crate::whole::place;

/// Cells of the table, many more than there are different shares of a window.
const CELLS: usize = 2048;

/// Quantiles at the places i / `CELLS`; the first and the last a quarter of a cell inside.
static TABLE: LazyLock<Vec<f64>> = LazyLock::new(|| {
    let cells = CELLS as f64;
    (0..=CELLS)
        .map(|cell| normal::quantile((cell as f64).clamp(0.25, cells - 0.25) / cells))
        .collect()
});

/// The table of normal scores; take it once for many values.
#[derive(Clone, Copy)]
pub(super) struct Scores(&'static [f64]);

impl Scores {
    /// Returns the table, computing it when first asked.
    pub(super) fn get() -> Self {
        Self(&TABLE)
    }

    /// Returns the score of a value from outside of `n` others, of which `twice_below` / 2 are below
    /// it, a tie counting one half.
    pub(super) fn outside(self, twice_below: usize, n: usize) -> f64 {
        self.at((twice_below + 1) as f64 / (2 * n + 2) as f64)
    }

    fn at(self, share: f64) -> f64 {
        self.0[place(share * CELLS as f64 + 0.5)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_are_normal_quantiles() {
        let scores = Scores::get();
        assert_eq!(scores.outside(100, 100), 0.0);
        for below in [0, 1, 30, 77, 100] {
            let exact = normal::quantile((below as f64 + 0.5) / 101.0);
            let score = scores.outside(2 * below, 100);
            assert!((score - exact).abs() < 0.02, "{below} below: {score} is not {exact}");
            assert_eq!(
                score,
                -scores.outside(200 - 2 * below, 100),
                "the two sides mirror each other"
            );
        }
    }
}
