//! Times the detector of change points on the series of a JSON file, for `cargo xtask bench changes`.
//!
//! Prints, for each series, its name, the best time of the whole series and that of one value that is
//! appended to it, both in milliseconds.

#![expect(
    clippy::print_stdout,
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "a benchmark"
)]

use std::hint::black_box;
use std::time::{Duration, Instant};

use becalm_stats::changes::{Detector, Point, Rules, detect};

/// How often each is timed; the best counts.
const TIMES: u32 = 200;

fn best(mut work: impl FnMut()) -> f64 {
    let timed = (0..TIMES).map(|_| {
        let start = Instant::now();
        work();
        start.elapsed()
    });
    timed.min().unwrap_or(Duration::MAX).as_secs_f64() * 1e3
}

fn main() {
    let path = std::env::args().nth(1).unwrap();
    let series: serde_json::Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    for (name, values) in series.as_object().unwrap() {
        let points: Vec<Point> =
            values.as_array().unwrap().iter().map(|value| value.as_f64().unwrap().into()).collect();
        let whole = best(|| {
            black_box(detect(black_box(&points).iter().copied(), Rules::default()));
        });
        let (last, earlier) = points.split_last().unwrap();
        let mut detector = Detector::new(Rules::default());
        for point in earlier {
            let _ = detector.push(*point);
        }
        let at = detector.checkpoint();
        let newest = &earlier[earlier.len() - at.needed()..];
        let appended = best(|| {
            let mut detector = Detector::resume(Rules::default(), at, black_box(newest));
            black_box((detector.push(*last), detector.pending()));
        });
        println!("{name}\t{whole}\t{appended}");
    }
}
