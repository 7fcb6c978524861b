//! What of a record goes into a file: subjects, metrics and runs, and what is told of the rest.

use std::collections::{HashMap, HashSet};

use becalm_model::{Metric, Outcome, Part, Record, Run, metric};

use crate::writers::ExportError;
use crate::writers::names::list;
use crate::writers::options::Options;

/// Which metrics a format takes where nobody chose any.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Usual {
    /// All that it can hold.
    All,
    /// The wall time, what benchmarks gave and what the user had read from the output: the results.
    /// Counters and the like are evidence beside them, and would be charted and tested as results.
    Results,
}

/// What is exported of a record.
pub(super) struct Selection<'a> {
    pub(super) record: &'a Record,
    /// Indices of the metrics that the format can hold.
    pub(super) metrics: Vec<usize>,
    /// Where each of them stands among them.
    places: HashMap<usize, usize>,
    /// Indices of the subjects.
    pub(super) subjects: Vec<usize>,
    /// What the reader of the file has to know.
    pub(super) notes: Vec<String>,
}

/// Why a metric cannot be in a file, or nothing.
pub(super) type Fit = Result<(), &'static str>;

impl<'a> Selection<'a> {
    /// Selects of `record` what `options` choose, or what is usual for the format, as far as `fits` says
    /// that the format can hold it.
    pub(super) fn new(
        record: &'a Record,
        options: &'a Options,
        format: &'static str,
        usual: Usual,
        fits: impl Fn(&Metric) -> Fit,
    ) -> Result<Self, ExportError> {
        let subjects = match &options.subjects {
            Some(chosen) => chosen.clone(),
            None => (0..record.subjects.len()).collect(),
        };
        let all = (0..record.metrics.len()).collect::<Vec<_>>();
        let wanted = match &options.metrics {
            Some(chosen) => chosen.clone(),
            None if usual == Usual::Results => results(record),
            None => all.clone(),
        };
        let mut notes = Vec::new();
        let mut refused: Vec<(&'static str, Vec<&str>)> = Vec::new();
        let mut metrics = Vec::new();
        for &at in &wanted {
            let one = &record.metrics[at];
            match fits(one) {
                Ok(()) => metrics.push(at),
                Err(why) => match refused.iter_mut().find(|(reason, _)| *reason == why) {
                    Some((_, names)) => names.push(&one.name),
                    None => refused.push((why, vec![&one.name])),
                },
            }
        }
        for (why, names) in &refused {
            notes.push(format!("not exported, because {why}: {}", list(names.iter().copied())));
        }
        if metrics.is_empty() {
            let reasons = refused
                .iter()
                .map(|(why, names)| format!("{why} ({})", list(names.iter().copied())));
            let why = reasons.collect::<Vec<_>>().join("; ");
            let why = if why.is_empty() { "it has no metric".to_owned() } else { why };
            return Err(ExportError::NothingFits { format, why });
        }
        // Those that could be chosen too.
        let known: HashSet<usize> = wanted.iter().copied().collect();
        let others = all.iter().filter(|at| !known.contains(at) && options.metrics.is_none());
        let others: Vec<&str> = others
            .map(|&at| &record.metrics[at])
            .filter(|one| fits(one).is_ok())
            .map(|one| one.name.as_str())
            .collect();
        if !others.is_empty() {
            notes.push(format!(
                "not exported, because the default is results only (--metric chooses others): {}",
                list(others)
            ));
        }
        let places = metrics.iter().copied().zip(0..).collect();
        let mut selection = Self { record, metrics, places, subjects, notes };
        selection.tell_statistics();
        selection.tell_runs();
        Ok(selection)
    }

    /// Says something once.
    pub(super) fn note(&mut self, sentence: impl Into<String>) {
        let sentence = sentence.into();
        if !self.notes.contains(&sentence) {
            self.notes.push(sentence);
        }
    }

    /// Says how many of something were left out, if any.
    pub(super) fn note_count(&mut self, count: usize, sentence: &str) {
        if count > 0 {
            self.note(format!("{sentence}: {count}"));
        }
    }

    /// Returns the runs of a subject that estimates use, in time order.
    pub(super) fn measured(&self, subject: usize) -> impl Iterator<Item = &'a Run> + use<'a> {
        self.record.measured(subject)
    }

    /// Returns the runs of a subject that were kept, with those of its warm-up, in time order.
    pub(super) fn kept(&self, subject: usize) -> impl Iterator<Item = &'a Run> + use<'a> {
        self.record.runs.of_subject(subject).map(|(_, run)| run).filter(|run| !run.discarded)
    }

    /// Returns the runs of a subject's warm-up, in time order.
    pub(super) fn warmup(&self, subject: usize) -> impl Iterator<Item = &'a Run> + use<'a> {
        self.kept(subject).filter(|run| run.warmup)
    }

    /// Returns the chosen metrics that some run of a subject has, in their order. Of many metrics a subject may have
    /// few.
    pub(super) fn metrics_of(&self, subject: usize) -> Vec<usize> {
        let there = self.record.metrics_of(self.kept(subject));
        let mut chosen: Vec<usize> =
            there.iter().filter_map(|at| self.places.get(at).copied()).collect();
        chosen.sort_unstable();
        chosen.into_iter().map(|place| self.metrics[place]).collect()
    }

    /// Returns the runs of the chosen subjects.
    fn chosen_runs(&self) -> impl Iterator<Item = &'a Run> {
        let chosen: HashSet<usize> = self.subjects.iter().copied().collect();
        self.record.runs.iter().filter(move |run| chosen.contains(&run.subject))
    }

