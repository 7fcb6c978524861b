//! A smooth density of a sample, for the eye: a Gaussian kernel with the bandwidth 0.9 min(s, IQR / 1.34) n^(-1/5) of
//! Silverman, "Density Estimation for Statistics and Data Analysis" (1986), equation 3.31. It shows modes; no decision
//! rests on it.

use crate::quantile::quantile;
use crate::spread::standard_deviation;
use crate::{Sample, normal};

/// Returns the density at `places`, in units of its highest point there: 0 to 1. Values that are all equal are one
/// peak at the nearest place.
pub fn density(sample: &Sample, places: &[f64]) -> Vec<f64> {
    let bandwidth = bandwidth(sample);
    let apart = |place: f64, value: f64| {
        if bandwidth > 0.0 { normal::density((place - value) / bandwidth) } else { 0.0 }
    };
    let mut heights: Vec<f64> = places
        .iter()
        .map(|&place| sample.values().iter().map(|&value| apart(place, value)).sum())
        .collect();
    if bandwidth <= 0.0 {
        let value = sample.minimum();
        let from = |place: f64| (place - value).abs();
        let nearest =
            places.iter().enumerate().min_by(|(_, a), (_, b)| from(**a).total_cmp(&from(**b)));
        if let Some((index, _)) = nearest {
            heights[index] = 1.0;
        }
    }
    let highest = heights.iter().copied().fold(0.0, f64::max);
    if highest > 0.0 {
        for height in &mut heights {
            *height /= highest;
        }
    }
    heights
}

fn bandwidth(sample: &Sample) -> f64 {
    let deviation = standard_deviation(sample).unwrap_or(0.0);
    let quartiles = (quantile(sample, 0.75) - quantile(sample, 0.25)) / 1.34;
    let scale = if quartiles > 0.0 { deviation.min(quartiles) } else { deviation };
    0.9 * scale * (sample.len() as f64).powf(-0.2)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(values: Vec<f64>, places: &[f64]) -> Vec<f64> {
        density(&Sample::new(values).unwrap(), places)
    }

    #[test]
    fn two_modes_are_two_peaks() {
        let values = (0..40).map(|i| f64::from(i % 2) * 10.0 + f64::from(i % 5) * 0.1).collect();
        let heights = at(values, &[0.2, 5.0, 10.2]);
        assert!(heights[0] > 0.9 && heights[2] > 0.9 && heights[1] < 0.6, "{heights:?}");
    }

    #[test]
    fn equal_values_are_one_peak() {
        assert_eq!(at(vec![3.0; 5], &[1.0, 2.9, 5.0]), [0.0, 1.0, 0.0]);
    }
}
