//! The figures of one benchmark as tinybench has them, in milliseconds: vitest shows the same.

use becalm_model::{Direction, ImportNote, Part, Unit};
use serde::Deserialize;

use crate::imported::{Imported, part, single};
use crate::json::{Maybe, Number};

const MILLISECOND: f64 = 1e-3;

/// What is known of one benchmark, in milliseconds.
#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Figures {
    samples: Maybe<Vec<f64>>,
    min: Number,
    max: Number,
    pub(super) mean: Number,
    median: Number,
    p50: Number,
    sd: Number,
    moe: Number,
    p75: Number,
    p99: Number,
    p995: Number,
    p999: Number,
    sample_count: Number,
    samples_count: Number,
}

impl Figures {
    /// Makes a metric of the benchmark and returns what it gave; nothing if it failed.
    pub(super) fn import(
        &self,
        imported: &mut Imported,
        subject: usize,
        name: &str,
    ) -> Option<Part> {
        let median = self.median.0.or(self.p50.0);
        let stand_in = median.map(|median| ("median", median));
        let stand_in = stand_in.or_else(|| Some(("mean", self.mean.0?)));
        let is_empty = self.samples.is_empty();
        // A benchmark that failed has no fields, or zeros and no samples.
        let none_taken = self.sample_count.0.or(self.samples_count.0) == Some(0.0);
        if is_empty && (stand_in.is_none() || none_taken) {
            imported.note(ImportNote::NoResults { benchmark: name.to_owned() });
            return None;
        }
        let metric = imported.benchmark(name, "", Unit::Second, Direction::Lower);
        let interval = |sign: f64| Some(self.mean.0? + sign * self.moe.0?);
        let times = [
            ("minimum", self.min.0),
            ("maximum", self.max.0),
            ("mean", self.mean.0),
            ("median", median),
            ("standard_deviation", self.sd.0),
            ("low", interval(-1.0)),
            ("high", interval(1.0)),
            ("p75", self.p75.0),
            ("p99", self.p99.0),
            ("p99.5", self.p995.0),
            ("p99.9", self.p999.0),
        ];
        let times = times.map(|(name, value)| (name, value.map(|value| value * MILLISECOND)));
        let samples = self.sample_count.0.or(self.samples_count.0);
        let confidence = self.moe.0.map(|_| 0.95);
        let others = [("confidence", confidence), ("samples", samples)];
        imported.summary(subject, metric, times.into_iter().chain(others));
        if !is_empty {
            return part(metric, self.samples.iter().map(|one| one * MILLISECOND).collect());
        }
        let (statistic, value) = stand_in?;
        imported.stand_in(metric, statistic);
        Some(single(metric, value * MILLISECOND))
    }
}
