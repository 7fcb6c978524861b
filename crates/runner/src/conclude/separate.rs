//! Comparison of two records that were measured at different times.

use std::collections::{BTreeMap, HashMap};

use becalm_model::{
    Comparison, ComparisonNote, Metric, RatioInterval, Record, RecordKind, Run, Verdict,
};
use becalm_stats::decide::{family, unpaired};

use super::verdict::{exact_verdict, ratio_of_exact, verdict};

/// What is compared of two records.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pairing {
    /// Index of a subject of the old record.
    pub baseline: usize,
    /// Index of a subject of the new record.
    pub candidate: usize,
    /// Name of a metric.
    pub metric: String,
}

/// Compares all that is to be compared, so that all verdicts together hold at `confidence` (Holm 1979). What
/// only one side has is left out. `margin` is the smallest relative change that matters where the suite of the
/// new record says no other.
pub fn compare_all_separate(
    old: &Record,
    new: &Record,
    pairings: &[Pairing],
    confidence: f64,
    margin: f64,
) -> Vec<Comparison> {
    let alpha = 1.0 - confidence;
    let [in_old, in_new] = [old, new].map(|record| -> HashMap<&str, usize> {
        record.metrics.iter().map(|metric| metric.name.as_str()).zip(0..).collect()
    });
    let sides = |one: &Pairing| {
        let [of_old, of_new] = [&in_old, &in_new].map(|of| of.get(one.metric.as_str()).copied());
        let a = Measured { record: old, subject: one.baseline, metric: of_old? };
        Some((a, Measured { record: new, subject: one.candidate, metric: of_new? }))
    };
    let at = |(a, b): (Measured<'_>, Measured<'_>), level: f64| {
        let margin = new.margin_of(b.subject, b.described()).unwrap_or(margin);
        compare(a, b, 1.0 - level, margin)
    };
    let first: Vec<_> = (pairings.iter())
        .filter_map(|one| {
            let sides = sides(one)?;
            Some((sides, at(sides, alpha)?))
        })
        .collect();
    // What is exact or has no interval cannot err and takes nothing from the others.
    let errs =
        |comparison: &Comparison| comparison.ratio.is_some_and(|ratio| ratio.low < ratio.high);
    let p_values: Vec<f64> = first
        .iter()
        .filter(|(_, comparison)| errs(comparison))
        .map(|(sides, _)| p_value(*sides))
        .collect();
    let mut levels = family::levels(&p_values, |share| alpha / share as f64).into_iter();
    first
        .into_iter()
        .map(|(sides, comparison)| {
            let level = if errs(&comparison) { levels.next() } else { None };
            level.and_then(|level| at(sides, level)).unwrap_or(comparison)
        })
        .collect()
}

/// One metric of one subject of a record.
#[derive(Clone, Copy)]
struct Measured<'a> {
    record: &'a Record,
    subject: usize,
    metric: usize,
}

impl<'a> Measured<'a> {
    fn described(self) -> &'a Metric {
        &self.record.metrics[self.metric]
    }

    fn is_cut_off(self) -> bool {
        self.record.is_cut_off(self.subject)
    }
}

fn p_value((old, new): (Measured<'_>, Measured<'_>)) -> f64 {
    let [old, new] = [old, new].map(|one| Side::of(one).logs);
    unpaired::estimate(&old, &new, 0.5).map_or(1.0, |estimate| estimate.p)
}

/// Compares `metric` (by name) of one subject of each record as two independent samples of processes, or of
/// layouts where the program was built in several. The
/// order of measuring was not random between them, so drift of the machine cannot be excluded: a note says so,
/// and another why there is no ratio where there is none. Indices in the result: `baseline` into `old`, `candidate` into `new`, `metric` into
/// `old`. `None` where one of them has no value, or where the metric has another unit or direction in each: seconds
/// and operations per second have no ratio.
pub fn compare_separate(
    (old, baseline): (&Record, usize),
    (new, candidate): (&Record, usize),
    metric: &str,
    confidence: f64,
    margin: f64,
) -> Option<Comparison> {
    let old = Measured { record: old, subject: baseline, metric: old.metric_index(metric)? };
    let new = Measured { record: new, subject: candidate, metric: new.metric_index(metric)? };
    compare(old, new, confidence, margin)
}

