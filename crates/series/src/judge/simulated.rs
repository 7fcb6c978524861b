//! Series for tests, followed as those of a history are.

use std::collections::HashMap;

use becalm_model::history::{EntryId, Point, Review, Series, SeriesId, SeriesKey};
use becalm_model::{Direction, Unit};
use becalm_store::{Seen, Snapshot};

use crate::follow::{ChangeTerms, Followed, follow_in};

/// Noise of up to 2, the same every time.
pub(super) fn noise(i: usize) -> f64 {
    ((i * 7919 + 13) % 101) as f64 / 50.0
}

/// Values of which a fifth is lost from the 61st on, and that go back and forth by a few percent from the 91st.
pub(super) fn open_and_unstable(count: usize) -> Vec<f64> {
    let level = |i: usize| match i {
        0..60 => 100.0,
        60..90 => 120.0,
        _ if ((i - 90) / 20).is_multiple_of(2) => 124.0,
        _ => 120.0,
    };
    (0..count).map(|i| noise(i) + level(i)).collect()
}

/// Follows a series of these values, of which less is better: entry 1 of commit `c0`, and so on. `reviews` are what was
/// decided about entries.
pub(super) fn followed(values: &[f64], reviews: &HashMap<usize, Review>) -> Followed {
    let entry = |i: usize| EntryId(i64::try_from(i).expect("a small number") + 1);
    let point = |(i, value): (usize, &f64)| Point {
        entry: entry(i),
        at: i as f64,
        value: *value,
        error: None,
        runs: 1,
        commit: Some(format!("c{i}").into()),
    };
    let key = SeriesKey {
        benchmark: "a".to_owned(),
        metric: "t".to_owned(),
        unit: Unit::Second,
        direction: Direction::Lower,
        parameters: Vec::new(),
        fingerprint: String::new(),
        branch: "main".to_owned(),
    };
    let series = Series { id: SeriesId(1), key, main: true, exact: false };
    let snapshot = Snapshot {
        points: vec![values.iter().enumerate().map(point).collect()],
        changes: vec![Vec::new()],
        reviews: vec![reviews.iter().map(|(i, review)| (entry(*i), review.clone())).collect()],
        detectors: vec![None],
        seen: Seen::default(),
    };
    let (mut followed, _) = follow_in(snapshot, vec![series], &ChangeTerms::default(), 0.0);
    followed.pop().expect("one series")
}
