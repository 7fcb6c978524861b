//! One time of all requests, as histograms: those of which it is known, and the lower bounds of the others.

use base64::Engine as _;
use becalm_model::load::{Latency, QuantileValue};
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Serializer as _, V2DeflateSerializer, V2Serializer};

/// Quantiles that a document has.
pub const QUANTILES: [f64; 10] = [0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999, 0.9999, 1.0];

/// Significant decimal digits.
const DIGITS: u8 = 3;

/// Below this share of a value, what requests without an answer can change of it is not worth a word: it is the
/// resolution with which results are read.
const SAME: f64 = 0.01;

/// A time of many requests, in nanoseconds.
///
/// A request that was never answered took at least as long as it was waited for: it is *censored*. As a sample it is
/// neither left out, which would make a server look faster the more it fails, nor given an invented value.
#[derive(Debug, Clone)]
pub struct Measure {
    known: Histogram<u64>,
    censored: Histogram<u64>,
}

impl Default for Measure {
    fn default() -> Self {
        Self { known: empty(), censored: empty() }
    }
}

/// Makes a histogram that grows with its largest value.
pub(crate) fn empty() -> Histogram<u64> {
    let mut histogram = Histogram::new_with_bounds(1, 2, DIGITS).expect("these bounds are valid");
    histogram.auto(true);
    histogram
}

impl Measure {
    /// Makes one that need not grow for values up to so many nanoseconds.
    pub(crate) fn reaching(nanos: u64) -> Self {
        let mut measure = Self::default();
        measure.record(nanos);
        measure.clear();
        measure
    }

    /// Forgets all values, and stays as large as it has grown.
    pub(crate) fn clear(&mut self) {
        self.known.reset();
        self.censored.reset();
    }

    /// Counts a value.
    pub fn record(&mut self, nanos: u64) {
        self.known.record(nanos).expect("it grows");
    }

    /// Counts a value of which only a lower bound is known.
    pub fn censor(&mut self, nanos: u64) {
        self.censored.record(nanos).expect("it grows");
    }

    /// Adds all values of another one.
    pub fn merge(&mut self, other: &Self) {
        self.known.add(&other.known).expect("both grow");
        self.censored.add(&other.censored).expect("both grow");
    }

    /// Returns how many values there are, known or not.
    pub fn len(&self) -> u64 {
        self.known.len() + self.censored.len()
    }

    /// Says whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns a quantile of all values, the smallest one that a share of `q` does not exceed; `None` if there are none.
    ///
    /// It is a lower bound if it would be larger were the censored values infinite, by more than can be read.
    pub fn quantile(&self, q: f64) -> Option<QuantileValue> {
        if self.is_empty() {
            return None;
        }
        let of = |value, at_least| Some(QuantileValue { q, value, at_least });
        if self.censored.is_empty() {
            return of(seconds(at_rank(&self.known, self.rank(q))), false);
        }
        let mut all = self.known.clone();
        all.add(&self.censored).expect("both grow");
        let lower = seconds(at_rank(&all, self.rank(q)));
        match self.quantile_or_never(q) {
            Some(upper) if upper <= lower * (1.0 + SAME) => of(upper, false),
            _ => of(lower, true),
        }
    }

    /// Returns the quantile if a request that was never answered took for ever; `None` if that is the quantile.
    pub fn quantile_or_never(&self, q: f64) -> Option<f64> {
        let rank = self.rank(q);
        (1..=self.known.len()).contains(&rank).then(|| seconds(at_rank(&self.known, rank)))
    }

    /// Returns how many values are known to be below a limit in seconds; all that are known without one.
    pub(crate) fn within(&self, limit: Option<f64>) -> u64 {
        let below = |limit| self.known.count_between(0, crate::schedule::nanos(limit).max(1) - 1);
        limit.map_or(self.known.len(), below)
    }

    /// Returns a quantile of the known values alone.
    pub(crate) fn quantile_of_known(&self, q: f64) -> Option<f64> {
        (!self.known.is_empty()).then(|| seconds(self.known.value_at_quantile(q)))
    }

    /// Returns the number of the quantile in the order of all values, from 1.
    fn rank(&self, q: f64) -> u64 {
        let n = self.len();
        // Without the digits that only the product of two doubles has: 0.99 * 100 is 99.
        let product = (q * n as f64 * 1e6).round() / 1e6;
        becalm_model::whole(product.ceil()).clamp(1, n.max(1))
    }

    /// Returns what a document has of it.
    pub fn latency(&self) -> Latency {
        Latency {
            known: self.known.len(),
            censored: self.censored.len(),
            mean: (!self.known.is_empty()).then(|| self.known.mean() * 1e-9),
            quantiles: QUANTILES.iter().filter_map(|q| self.quantile(*q)).collect(),
            histogram: encoded(&self.known),
            censored_histogram: (!self.censored.is_empty()).then(|| encoded(&self.censored)),
        }
    }

    /// Returns the known values in the encoding V2, for a log of histograms; without deflating.
    pub(crate) fn encode(&self, into: &mut Vec<u8>) {
        V2Serializer::new().serialize(&self.known, into).expect("memory can be written");
    }

