//! The published rules by which iterations are called steady, as their authors describe them.
//!
//! - *Barrett*: Barrett, Bolz-Tereick, Killick, Mount and Tratt, "Virtual Machine Warmup Blows Hot and Cold", OOPSLA
//!   (2017): PELT with 15 ln n on values without outliers; segments are equivalent to the last one within
//!   max(variance, 1 ms), and the last 500 of 2000 iterations must be.
//! - *Traini*: Traini, Cortellessa, Di Pompeo and Tucci, "Towards Effective Assessment of Steady State Performance in
//!   Java Software: Are We There Yet?", Empirical Software Engineering 28 (2022): the penalty is the knee between
//!   4 ln n and 100,000 ln n (CROPS, Haynes et al. 2017; Kneedle, Satopaa et al. 2011); a segment differs from the
//!   last when the bootstrap interval of the ratio of their means lies beyond 5 %; the last sixth (500 of 3000)
//!   must be steady.
//! - *Georges*: Georges, Buytaert and Eeckhout, "Statistically Rigorous Java Performance Evaluation", OOPSLA (2007):
//!   the first 30 iterations whose coefficient of variation is below 2 %.
//! - *KB-KSSD*: Beseda, Cortellessa, Di Pompeo, Traini and Tucci, arXiv 2506.04204 (2025), as their published analysis
//!   does it: one step downward by two kernels, then Kelly and Hedengren's probability of a steady window (Journal of
//!   Process Control 23, 2013); windows of a sixth of the series (500 of 3000), t 3.5, probability 0.9.
//! - *Fixed*: what JMH does by itself: five of ten iterations are warm-up, so half of the series.
//!
//! None of them but Barrett's tells a slow-down from a warm-up; where theirs says steady, the class here follows from
//! whether the mean before is lower.

use becalm_stats::steady::pelt;
use becalm_stats::steady::{Class, PENALTY};
use becalm_stats::{Rng, Sample};

use super::Answer;

/// A rule: the answer for seconds in time order.
pub type Rule = fn(&[f64]) -> Answer;

/// The rules with their names.
pub const ALL: [(&str, Rule); 5] = [
    ("Barrett 2017", barrett),
    ("Traini 2022", traini),
    ("Georges 2007", georges),
    ("KB-KSSD 2025", kb_kssd),
    ("first half skipped", fixed),
];

/// Smallest variance: there is none in the papers, and equal values have none.
const FLOOR: f64 = 1e-18;

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn variance(values: &[f64]) -> f64 {
    let middle = mean(values);
    values.iter().map(|x| (x - middle).powi(2)).sum::<f64>() / values.len() as f64
}

fn quantile(values: &[f64], share: f64) -> f64 {
    Sample::new(values.to_vec())
        .map_or(f64::NAN, |sample| becalm_stats::quantile::quantile(&sample, share))
}

/// Places of the values that are no outliers: outside median +- 3 (high - low quantile) of the window around.
fn kept(values: &[f64], skip: usize, low: f64, high: f64) -> Vec<usize> {
    const WINDOW: usize = 200;
    let n = values.len();
    let window = WINDOW.min(n);
    (0..n)
        .filter(|&i| {
            let from = i.saturating_sub(window / 2).min(n - window);
            let around = &values[from..from + window];
            let band = 3.0 * (quantile(around, high) - quantile(around, low));
            i < skip || (values[i] - quantile(around, 0.5)).abs() <= band
        })
        .collect()
}

/// Segments of the kept values as ranges.
fn segments(values: &[f64], changes: &[usize]) -> Vec<(usize, usize)> {
    let starts = std::iter::once(0).chain(changes.iter().copied());
    starts.zip(changes.iter().copied().chain([values.len()])).collect()
}

fn answer(values: &[f64], from: usize, latest: usize) -> Answer {
    let class = match from {
        from if from > latest => return Answer::none(values.len()),
        0 => Class::Flat,
        from if mean(&values[..from]) < mean(&values[from..]) => Class::SlowDown,
        _ => Class::WarmUp,
    };
    Answer { class, from }
}

