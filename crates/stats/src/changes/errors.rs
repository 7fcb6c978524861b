//! Standard errors of points, of which some were measured only once.
//!
//! A single run tells nothing of its own error, but the others of the series do: with the error `e_j` and the runs `n_j`
//! of the points before that have one,
//!
//! ```text
//! e_i = median(e_j sqrt(n_j)) / sqrt(n_i)
//! ```
//!
//! Only points before count, so that a longer series tells the same of its beginning.

/// Returns the standard error of each point from its own, if it has one, and its number of runs; 0 where nothing is known.
pub fn errors(points: &[(Option<f64>, u32)]) -> Vec<f64> {
    let runs = |n: u32| f64::from(n.max(1)).sqrt();
    // Those of one run, in ascending order.
    let mut known: Vec<f64> = Vec::new();
    points
        .iter()
        .map(|&(error, n)| match error.filter(|error| error.is_finite()) {
            Some(error) => {
                if error > 0.0 {
                    let of_one = error * runs(n);
                    known.insert(known.partition_point(|other| *other < of_one), of_one);
                }
                error
            }
            None => known.get(known.len() / 2).map_or(0.0, |of_one| of_one / runs(n)),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_measured_once_is_as_uncertain_as_one_run_of_the_others() {
        let points =
            [(None, 1), (Some(0.2), 25), (Some(0.5), 4), (Some(0.0), 9), (None, 1), (None, 4)];
        assert_eq!(errors(&points), [0.0, 0.2, 0.5, 0.0, 1.0, 0.5]);
        assert_eq!(errors(&points[..5]), errors(&points)[..5]);
    }
}