    /// Reads what [`Self::encode`] wrote.
    pub(crate) fn decode(mut bytes: &[u8]) -> Histogram<u64> {
        hdrhistogram::serialization::Deserializer::new()
            .deserialize(&mut bytes)
            .expect("this program wrote it")
    }
}

/// Returns the value of this rank: the largest one of its bin.
fn at_rank(histogram: &Histogram<u64>, rank: u64) -> u64 {
    // In the middle between two ranks, so that rounding cannot reach the next one.
    histogram.value_at_quantile((rank as f64 - 0.5) / histogram.len().max(1) as f64)
}

fn seconds(nanos: u64) -> f64 {
    nanos as f64 * 1e-9
}

fn encoded(histogram: &Histogram<u64>) -> String {
    let mut bytes = Vec::new();
    V2DeflateSerializer::new().serialize(histogram, &mut bytes).expect("memory can be written");
    base64::engine::general_purpose::STANDARD.encode(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(
        known: impl IntoIterator<Item = u64>,
        censored: impl IntoIterator<Item = u64>,
    ) -> Measure {
        let mut measure = Measure::default();
        known.into_iter().for_each(|value| measure.record(value));
        censored.into_iter().for_each(|value| measure.censor(value));
        measure
    }

    #[track_caller]
    fn check(measure: &Measure, q: f64, nanos: u64, at_least: bool) {
        let found = measure.quantile(q).unwrap();
        let off = (found.value * 1e9 - nanos as f64).abs() / nanos as f64;
        assert!(off < 0.001, "{q}: {found:?}, expected {nanos}");
        assert_eq!(found.at_least, at_least, "{q}: {found:?}");
    }

    #[test]
    fn quantiles_are_ranks() {
        let all = of(1..=100, []);
        for (q, value) in [(0.5, 50), (0.99, 99), (0.991, 100), (1.0, 100), (0.001, 1)] {
            check(&all, q, value, false);
        }
        assert_eq!(Measure::default().quantile(0.5), None);
    }

    #[test]
    fn a_request_without_an_answer_enters_as_at_least() {
        // 900 answers of 1 ms and 100 requests that were given up after 10 s.
        let measure = of([1_000_000; 900], [10_000_000_000; 100]);
        check(&measure, 0.5, 1_000_000, false);
        check(&measure, 0.9, 1_000_000, false);
        check(&measure, 0.99, 10_000_000_000, true);
        check(&measure, 1.0, 10_000_000_000, true);
        assert_eq!(measure.quantile_or_never(0.99), None);
    }

    #[test]
    fn failures_that_come_fast_do_not_make_a_server_fast() {
        // Refused after 0.1 ms: half of the requests. No quantile from the median on is known.
        let measure = of([2_000_000; 500], [100_000; 500]);
        check(&measure, 0.25, 100_000, true);
        check(&measure, 0.5, 100_000, true);
        check(&measure, 0.99, 2_000_000, true);
        assert_eq!(measure.quantile_or_never(0.51), None);
        assert!(measure.quantile_or_never(0.5).is_some());
    }

    #[test]
    fn one_failure_of_many_requests_is_not_worth_a_word() {
        let measure = of((0..20_000).map(|n| 1_000_000 + n), [100]);
        check(&measure, 0.5, 1_010_000, false);
        check(&measure, 0.99, 1_019_800, false);
        check(&measure, 1.0, 1_020_000, true);
    }

    #[test]
    fn what_is_cleared_is_empty_and_need_not_grow_again() {
        let mut measure = Measure::reaching(1_000_000_000);
        let size = measure.known.distinct_values();
        assert!(measure.is_empty() && size > empty().distinct_values());
        measure.record(1_000_000_000);
        measure.censor(5);
        assert_eq!((measure.len(), measure.known.distinct_values()), (2, size));
        measure.clear();
        assert_eq!((measure.len(), measure.quantile(0.5)), (0, None));
        measure.record(7);
        check(&measure, 1.0, 7, false);
    }

    #[test]
    fn what_is_encoded_can_be_read_back() {
        let measure = of([5, 500, 50_000], []);
        let mut bytes = Vec::new();
        measure.encode(&mut bytes);
        assert_eq!(Measure::decode(&bytes), measure.known);
    }

    proptest! {
        #[test]
        fn merging_is_the_same_as_recording_together(
            one in proptest::collection::vec(0_u64..10_000_000_000, 0..50),
            two in proptest::collection::vec(0_u64..10_000_000_000, 0..50),
        ) {
            let mut merged = of(one.clone(), two.clone());
            merged.merge(&of(two.clone(), one.clone()));
            let together = of([one.clone(), two.clone()].concat(), [two, one].concat());
            prop_assert_eq!(merged.known, together.known);
            prop_assert_eq!(merged.censored, together.censored);
        }

        #[test]
        fn a_quantile_is_within_a_thousandth_of_the_sorted_value(
            mut values in proptest::collection::vec(1_u64..100_000_000_000, 1..200),
            q in 0.001_f64..1.0,
        ) {
            let found = of(values.clone(), []).quantile(q).unwrap().value * 1e9;
            values.sort_unstable();
            let rank = becalm_model::place((q * values.len() as f64).ceil());
            let exact = values[rank.clamp(1, values.len()) - 1] as f64;
            prop_assert!((found - exact).abs() <= exact * 0.001, "{found} {exact}");
        }
    }
}
