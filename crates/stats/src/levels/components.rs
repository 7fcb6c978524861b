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

use crate::sum::sum;
use crate::{Rng, Violation, chi_squared};

/// What one level adds to the variance.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Component {
    /// Variance between the nodes of this level that share a parent, in the squared unit of the
    /// values; below 0 when there is too little of it to be seen.
    pub variance: f64,
    /// Independent differences that it was estimated from.
    pub df: usize,
}

/// The analysis of variance of a nested design.
#[derive(Debug, Clone, PartialEq)]
pub struct Analysis {
    /// From the highest level to the lowest.
    levels: Vec<Squares>,
}

/// The sum of squares of one level.
#[derive(Debug, Clone, PartialEq)]
struct Squares {
    sum: f64,
    df: usize,
    /// What a variance of 1 adds to the expected sum: of this level, and of those below it.
    explained: Vec<f64>,
}

impl Analysis {
    /// Analyses values. `groups` has one entry for each level above the values, the highest first: for every value the
    /// number of its node there. Nodes of a lower level must lie inside one node of the higher. Fails
    /// where a level has no repetition.
    pub fn of(values: &[f64], groups: &[Vec<usize>]) -> Result<Self, Violation> {
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
        let squares = |k: usize| {
            let (above, here) = (&depths[k - 1], &depths[k]);
            let df = here.counts.len() - above.counts.len();
            if df == 0 {
                let have = here.counts.len();
                return Err(Violation::TooFew { needed: have + 1, have });
            }
            let explained = |depth: &Depth| depth.spread_over(here) - depth.spread_over(above);
            Ok(Squares {
                sum: sum((0..values.len()).map(|i| (here.mean(i) - above.mean(i)).powi(2))),
                df,
                explained: depths[k..].iter().map(explained).collect(),
            })
        };
        (1..depths.len()).map(squares).collect::<Result<_, _>>().map(|levels| Self { levels })
    }

    /// Returns the unbiased estimates, from the highest level to the lowest, which is the single values.
    pub fn components(&self) -> Vec<Component> {
        let variances = self.solve(|squares| squares.sum, f64::NEG_INFINITY);
        let with_df = variances.into_iter().zip(&self.levels);
        with_df.map(|(variance, squares)| Component { variance, df: squares.df }).collect()
    }

    /// Draws variances that may have given these sums of squares, none below 0: each expected sum is drawn as the sum
    /// over a chi-squared value over its degrees of freedom, which are independent (exactly so for normal effects and
    /// groups of equal size). Their quantiles are generalised confidence limits for whatever follows from the variances,
    /// Weerahandi, "Generalized Confidence Intervals", JASA 88 (1993).
    pub fn draw(&self, rng: &mut Rng) -> Vec<f64> {
        let factors: Vec<f64> = self.levels.iter().map(|one| one.df as f64).collect();
        let factors: Vec<f64> =
            factors.into_iter().map(|df| df / chi_squared::draw(rng, df)).collect();
        let mut next = factors.iter().rev();
        // The lowest level is solved first.
        self.solve(|squares| squares.sum * next.next().copied().unwrap_or(1.0), 0.0)
    }

    /// Solves for the variances, from the lowest level up, none below `least`.
    fn solve(&self, mut expected: impl FnMut(&Squares) -> f64, least: f64) -> Vec<f64> {
        let mut variances = vec![0.0; self.levels.len()];
        for (k, squares) in self.levels.iter().enumerate().rev() {
            let below = variances[k + 1..].iter().zip(&squares.explained[1..]);
            let from_below = sum(below.map(|(variance, explained)| variance * explained));
            variances[k] = ((expected(squares) - from_below) / squares.explained[0]).max(least);
        }
        variances
    }
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

    fn components(values: &[f64], groups: &[Vec<usize>]) -> Result<Vec<Component>, Violation> {
        Analysis::of(values, groups).map(|analysis| analysis.components())
    }

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
    fn drawn_variances_are_around_the_estimates_and_never_negative() {
        let three_levels = [9.0, 5.0, 8.0, 3.0, 10.0, 6.0, 7.0, 11.0, 1.0, 12.0, 2.0, 4.0];
        let analysis = Analysis::of(&three_levels, &groups(&[3, 2, 2])).unwrap();
        let mut rng = Rng::new(3);
        let draws: Vec<Vec<f64>> = (0..999).map(|_| analysis.draw(&mut rng)).collect();
        assert!(draws.iter().flatten().all(|variance| *variance >= 0.0));
        // The estimate of the middle level is -5.7.
        assert!(draws.iter().any(|draw| draw[1] > 0.0) && draws.iter().any(|draw| draw[1] == 0.0));
        let mut lowest: Vec<f64> = draws.iter().map(|draw| draw[2]).collect();
        lowest.sort_by(f64::total_cmp);
        // 16.5 times 6 over the median of chi-squared with 6, which is 5.35.
        assert!((lowest[499] - 18.5).abs() < 2.0, "{}", lowest[499]);
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