fn compare(
    old: Measured<'_>,
    new: Measured<'_>,
    confidence: f64,
    margin: f64,
) -> Option<Comparison> {
    let described = [old.described(), new.described()];
    let sides = [old, new].map(Side::of);
    if sides.iter().any(|side| side.values.is_empty())
        || !described[0].is_same_quantity(described[1])
    {
        return None;
    }
    let least = |number: fn(&Side) -> usize| {
        let [old, new] = sides.each_ref().map(number);
        u32::try_from(old.min(new)).expect("fewer than 2^32 runs")
    };
    let direction = described[0].direction;
    let mut comparison = Comparison {
        baseline: old.subject,
        candidate: new.subject,
        metric: old.metric,
        primary: true,
        ratio: None,
        verdict: Verdict::Inconclusive,
        confidence,
        rounds: least(|side| side.observations),
        discarded_rounds: 0,
        noise_floor: None,
        rounds_needed: None,
        notes: vec![ComparisonNote::MeasuredSeparately.into()],
    };
    if let Some(ratio) = exact_ratio(described, &sides) {
        comparison.ratio = Some(RatioInterval { estimate: ratio, low: ratio, high: ratio });
        comparison.verdict = exact_verdict(ratio, margin, direction);
        comparison.confidence = 1.0;
        comparison.noise_floor = Some(0.0);
        return Some(comparison);
    }
    let dropped: usize = sides.iter().map(|side| side.not_positive).sum();
    if dropped > 0 {
        comparison.notes.push(ComparisonNote::ValuesWithoutRatio { values: dropped }.into());
        comparison.rounds = least(|side| side.logs.len());
    }
    match ratio(&sides, 1.0 - confidence) {
        // Two lower bounds say nothing about the ratio, and one of them at most which way it goes.
        _ if old.is_cut_off() || new.is_cut_off() => {
            comparison.notes.push(ComparisonNote::LowerBounds.into());
        }
        // Over how many processes another tool took a mean is not known.
        _ if is_summary(old) || is_summary(new) => {
            comparison.notes.push(ComparisonNote::NoSingleValues.into());
        }
        Ok(found) => {
            comparison.ratio = Some(found);
            comparison.verdict = verdict(&found, margin, direction);
            comparison.noise_floor = Some((found.high / found.low).sqrt() - 1.0);
        }
        // That they are left out was said.
        Err(_) if sides.iter().any(|side| side.logs.is_empty()) => {}
        Err(why) => comparison.notes.push(why.into()),
    }
    Some(comparison)
}

/// Says whether a file of another tool has only a statistic of values that nobody has. Where becalm started the
/// processes itself, the statistic that each gave is its one value.
fn is_summary(one: Measured<'_>) -> bool {
    one.record.kind == RecordKind::Import && one.described().statistic.is_some()
}

/// What one record has of a metric of one subject.
struct Side {
    /// One for each process.
    values: Vec<f64>,
    /// How many of them have no logarithm.
    not_positive: usize,
    /// How many observations the values are: one each, or one for each layout.
    observations: usize,
    /// Logarithms of the observations that have one. Runs of the same layout share its luck and are one
    /// observation, as they are [in turns](super::pairs::observations).
    logs: Vec<f64>,
    /// Whether the observations are layouts.
    by_layout: bool,
}

impl Side {
    fn of(Measured { record, subject, metric }: Measured<'_>) -> Self {
        let with_value = |run: &'_ Run| Some((run.layout, run.value(metric)?));
        let values: Vec<(Option<u32>, f64)> =
            record.measured(subject).filter_map(with_value).collect();
        let mut layouts: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
        let mut logs = Vec::with_capacity(values.len());
        for &(layout, value) in &values {
            let log = Some(value.ln()).filter(|_| value > 0.0);
            match layout {
                Some(layout) => layouts.entry(layout).or_default().extend(log),
                None => logs.extend(log),
            }
        }
        let without_layout = values.iter().filter(|(layout, _)| layout.is_none()).count();
        let mean = |logs: &Vec<f64>| logs.iter().sum::<f64>() / logs.len() as f64;
        logs.extend(layouts.values().filter(|logs| !logs.is_empty()).map(mean));
        Self {
            not_positive: values.iter().filter(|(_, value)| *value <= 0.0).count(),
            observations: without_layout + layouts.len(),
            logs,
            by_layout: !layouts.is_empty(),
            values: values.into_iter().map(|(_, value)| value).collect(),
        }
    }
}

