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
#![expect(clippy::cast_possible_truncation, reason = "a window has a few hundred values")]

use std::sync::LazyLock;

use crate::normal;

/// Cells of the table, many more than there are different shares of a window.
const CELLS: usize = 2048;

/// Bits of the fraction of a cell.
const FRACTION: u32 = 20;

/// Quantiles at the places i / `CELLS`; the first and the last a quarter of a cell inside.
static TABLE: LazyLock<Vec<f64>> = LazyLock::new(|| {
    let cells = CELLS as f64;
    (0..=CELLS)
        .map(|cell| normal::quantile((cell as f64).clamp(0.25, cells - 0.25) / cells))
        .collect()
});

/// The normal scores among a number of values; take them once for many values.
#[derive(Clone, Copy)]
pub(super) struct Scores {
    table: &'static [f64],
    /// Cells for each half of a value below, in units of 2^-20.
    step: u32,
}

impl Scores {
    /// Returns the scores of a value from outside of `n` others.
    pub(super) fn among(n: usize) -> Self {
        Self { table: &TABLE, step: (CELLS << FRACTION) as u32 / (2 * n as u32 + 2) }
    }

    /// Returns the score of a value of which `twice_below` / 2 of the others are below it, a tie counting one half.
    pub(super) fn of(self, twice_below: usize) -> f64 {
        self.at((twice_below as u32 + 1) * self.step + HALF)
    }

    /// Calls `each` with values in ascending order, of which no two are equal, and with their scores among those that count;
    /// it says which do, and what the others are called with means nothing.
    pub(super) fn ascending<T>(self, all: &[T], mut each: impl FnMut(&T, f64) -> bool) {
        let mut cell = self.step + HALF;
        for one in all {
            let is_counted = each(one, self.at(cell));
            cell += 2 * self.step * u32::from(is_counted);
        }
    }

    fn at(self, cell: u32) -> f64 {
        self.table[((cell >> FRACTION) as usize).min(CELLS)]
    }
}

/// Half a cell.
const HALF: u32 = 1 << (FRACTION - 1);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_are_normal_quantiles() {
        let scores = Scores::among(100);
        assert_eq!(scores.of(100), 0.0);
        for below in [0, 1, 30, 77, 100] {
            let exact = normal::quantile((below as f64 + 0.5) / 101.0);
            let score = scores.of(2 * below);
            assert!((score - exact).abs() < 0.02, "{below} below: {score} is not {exact}");
            assert_eq!(score, -scores.of(200 - 2 * below), "the two sides mirror each other");
        }
    }
}
