//! Variance components of a nested design by analysis of variance, groups of any sizes.
//!
//! For the nodes a of depth k, with n(a) values below each:
//!
//! - SS(k) = sum n(a) (mean(a) - mean(parent of a))^2
//! - A(k, j) = sum over the nodes b of depth j >= k of n(b)^2 / n(ancestor of b at depth k)
//! - E SS(k) = sum over j >= k of variance(j) (A(k, j) - A(k - 1, j))
//!
//! The last equations are solved for the variances from the lowest level up. The estimates are
//! unbiased, and therefore negative at times where the true variance is small. With groups of equal
//! size they are the T^2 of Kalibera and Jones, "Rigorous Benchmarking in Reasonable Time", ISMM
//! (2013), section 6 (in its corrected form, T(i)^2 = S(i)^2 - S(i-1)^2 / r(i-1)).
//!
//! Searle, Casella and `McCulloch`, "Variance Components" (1992), section 3.6 and appendix F. Assumes
//! that the effects of different nodes are independent; normality is not needed for the estimates.

use crate::Violation;
use crate::sum::sum;

/// What one level adds to the variance.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Component {
    /// Variance between the nodes of this level that share a parent, in the squared unit of the
    /// values; below 0 when there is too little of it to be seen.
    pub variance: f64,
    /// Independent differences that it was estimated from.
    pub df: usize,
}

/// Returns the components from the highest level to the lowest, which is the single values.
///
/// `groups` has one entry for each level above the values, the highest first: for every value the
/// number of its node there. Nodes of a lower level must lie inside one node of the higher. Fails
/// where a level has no repetition.
pub fn components(values: &[f64], groups: &[Vec<usize>]) -> Result<Vec<Component>, Violation> {
    if let Some(index) = values.iter().position(|x| !x.is_finite()) {
        return Err(Violation::NotFinite { index });
    }
    if let Some(other) = groups.iter().find(|group| group.len() != values.len()) {
        return Err(Violation::NotPaired { left: values.len(), right: other.len() });
    }
    let everything = vec![0; values.len()];
    let each: Vec<usize> = (0..values.len()).collect();
    let depths: Vec<Depth> = std::iter::once(&everything)
        .chain(groups)
        .chain([&each])
        .map(|nodes| Depth::of(values, nodes))
        .collect();

    let lowest = depths.len() - 1;
    let mut result = vec![Component { variance: 0.0, df: 0 }; lowest];
    for k in (1..=lowest).rev() {
        let (above, here) = (&depths[k - 1], &depths[k]);
        let df = here.counts.len() - above.counts.len();
        if df == 0 {
            return Err(Violation::TooFew {
                needed: here.counts.len() + 1,
                have: here.counts.len(),
            });
        }
        let squares = sum((0..values.len()).map(|i| (here.mean(i) - above.mean(i)).powi(2)));
        let explained = |j: usize| depths[j].spread_over(here) - depths[j].spread_over(above);
        let from_below = sum((k + 1..=lowest).map(|j| result[j - 1].variance * explained(j)));
        result[k - 1] = Component { variance: (squares - from_below) / explained(k), df };
    }
    Ok(result)
}

/// The nodes of one depth.
struct Depth {
    /// For each value its node, numbered from 0.
    node: Vec<usize>,
    counts: Vec<f64>,
    means: Vec<f64>,
}

impl Depth {
    fn of(values: &[f64], labels: &[usize]) -> Self {
        let mut numbers = std::collections::BTreeMap::new();
        let mut counts: Vec<f64> = Vec::new();
        let mut sums: Vec<f64> = Vec::new();
        let mut node = Vec::with_capacity(values.len());
        for (value, label) in values.iter().zip(labels) {
            let number = *numbers.entry(*label).or_insert(counts.len());
            if number == counts.len() {
                counts.push(0.0);
                sums.push(0.0);
            }
            counts[number] += 1.0;
            sums[number] += value;
            node.push(number);
        }
        let means = sums.iter().zip(&counts).map(|(sum, count)| sum / count).collect();
        Self { node, counts, means }
    }

