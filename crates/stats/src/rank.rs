//! Midranks: equal values share the mean of the ranks that they take together.

/// Ranks of a list and the sizes of its groups of equal values.
#[derive(Debug, Clone, PartialEq)]
pub struct Ranks {
    /// Rank of each value, from 1, in the order of the list.
    pub ranks: Vec<f64>,
    /// Size of every group of equal values, singles included, in ascending order of the values.
    pub groups: Vec<usize>,
}

impl Ranks {
    /// Ranks finite `values`.
    pub fn of(values: &[f64]) -> Self {
        let mut order: Vec<usize> = (0..values.len()).collect();
        order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
        let mut ranks = vec![0.0; values.len()];
        let mut groups = Vec::new();
        let mut start = 0;
        // `==` and not `total_cmp` below: -0 and 0 are neighbours in the order, and equal.
        #[expect(clippy::float_cmp, reason = "a tie is exact")]
        let equal = |a: &usize, b: &usize| values[*a] == values[*b];
        for group in order.chunk_by(equal) {
            let rank = start as f64 + f64::midpoint(group.len() as f64, 1.0);
            for &i in group {
                ranks[i] = rank;
            }
            groups.push(group.len());
            start += group.len();
        }
        Self { ranks, groups }
    }
}

#[cfg(test)]
mod tests {
    use super::Ranks;

    #[test]
    fn equal_values_share_their_mean_rank() {
        let ranks = Ranks::of(&[3.0, 1.0, 3.0, 2.0]);
        assert_eq!(ranks.ranks, [3.5, 1.0, 3.5, 2.0]);
        assert_eq!(ranks.groups, [1, 1, 2]);
    }

    #[test]
    fn the_two_zeros_are_equal() {
        assert_eq!(Ranks::of(&[0.0, -0.0]).ranks, [1.5, 1.5]);
    }
}