/// Returns the ratio of a metric that is exact on both sides, if its values bear that out.
fn exact_ratio(metrics: [&Metric; 2], sides: &[Side; 2]) -> Option<f64> {
    let values = sides.each_ref().map(|side| &side.values);
    #[expect(clippy::float_cmp, reason = "exact values are equal to the last bit or differ")]
    let are_exact = metrics.iter().all(|metric| metric.exact)
        && values.iter().all(|side| side.iter().all(|value| *value == side[0]));
    if are_exact { ratio_of_exact(values[0][0], values[1][0]) } else { None }
}

/// Returns the ratio with its interval, or why there is none.
fn ratio([old, new]: &[Side; 2], level: f64) -> Result<RatioInterval, ComparisonNote> {
    let estimate = unpaired::estimate(&old.logs, &new.logs, level).ok_or_else(|| {
        let are_layouts = old.by_layout || new.by_layout;
        if are_layouts { ComparisonNote::OneLayout } else { ComparisonNote::OneProcess }
    })?;
    let found = RatioInterval {
        estimate: estimate.centre.exp(),
        low: estimate.low.exp(),
        high: estimate.high.exp(),
    };
    if found.low < found.high { Ok(found) } else { Err(ComparisonNote::SameValues) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use becalm_model::{Note, Subject, Unit};

    fn record(values: &[f64], change: impl Fn(&mut Metric)) -> Record {
        let mut metric = Metric::lower("m", Unit::Second);
        change(&mut metric);
        let mut record = Record::empty(RecordKind::Import);
        record.subjects.push(Subject::new("a", vec![]));
        record.metrics.push(metric);
        record.runs.extend(values.iter().zip(0..).map(|(&value, round)| becalm_model::Run {
            subject: 0,
            round,
            order: 0,
            warmup: false,
            discarded: false,
            started: 0.0,
            outcome: becalm_model::Outcome::Unknown,
            values: vec![Some(value)],
            parts: vec![],
            iterations: vec![],
            evidence: None,
            padding: 0,
            layout: None,
            load: None,
        }));
        record
    }

    #[track_caller]
    fn check(
        a: &[f64],
        b: &[f64],
        change: impl Fn(&mut Metric),
        verdict: Verdict,
        note: Option<&ComparisonNote>,
    ) {
        let (old, new) = (record(a, &change), record(b, &change));
        let found = compare_separate((&old, 0), (&new, 0), "m", 0.95, 0.01).unwrap();
        assert_eq!(found.verdict, verdict);
        assert_eq!(found.notes[0], ComparisonNote::MeasuredSeparately.into());
        assert_eq!(found.notes.get(1), note.cloned().map(Note::from).as_ref());
    }

    #[test]
    fn processes_are_what_is_compared() {
        let (a, b) = ([1.0, 1.01, 0.99, 1.0, 1.02], [1.2, 1.21, 1.19, 1.2, 1.22]);
        check(&a, &b, |_| (), Verdict::Slower, None);
        check(&b, &a, |_| (), Verdict::Faster, None);
    }

    #[test]
    fn runs_of_one_layout_are_one_observation() {
        // Two layouts of each, 2 % apart, and ten runs of each that hardly differ.
        let build = |shift: f64| {
            let values: Vec<f64> = (0..20)
                .map(|run| shift + [1.0, 1.02][run % 2] + 0.0001 * (run / 2) as f64)
                .collect();
            let mut record = record(&values, |_| ());
            for (run, layout) in record.runs.iter_mut().zip([1, 2].into_iter().cycle()) {
                run.layout = Some(layout);
            }
            record
        };
        let (old, new) = (build(0.0), build(0.02));
        let pairing = Pairing { baseline: 0, candidate: 0, metric: "m".to_owned() };
        for found in [
            compare_separate((&old, 0), (&new, 0), "m", 0.95, 0.01).unwrap(),
            compare_all_separate(&old, &new, std::slice::from_ref(&pairing), 0.95, 0.01).remove(0),
        ] {
            assert_eq!((found.verdict, found.rounds), (Verdict::Inconclusive, 2), "{found:?}");
        }
        let side = |record| Measured { record, subject: 0, metric: 0 };
        assert!(p_value((side(&old), side(&new))) > 0.1, "two layouts tell little");
        let one = |mut record: Record| {
            record.runs.iter_mut().for_each(|run| run.layout = Some(1));
            record
        };
        let found = compare_separate((&one(old), 0), (&new, 0), "m", 0.95, 0.01).unwrap();
        assert_eq!((found.rounds, &found.notes[1]), (1, &ComparisonNote::OneLayout.into()));
    }

    #[test]
    fn other_units_and_directions_are_not_compared() {
        let old = record(&[1.0, 1.1, 1.2, 1.1], |_| ());
        let changes: [fn(&mut Metric); 2] = [
            |metric| metric.unit = Unit::Named("ops/s".to_owned()),
            |metric| metric.direction = becalm_model::Direction::Higher,
        ];
        for change in changes {
            let new = record(&[2.0, 2.1, 2.2, 2.1], change);
            assert_eq!(compare_separate((&old, 0), (&new, 0), "m", 0.95, 0.01), None);
        }
    }

    #[test]
    fn one_process_decides_nothing() {
        check(
            &[1.0],
            &[2.0, 2.1],
            |_| (),
            Verdict::Inconclusive,
            Some(&ComparisonNote::OneProcess),
        );
        let mean = |metric: &mut Metric| metric.statistic = Some("mean".into());
        check(&[1.0], &[2.0], mean, Verdict::Inconclusive, Some(&ComparisonNote::NoSingleValues));
    }

    #[test]
    fn statistics_of_files_are_never_tested_however_many_files_there_are() {
        let mean = |metric: &mut Metric| metric.statistic = Some("mean".into());
        let (a, b) = ([1.0, 1.01, 0.99, 1.0, 1.02], [1.2, 1.21, 1.19, 1.2, 1.22]);
        check(&a, &b, mean, Verdict::Inconclusive, Some(&ComparisonNote::NoSingleValues));
        // One process each that becalm started.
        let own = |values| Record { kind: RecordKind::Run, ..record(values, mean) };
        let found = compare_separate((&own(&a), 0), (&own(&b), 0), "m", 0.95, 0.01).unwrap();
        assert_eq!(found.verdict, Verdict::Slower);
    }

    #[test]
    fn equal_values_are_certain_only_where_they_are_exact() {
        check(
            &[1.0; 4],
            &[2.0; 4],
            |_| (),
            Verdict::Inconclusive,
            Some(&ComparisonNote::SameValues),
        );
        check(&[1.0; 4], &[2.0; 4], |metric| metric.exact = true, Verdict::Slower, None);
        check(&[1.0], &[1.0], |metric| metric.exact = true, Verdict::Equivalent, None);
        check(&[0.0], &[5.0], |metric| metric.exact = true, Verdict::Slower, None);
    }

    #[test]
    fn values_without_a_ratio_are_told() {
        let below = ComparisonNote::ValuesWithoutRatio { values: 2 };
        check(&[-2.0], &[-4.0], |metric| metric.exact = true, Verdict::Inconclusive, Some(&below));
        let (old, new) = (record(&[0.0], |_| ()), record(&[0.0], |_| ()));
        let found = compare_separate((&old, 0), (&new, 0), "m", 0.95, 0.01).unwrap();
        let both = [ComparisonNote::MeasuredSeparately, below.clone()].map(Note::from);
        assert_eq!(found.notes, both, "how many there are is not why");
        let (a, b) = ([0.0, 0.0, 1.0, 1.01, 0.99, 1.0, 1.02], [1.2, 1.21, 1.19, 1.2, 1.22]);
        check(&a, &b, |_| (), Verdict::Slower, Some(&below));
    }

    #[test]
    fn nothing_finer_than_a_step_is_told() {
        // A clock of 10 ms.
        let (a, b) = ([0.1; 20], [[0.11; 12].as_slice(), &[0.1; 8]].concat());
        check(&a, &b, |_| (), Verdict::Inconclusive, None);
    }
}