    /// Returns the mean of the node that holds value `i`.
    fn mean(&self, i: usize) -> f64 {
        self.means[self.node[i]]
    }

    /// Returns A(k, j): the sum over the nodes b of this depth of n(b)^2 / n(ancestor of b). Each
    /// of the n(b) values of b adds its n(b) / n(ancestor).
    fn spread_over(&self, ancestors: &Self) -> f64 {
        let share = |i: usize| self.counts[self.node[i]] / ancestors.counts[ancestors.node[i]];
        sum((0..self.node.len()).map(share))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Rng;

    /// Values of a balanced design of `sizes`, the highest level first, with their groups.
    fn groups(sizes: &[usize]) -> Vec<Vec<usize>> {
        let total: usize = sizes.iter().product();
        (1..sizes.len())
            .map(|depth| {
                let below: usize = sizes[depth..].iter().product();
                (0..total).map(|i| i / below).collect()
            })
            .collect()
    }

    #[track_caller]
    fn check(sizes: &[usize], values: &[f64], expected: &[f64]) {
        let found = components(values, &groups(sizes)).unwrap();
        for (component, expected) in found.iter().zip(expected) {
            assert!((component.variance - expected).abs() < 0.05, "{found:?}");
        }
    }

    #[test]
    fn the_worked_examples_of_the_paper_are_met() {
        let three_levels = [9.0, 5.0, 8.0, 3.0, 10.0, 6.0, 7.0, 11.0, 1.0, 12.0, 2.0, 4.0];
        check(&[3, 2, 2], &three_levels, &[2.3, -5.7, 16.5]);
        check(&[3, 4], &three_levels, &[0.4, 12.7]);
    }

    #[test]
    fn one_level_is_the_ordinary_variance() {
        let found = components(&[1.0, 2.0, 4.0], &[]).unwrap();
        assert!((found[0].variance - 7.0 / 3.0).abs() < 1e-12 && found[0].df == 2);
    }

    #[test]
    fn unequal_groups_are_unbiased() {
        let mut rng = Rng::new(1);
        let (mut high, mut middle, mut low) = (0.0, 0.0, 0.0);
        let repetitions = 4000;
        for _ in 0..repetitions {
            let (mut values, mut rounds, mut runs) = (Vec::new(), Vec::new(), Vec::new());
            let mut run = 0;
            for (round, sizes) in [vec![3, 1], vec![5], vec![2, 2, 7]].into_iter().enumerate() {
                let of_round = 2.0 * rng.normal();
                for size in sizes {
                    let of_run = of_round + rng.normal();
                    for _ in 0..size {
                        values.push(of_run + 3.0 * rng.normal());
                        rounds.push(round);
                        runs.push(run);
                    }
                    run += 1;
                }
            }
            let found = components(&values, &[rounds, runs]).unwrap();
            assert_eq!(found.iter().map(|one| one.df).collect::<Vec<_>>(), [2, 3, 14]);
            high += found[0].variance / f64::from(repetitions);
            middle += found[1].variance / f64::from(repetitions);
            low += found[2].variance / f64::from(repetitions);
        }
        // Four standard errors, which are 0.13, 0.12 and 0.05.
        assert!((high - 4.0).abs() < 0.52, "{high}");
        assert!((middle - 1.0).abs() < 0.48, "{middle}");
        assert!((low - 9.0).abs() < 0.2, "{low}");
    }

    #[test]
    fn a_level_without_repetition_has_no_variance() {
        let once = vec![0, 0, 1, 1];
        assert!(components(&[1.0, 2.0, 3.0, 4.0], &[once.clone(), once.clone()]).is_err());
        assert!(components(&[1.0, 2.0], &[vec![0, 0], vec![0, 1]]).is_err());
        assert!(components(&[1.0], &[]).is_err());
    }

    #[test]
    fn what_does_not_fit_together_is_refused() {
        assert_eq!(
            components(&[1.0, 2.0], &[vec![0]]),
            Err(Violation::NotPaired { left: 2, right: 1 })
        );
        assert_eq!(components(&[1.0, f64::NAN], &[]), Err(Violation::NotFinite { index: 1 }));
    }
}