    /// Returns the values of a subject's metric, one per measured run; what is no finite number is left
    /// out.
    pub(super) fn values(&self, subject: usize, metric: usize) -> Vec<f64> {
        let values = self.measured(subject).filter_map(|run| run.value(metric));
        values.filter(|value| value.is_finite()).collect()
    }

    /// Returns a name for one metric of one subject, as short as it can be: of the wall time that of the
    /// subject, and of a benchmark of the only subject that of the benchmark.
    pub(super) fn name(&self, subject: usize, at: usize) -> String {
        let (subject, one) = (&self.record.subjects[subject].name, &self.record.metrics[at]);
        match &one.benchmark {
            Some(_) if self.record.subjects.len() == 1 => one.name.clone(),
            None if one.name == metric::WALL_TIME => subject.clone(),
            _ => format!("{subject} {}", one.name),
        }
    }

    /// Returns the figure that a benchmark's metric is about, without the benchmark's name: `B/op`; empty
    /// for the one that it is mainly about.
    pub(super) fn measure(&self, at: usize) -> &'a str {
        let one = &self.record.metrics[at];
        let beside = one.benchmark.as_deref().and_then(|name| one.name.strip_prefix(name));
        beside.map_or(&one.name, str::trim_start)
    }

    /// Says whether values that harnesses gave for whole processes are not those of the iterations. Formats
    /// that hold one of both call it.
    pub(super) fn note_own_values(&mut self) {
        let is_own = |part: &Part| {
            let middle = crate::imported::median(&part.iterations);
            self.places.contains_key(&part.metric)
                && middle.is_some_and(|middle| middle.total_cmp(&part.value).is_ne())
        };
        let count = self.chosen_runs().filter(|run| run.parts.iter().any(is_own)).count();
        self.note_count(
            count,
            "processes have a value of their own beside their iterations, and the format has \
             room for only one of the two",
        );
    }

    /// Says whether there are iterations inside of processes. Formats that have one value per process call
    /// it.
    pub(super) fn note_iterations(&mut self) {
        let has = |part: &Part| part.iterations.len() > 1 && self.places.contains_key(&part.metric);
        if self.chosen_runs().any(|run| run.parts.iter().any(has)) {
            self.note(
                "iterations inside processes are not exported: each process counts with one value",
            );
        }
    }

    fn tell_statistics(&mut self) {
        let names = |statistic: &str| {
            let of =
                |at: &&usize| self.record.metrics[**at].statistic.as_deref() == Some(statistic);
            let names = self.metrics.iter().filter(of);
            list(names.map(|&at| self.record.metrics[at].name.as_str()))
        };
        let mut statistics: Vec<&str> = self
            .metrics
            .iter()
            .filter_map(|&at| self.record.metrics[at].statistic.as_deref())
            .collect();
        statistics.sort_unstable();
        statistics.dedup();
        let told: Vec<String> = statistics
            .into_iter()
            .map(|one| {
                format!(
                    "each value is the {one} of many and not a raw value, but the file can be \
                     misread that way: {}",
                    names(one)
                )
            })
            .collect();
        self.notes.extend(told);
    }

    fn tell_runs(&mut self) {
        let runs: Vec<&Run> = self.chosen_runs().collect();
        let discarded = runs.iter().filter(|run| run.discarded).count();
        let kept = || runs.iter().filter(|run| run.is_measured());
        let cut = kept().filter(|run| run.is_censored()).count();
        let failed =
            kept().filter(|run| !run.outcome.is_success() && run.outcome != Outcome::TimedOut);
        let (failed, timed) = (failed.count(), kept().any(|run| !run.iterations.is_empty()));
        self.note_count(discarded, "runs of disturbed rounds that were repeated are not exported");
        self.note_count(cut, "runs that were ended at the timeout are exported as lower bounds");
        self.note_count(failed, "runs that failed are exported like others");
        if runs.iter().any(|run| run.is_measured() && run.layout.is_some()) {
            self.note(
                "which build each run used is not exported: runs of one layout depend on each \
                 other, and the file does not show that",
            );
        }
        if timed {
            self.note("iterations that the programs timed themselves are not exported");
        }
    }
}

/// Returns the metrics that are results; all where none is one.
fn results(record: &Record) -> Vec<usize> {
    let all = 0..record.metrics.len();
    let is_result = |at: &usize| {
        let one = &record.metrics[*at];
        one.benchmark.is_some() || one.name == metric::WALL_TIME || !metric::is_builtin(&one.name)
    };
    let results: Vec<usize> = all.clone().filter(is_result).collect();
    if results.is_empty() { all.collect() } else { results }
}

/// Returns what one run gave for a metric, value by value: the iterations inside of it, or the one value.
/// What is no finite number is left out.
pub(super) fn inside(run: &Run, metric: usize) -> Vec<f64> {
    let values = match run.part(metric) {
        Some(part) if !part.iterations.is_empty() => part.iterations.clone(),
        _ => run.value(metric).into_iter().collect(),
    };
    values.into_iter().filter(|value: &f64| value.is_finite()).collect()
}