fn barrett(values: &[f64]) -> Answer {
    let n = values.len();
    let places = kept(values, 200, 0.1, 0.9);
    let left: Vec<f64> = places.iter().map(|&i| values[i]).collect();
    let changes = pelt::changes(&left, PENALTY * (left.len() as f64).ln(), FLOOR);
    let parts = segments(&left, &changes);
    let of = |&(start, end): &(usize, usize)| &left[start..end];
    let last = of(&parts[parts.len() - 1]);
    let (level, tolerance) = (mean(last), variance(last).max(0.001));
    let alike = |part: &(usize, usize)| (mean(of(part)) - level).abs() <= tolerance;
    let steady = parts.iter().rev().take_while(|part| alike(part)).count();
    let from = parts[parts.len() - steady].0;
    let from = if from == 0 { 0 } else { places[from] };
    if from > n - n / 4 {
        return Answer::none(n);
    }
    let class = match from {
        0 => Class::Flat,
        _ if parts.iter().any(|part| mean(of(part)) < level - tolerance) => Class::SlowDown,
        _ => Class::WarmUp,
    };
    Answer { class, from }
}

fn traini(values: &[f64]) -> Answer {
    let n = values.len();
    let places = kept(values, 0, 0.01, 0.99);
    let left: Vec<f64> = places.iter().map(|&i| values[i]).collect();
    let changes = at_the_knee(&left);
    let parts = segments(&left, &changes);
    let mut rng = Rng::new(1);
    let &(start, end) = &parts[parts.len() - 1];
    let last = &left[start..end];
    let differs = |part: &&(usize, usize)| beyond(last, &left[part.0..part.1], &mut rng);
    let off = parts.iter().rev().skip(1).find(differs);
    let from = off.map_or(0, |part| places[part.1]);
    answer(values, from, n - n / 6)
}

/// Says whether the bootstrap interval of the ratio of means lies beyond 5 % on either side.
fn beyond(a: &[f64], b: &[f64], rng: &mut Rng) -> bool {
    const DRAWS: usize = 1000;
    let mut draw = |values: &[f64]| {
        (0..values.len()).map(|_| values[rng.below(values.len())]).sum::<f64>()
            / values.len() as f64
    };
    let ratios: Vec<f64> = (0..DRAWS).map(|_| draw(a) / draw(b)).collect();
    quantile(&ratios, 0.975) <= 0.95 || quantile(&ratios, 0.025) >= 1.05
}

/// The changes with the penalty at the knee of their number.
fn at_the_knee(values: &[f64]) -> Vec<usize> {
    let log = (values.len() as f64).ln();
    let mut found: Vec<(f64, Vec<usize>)> = Vec::new();
    let cut = |penalty: f64| (penalty, pelt::changes(values, penalty, FLOOR));
    let mut open = vec![(cut(4.0 * log), cut(1e5 * log))];
    while let Some((low, high)) = open.pop() {
        if low.1.len() > high.1.len() + 1 {
            let gain = cost(values, &high.1) - cost(values, &low.1);
            let between = gain / (low.1.len() - high.1.len()) as f64;
            if between > low.0 && between < high.0 {
                let middle = cut(between);
                if middle.1.len() != high.1.len() && middle.1.len() != low.1.len() {
                    open.push((low.clone(), middle.clone()));
                    open.push((middle, high.clone()));
                }
            }
        }
        found.extend([low, high]);
    }
    found.sort_by(|a, b| a.0.total_cmp(&b.0));
    found.dedup_by_key(|one| one.1.len());
    let points: Vec<(f64, f64)> = found.iter().map(|one| (one.0, one.1.len() as f64)).collect();
    match knee(&points) {
        Some(at) => found.swap_remove(at).1,
        None => cut(PENALTY * log).1,
    }
}

/// Twice the negative log likelihood of normal segments, constants left out.
fn cost(values: &[f64], changes: &[usize]) -> f64 {
    let part = |&(start, end): &(usize, usize)| {
        (end - start) as f64 * (variance(&values[start..end]).max(FLOOR).ln() + 1.0)
    };
    segments(values, changes).iter().map(part).sum()
}

/// The place where a convex falling curve is farthest below the line from its first point to its last.
fn knee(points: &[(f64, f64)]) -> Option<usize> {
    let (first, last) = (points.first()?, points.last()?);
    let (width, height) = (last.0 - first.0, first.1 - last.1);
    if width <= 0.0 || height <= 0.0 {
        return None;
    }
    let below = |&(x, y): &(f64, f64)| 1.0 - (x - first.0) / width - (y - last.1) / height;
    (1..points.len().saturating_sub(1))
        .max_by(|&a, &b| below(&points[a]).total_cmp(&below(&points[b])))
}

