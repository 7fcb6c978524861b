//! What a split has to reach by the age of the level that it divides.
//!
//! A boundary is crossed by chance the more often the more often a series is asked about. A young level was asked about
//! few times, and a false change in it is as unlikely as a later one only if its boundary is nearer. So the errors that a
//! series of 500 values may have are spent evenly over its ages instead of nearly all on its last hundreds of values:
//! what is asked of a level grows with the number of its values.
//!
//! What makes a level grown depends on what is asked: a few values beside it say enough after 95, where most values are
//! equal it takes 210.
//!
//! Lan and DeMets, "Discrete Sequential Boundaries for Clinical Trials", Biometrika 70 (1983).

/// Values up to which a level is young, and from which on it is grown.
const USUAL: (f64, f64) = (108.0, 165.0);

/// The same where few values are on the shorter side.
const OF_FEW: (f64, f64) = (65.0, 95.0);

/// The same where most values are equal.
const COARSE: (f64, f64) = (150.0, 210.0);

/// How much nearer the boundary is in a young level, for few values and for more, and how much farther it is in a grown one.
const DISCOUNT_OF_FEW: f64 = 0.22;
const DISCOUNT: f64 = 0.25;
const SURCHARGE: f64 = 0.18;

/// How much farther it is in a grown one where most values are equal; in a young one it is where it is.
const COARSE_SURCHARGE: f64 = 0.25;

/// Up to how many values on the shorter side are few.
pub(super) const FEW: usize = 5;

/// How old a level is: the number of its values.
#[derive(Debug, Clone, Copy)]
pub(super) struct Age(pub(super) usize);

impl Age {
    /// Returns how far a level is grown, from 0 to 1.
    pub(super) fn grown(self) -> f64 {
        self.share(USUAL)
    }

    /// Returns the same where few values are looked at.
    pub(super) fn grown_beside_few(self) -> f64 {
        self.share(OF_FEW)
    }

    /// Returns by how much farther than usual the boundary is for so many values on the shorter side; below 0 where it is
    /// nearer.
    pub(super) fn surcharge(self, shorter: usize, is_coarse: bool) -> f64 {
        if is_coarse {
            return COARSE_SURCHARGE * self.share(COARSE);
        }
        let discount = if shorter <= FEW {
            DISCOUNT_OF_FEW * (1.0 - self.grown_beside_few())
        } else {
            DISCOUNT * (1.0 - self.grown())
        };
        SURCHARGE * self.grown() - discount
    }

    fn share(self, (from, to): (f64, f64)) -> f64 {
        ((self.0 as f64 - from) / (to - from)).clamp(0.0, 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_boundary_moves_away_as_a_level_grows() {
        let at = |age, shorter| Age(age).surcharge(shorter, false);
        assert_eq!([at(50, 10), at(108, 10)], [-DISCOUNT; 2]);
        assert!(at(136, 10) > at(120, 10) && at(120, 4) > at(120, 10));
        assert_eq!([at(165, 3), at(165, 10), at(1000, 10)], [SURCHARGE; 3]);
        assert_eq!([150, 210].map(|age| Age(age).surcharge(30, true)), [0.0, COARSE_SURCHARGE]);
    }
}
