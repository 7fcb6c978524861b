//! Whether a slow slope explains a stretch as well as steps do.
//!
//! The level is thought to stay, then to move evenly, then to stay again:
//!
//! x(t) = a + d g(t) + e(t),   g(t) = 0 up to `first`, 1 from `last` on, a straight line between.
//!
//! For each of a grid of places a and d are fitted by least squares; sums over the values before each place make that a
//! few operations. It has four numbers to choose, two steps have five, and each further step two more: what explains as
//! much with less is what it is (Schwarz, "Estimating the Dimension of a Model", Annals of Statistics 6, 1978).

/// Places that are tried along a stretch.
const PLACES: usize = 24;

/// How many times finer each further look is.
const FINER: usize = 6;

/// Fewest values of a slope: a shorter one is a step.
const SHORTEST: usize = 8;

/// A slope between two levels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Ramp {
    /// Last value of the level before, and first of the level after, counted from 0.
    pub(super) first: usize,
    /// See `first`.
    pub(super) last: usize,
    /// The level before, and after.
    pub(super) before: f64,
    /// See `before`.
    pub(super) after: f64,
    /// Sum of the squares that are left.
    pub(super) squares: f64,
}

/// Fits a slope; nothing where there are too few values for one.
pub(super) fn ramp(values: &[f64]) -> Option<Ramp> {
    let n = values.len();
    if n < 2 * SHORTEST {
        return None;
    }
    let sums = Sums::of(values);
    let mut stride = n.div_ceil(PLACES).max(1);
    let all = || (0..n).step_by(stride).chain([n - 1]);
    let mut best = best(&sums, all().flat_map(|p| all().map(move |q| (p, q))))?;
    // Again and again between the places next to the best ones.
    while stride > 1 {
        let finer = (stride / FINER).max(1);
        let near = |place: usize| {
            let last = (place + stride).min(n - 1);
            (place.saturating_sub(stride)..last).step_by(finer).chain([last])
        };
        let (first, last) = (best.first, best.last);
        best = self::best(&sums, near(first).flat_map(|p| near(last).map(move |q| (p, q))))?;
        stride = finer;
    }
    Some(best)
}

fn best(sums: &Sums, places: impl Iterator<Item = (usize, usize)>) -> Option<Ramp> {
    places
        .filter(|(first, last)| first + SHORTEST <= *last)
        .filter_map(|(first, last)| sums.fit(first, last))
        .reduce(|best, one| if one.squares < best.squares { one } else { best })
}

/// Sums over the values before each place, each less their mean.
struct Sums {
    mean: f64,
    square: f64,
    values: Vec<f64>,
    /// Of each value times its place.
    moments: Vec<f64>,
}

impl Sums {
    fn of(values: &[f64]) -> Self {
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let (mut sum, mut moment, mut square) = (0.0, 0.0, 0.0);
        let mut sums = Self { mean, square: 0.0, values: vec![0.0], moments: vec![0.0] };
        for (place, value) in values.iter().enumerate() {
            let value = value - mean;
            sum += value;
            moment += value * place as f64;
            square += value * value;
            sums.values.push(sum);
            sums.moments.push(moment);
        }
        Self { square, ..sums }
    }

    fn fit(&self, first: usize, last: usize) -> Option<Ramp> {
        let n = self.values.len() - 1;
        let long = (last - first) as f64;
        let after = (n - last) as f64;
        // On the slope g is 0 / long, 1 / long and so on, up to the last place before 1.
        let shape = (long - 1.0) / 2.0 + after;
        let shapes = (long - 1.0) * (2.0 * long - 1.0) / (6.0 * long) + after;
        let on_slope = (self.moments[last] - self.moments[first])
            - first as f64 * (self.values[last] - self.values[first]);
        let product = on_slope / long + self.values[n] - self.values[last];
        let scatter = shapes - shape * shape / n as f64;
        if scatter <= 0.0 {
            return None;
        }
        let step = product / scatter;
        let before = self.mean - step * shape / n as f64;
        let squares = self.square - step * product;
        Some(Ramp { first, last, before, after: before + step, squares })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Rng;

    fn squares(values: &[f64], model: impl Fn(usize) -> f64) -> f64 {
        values.iter().enumerate().map(|(t, value)| (value - model(t)).powi(2)).sum()
    }

    #[test]
    fn a_slope_is_found_where_it_is_and_its_squares_are_what_is_left() {
        let mut rng = Rng::new(6);
        let shape = |t: usize| ((t as f64 - 60.0) / 80.0).clamp(0.0, 1.0);
        let values: Vec<f64> = (0..200).map(|t| 50.0 + 6.0 * shape(t) + rng.normal()).collect();
        let found = ramp(&values).unwrap();
        assert!(found.first.abs_diff(60) < 20 && found.last.abs_diff(140) < 20, "{found:?}");
        assert!((found.before - 50.0).abs() < 0.5 && (found.after - 56.0).abs() < 0.5, "{found:?}");
        let long = (found.last - found.first) as f64;
        let fitted = |t: usize| {
            let g = ((t as f64 - found.first as f64) / long).clamp(0.0, 1.0);
            found.before + (found.after - found.before) * g
        };
        assert!((squares(&values, fitted) - found.squares).abs() < 1e-6, "{found:?}");
        assert_eq!(ramp(&values[..10]), None);
    }
}