fn georges(values: &[f64]) -> Answer {
    const WINDOW: usize = 30;
    const LARGEST: f64 = 0.02;
    let steady = |part: &[f64]| variance(part).sqrt() / mean(part) < LARGEST;
    match values.chunks_exact(WINDOW).position(steady) {
        Some(at) => answer(values, WINDOW * at, values.len()),
        None => Answer::none(values.len()),
    }
}

fn fixed(values: &[f64]) -> Answer {
    answer(values, values.len() / 2, values.len())
}

fn kb_kssd(values: &[f64]) -> Answer {
    let n = values.len();
    let smooth = without_extremes(values);
    let step = step_down(&smooth);
    let window = (n / 6).max(3);
    let mut windows: Vec<(usize, f64)> = Vec::new();
    if let Some(step) = step {
        windows.push((0, 0.0));
        windows.extend(probabilities(&smooth, step + 1, window));
    } else {
        windows.extend(probabilities(&smooth, 0, window));
    }
    let steady = windows.iter().rev().take_while(|(_, share)| *share >= 0.9).last();
    steady.map_or(Answer::none(n), |&(from, _)| answer(values, from, n))
}

/// Puts the median in place of the lowest and highest 2 % of every hundred values but the first.
fn without_extremes(values: &[f64]) -> Vec<f64> {
    let mut smooth = values.to_vec();
    for part in smooth[1..].chunks_mut(100) {
        let (low, middle, high) = (quantile(part, 0.02), quantile(part, 0.5), quantile(part, 0.98));
        for value in part.iter_mut().filter(|value| **value < low || **value > high) {
            *value = middle;
        }
    }
    smooth
}

/// The last iteration before the step downward, if it is one to speak of.
fn step_down(values: &[f64]) -> Option<usize> {
    const SHORT: usize = 15;
    const AROUND: usize = 80;
    let n = values.len();
    let middle = mean(values);
    let centred: Vec<f64> = values.iter().map(|x| x - middle).collect();
    let sum = |from: usize, to: usize| centred[from..to].iter().sum::<f64>();
    let largest = |places: std::ops::Range<usize>, height: &dyn Fn(usize) -> f64| {
        places.max_by(|&a, &b| height(a).total_cmp(&height(b)))
    };
    // A kernel over everything, and one of 15 values on either side.
    let long = largest(1..n, &|i| sum(0, i) - sum(i, n)).map(|i| i - 1)?;
    let short =
        largest(SHORT..n - SHORT + 1, &|i| sum(i - SHORT, i) - sum(i, i + SHORT)).map(|i| i - 1)?;
    let (short, long) = (short.min(long), short.max(long));
    let median = |from: usize, to: usize| quantile(&centred[from..to.max(from + 1)], 0.5);
    let after = (long + 1).min(n - 1);
    let difference =
        median(long.saturating_sub(AROUND), long + 1) - median(after, (long + AROUND + 1).min(n));
    let between_is_high =
        long > short + 1 && median(short + 1, long) > 2.0 * difference.abs() + median(after, n);
    let step = if between_is_high { long } else { short };
    let drop = |at: usize| median(0, at.max(1)) - median(at.min(n - 1), n);
    if drop(step) >= median(0, n).abs() / 2.0 {
        Some(step)
    } else {
        (step > short).then_some(short)
    }
}

/// Starts of the windows from `from` on, with the share of their values within 3.5 deviations of the level without
/// its drift.
fn probabilities(values: &[f64], from: usize, window: usize) -> Vec<(usize, f64)> {
    const T: f64 = 3.5;
    let n = values.len();
    let mut starts: Vec<usize> = (from..n).step_by(window).collect();
    if starts.len() > 1 && n - starts[starts.len() - 1] < 3 {
        starts.pop();
    }
    let ends = starts.iter().skip(1).copied().chain([n]).collect::<Vec<_>>();
    starts
        .into_iter()
        .zip(ends)
        .map(|(start, end)| {
            let part = &values[start..end];
            let length = part.len() as f64;
            if part.len() < 3 {
                return (start, 0.0);
            }
            let slope = (part[part.len() - 1] - part[0]) / (length - 1.0);
            let drift = |i: usize| slope * (i + 1) as f64;
            let level = part.iter().enumerate().map(|(i, x)| x - drift(i)).sum::<f64>() / length;
            let squares = part.iter().enumerate().map(|(i, x)| (x - drift(i) - level).powi(2));
            let deviation = (squares.sum::<f64>() / (length - 2.0)).sqrt();
            let near = part.iter().filter(|x| (*x - level).abs() <= T * deviation).count();
            (start, near as f64 / length)
        })
        .collect()
}
