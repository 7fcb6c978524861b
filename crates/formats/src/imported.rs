//! A record while a file is read into it.

use std::collections::{BTreeMap, HashMap, HashSet};

use becalm_model::history::full_name;
use becalm_model::{
    Direction, ImportFact, ImportNote, Metric, Outcome, Part, Record, RecordKind, Run, Source,
    Subject, Summary, Unit,
};

use crate::{File, ImportError};

/// A record that is being filled from a file: subjects and metrics are made when they are first named.
#[derive(Debug)]
pub(crate) struct Imported {
    record: Record,
    subjects: HashMap<String, usize>,
    /// Subjects that differ in parameters, by their names with these.
    loads: HashMap<String, usize>,
    metrics: HashMap<String, usize>,
    names: Names,
    noted: HashSet<String>,
    newest: Option<ImportNote>,
    /// How many runs each subject has.
    runs: Vec<u32>,
    /// For each subject the process whose results are being added.
    open: BTreeMap<usize, Open>,
}

/// A process, as far as its results were added.
#[derive(Debug, Default)]
struct Open {
    parts: Vec<Part>,
    metrics: HashSet<usize>,
}

impl Imported {
    /// Begins a record of what `tool` measured, such as `hyperfine 1.20.0`.
    pub(crate) fn of(tool: impl Into<String>) -> Self {
        let mut record = Record::empty(RecordKind::Import);
        record.source = Some(Source { format: String::new(), tool: tool.into() });
        Self {
            record,
            subjects: HashMap::new(),
            loads: HashMap::new(),
            metrics: HashMap::new(),
            names: Names::default(),
            noted: HashSet::new(),
            newest: None,
            runs: Vec::new(),
            open: BTreeMap::new(),
        }
    }

    /// Says when the measurement started, in seconds since the Unix epoch.
    pub(crate) fn started_at(&mut self, seconds: f64) {
        self.record.started_at = seconds;
    }

    /// Keeps a fact about the machine or the build; an empty text is none. Names that becalm's own facts
    /// have (`cpu_model`, `kernel_release`, `governor`, `logical_cpus`, ...) are used where they fit.
    #[expect(clippy::needless_pass_by_value, reason = "callers hand in texts and numbers alike")]
    pub(crate) fn fact(&mut self, name: &str, value: impl ToString) {
        let value = value.to_string();
        if !value.is_empty() {
            self.record.machine.facts.insert(name.to_owned(), value);
        }
    }

    /// Tells the reader something about the file, once.
    pub(crate) fn note(&mut self, note: ImportNote) {
        // What is noted of every value is noted one after the other.
        if self.newest.as_ref() == Some(&note) {
            return;
        }
        if self.noted.insert(format!("{note:?}")) {
            self.record.notes.push(note.clone().into());
        }
        self.newest = Some(note);
    }

    /// Tells the reader what is known of such files, once.
    pub(crate) fn known(&mut self, what: ImportFact) {
        self.note(ImportNote::Known { what });
    }

    /// Says that a benchmark failed, and what the tool says of it.
    pub(crate) fn failed(&mut self, benchmark: impl Into<String>, why: Option<String>) {
        self.note(ImportNote::Failed { benchmark: benchmark.into(), why });
    }

    /// Marks a metric as one whose values are this statistic, for lack of single values.
    pub(crate) fn stand_in(&mut self, metric: usize, statistic: &str) {
        self.mark(metric, statistic);
        self.note(ImportNote::StandsIn { statistic: statistic.to_owned(), of_every: false });
    }

    /// Says that the file has this statistic of everything, and no single values.
    pub(crate) fn has_only(&mut self, statistic: &str) {
        self.note(ImportNote::StandsIn { statistic: statistic.to_owned(), of_every: true });
    }

    /// Returns the subject of this name.
    pub(crate) fn subject(&mut self, name: &str) -> usize {
        self.command(name, Vec::new(), Vec::new())
    }

    /// Returns the subject of this name; a new one has this command and these parameters.
    pub(crate) fn command(
        &mut self,
        name: &str,
        command: Vec<String>,
        parameters: Vec<(String, String)>,
    ) -> usize {
        *self.subjects.entry(name.to_owned()).or_insert_with(|| {
            self.record.subjects.push(Subject { parameters, ..Subject::new(name, command) });
            self.runs.push(0);
            self.record.subjects.len() - 1
        })
    }

    /// Returns the subject of this name with these parameters, as which load on a server is: the same name with
    /// others is another subject, whose name then says its parameters.
    pub(crate) fn with_parameters(
        &mut self,
        name: &str,
        parameters: Vec<(String, String)>,
    ) -> usize {
        let full = with_parameters(name, &parameters);
        if let Some(&known) = self.loads.get(&full) {
            return known;
        }
        let free = if self.subjects.contains_key(name) { full.as_str() } else { name };
        let at = self.command(free, Vec::new(), parameters);
        self.loads.insert(full, at);
        at
    }

    /// Returns a subject of its own for this name, which gets a number if there is one already.
    pub(crate) fn another(
        &mut self,
        name: &str,
        command: Vec<String>,
        parameters: Vec<(String, String)>,
    ) -> usize {
        let unique = self.names.unique(name);
        self.command(&unique, command, parameters)
    }

    /// Returns the metric of this name; a new one is as given. Metrics of the whole process have to be
    /// made before those of benchmarks. One of another unit, or with another direction, is another
    /// metric, whose name says the unit: values of both must not be mixed.
    pub(crate) fn metric(&mut self, mut metric: Metric) -> usize {
        let known = self.metrics.get(&metric.name).map(|&at| &self.record.metrics[at]);
        if known.is_some_and(|known| !known.is_same_quantity(&metric)) {
            metric.name = format!("{} [{}]", metric.name, metric.quantity());
        }
        if let Some(&at) = self.metrics.get(&metric.name) {
            return at;
        }
        let at = self.record.metrics.len();
        self.metrics.insert(metric.name.clone(), at);
        self.record.metrics.push(metric);
        at
    }

    /// Returns a metric of the benchmark `name`: with an empty `measure` the one that it is about,
    /// otherwise one beside it, such as `B/op`.
    pub(crate) fn benchmark(
        &mut self,
        name: &str,
        measure: &str,
        unit: Unit,
        direction: Direction,
    ) -> usize {
        self.metric(benchmark(name, measure, unit, direction))
    }

    /// Marks a metric as one whose values are this statistic of many.
    pub(crate) fn mark(&mut self, metric: usize, statistic: &str) {
        self.record.metrics[metric].statistic = Some(statistic.to_owned());
    }

    /// Takes back that a metric is exact, because its values differ all the same.
    pub(crate) fn inexact(&mut self, metric: usize) {
        let metric = &mut self.record.metrics[metric];
        if std::mem::take(&mut metric.exact) {
            let metric = metric.name.clone();
            self.note(ImportNote::NotExactAfterAll { metric });
        }
    }

    /// Adds a process of `subject` whose `values` belong to the first metrics.
    pub(crate) fn process(&mut self, subject: usize, values: Vec<Option<f64>>, outcome: Outcome) {
        let round = self.next_round(subject);
        self.record.runs.push(Run { values, outcome, ..Run::blank(subject, round) });
    }

    /// Adds a process of `subject` with what its benchmarks gave.
    pub(crate) fn parts(&mut self, subject: usize, parts: Vec<Part>) {
        self.parts_of(subject, parts, false);
    }

    /// The same for a process that may belong to the warm-up.
    pub(crate) fn parts_of(&mut self, subject: usize, mut parts: Vec<Part>, warmup: bool) {
        let is_finite = |part: &Part| {
            part.value.is_finite() && part.iterations.iter().all(|one| one.is_finite())
        };
        if !parts.iter().all(is_finite) {
            parts.retain(is_finite);
            self.known(ImportFact::TooLarge);
        }
        parts.sort_by_key(|part| part.metric);
        // Of two of one metric the first counts, which no importer should make.
        parts.dedup_by_key(|part| part.metric);
        if !parts.is_empty() {
            let round = self.next_round(subject);
            self.record.runs.push(Run { parts, warmup, ..Run::blank(subject, round) });
        }
    }

    /// Adds a process that has both: `values` of the first metrics, and what its benchmarks gave.
    pub(crate) fn whole(
        &mut self,
        subject: usize,
        values: Vec<Option<f64>>,
        mut parts: Vec<Part>,
        warmup: bool,
    ) {
        parts.sort_by_key(|part| part.metric);
        let round = self.next_round(subject);
        self.record.runs.push(Run { values, parts, warmup, ..Run::blank(subject, round) });
    }

    /// Adds results of one benchmark, where tools print them one behind the other: those of one subject belong
    /// to one process until a benchmark comes again. So several outputs in one file are several processes.
    pub(crate) fn add(&mut self, subject: usize, parts: Vec<Part>) {
        if parts.iter().any(|part| self.is_open(subject, part.metric)) {
            let open = self.open.remove(&subject).unwrap_or_default();
            self.parts(subject, open.parts);
        }
        let open = self.open.entry(subject).or_default();
        open.metrics.extend(parts.iter().map(|part| part.metric));
        open.parts.extend(parts);
    }

    /// Says whether the process whose results are being added has this metric already.
    pub(crate) fn is_open(&self, subject: usize, metric: usize) -> bool {
        self.open.get(&subject).is_some_and(|open| open.metrics.contains(&metric))
    }

    /// Makes room for this many processes.
    pub(crate) fn expect(&mut self, processes: usize) {
        self.record.runs.reserve_exact(processes);
    }

    /// Keeps what the tool itself concluded; figures that are no finite numbers are left out.
    pub(crate) fn summary<N: Into<String>>(
        &mut self,
        subject: usize,
        metric: usize,
        figures: impl IntoIterator<Item = (N, Option<f64>)>,
    ) {
        let figures: Vec<(String, f64)> = figures
            .into_iter()
            .filter_map(|(name, value)| Some((name.into(), value.filter(|v| v.is_finite())?)))
            .collect();
        if !figures.is_empty() {
            self.record.summaries.push(Summary { subject, metric, figures });
        }
    }

    /// Returns the record, if there is a measured value in it.
    pub(crate) fn finish(mut self, file: &File) -> Result<Record, ImportError> {
        for (subject, open) in std::mem::take(&mut self.open) {
            self.parts(subject, open.parts);
        }
        let has_value = |run: &Run| {
            run.is_measured() && (!run.parts.is_empty() || run.values.iter().any(Option::is_some))
        };
        if !self.record.runs.iter().any(has_value) {
            return Err(ImportError::no_measurement(file.name.clone()));
        }
        Ok(self.record)
    }

    fn next_round(&mut self, subject: usize) -> u32 {
        let round = self.runs[subject];
        self.runs[subject] += 1;
        round
    }
}

/// Makes names unique: one that was there before gets a number.
#[derive(Debug, Default)]
pub(crate) struct Names(HashMap<String, u32>);

impl Names {
    /// Returns this name, or `name #2` and so on. Numbers only rise, so many equal names cost little.
    pub(crate) fn unique(&mut self, name: &str) -> String {
        let Some(last) = self.0.get(name).copied() else {
            self.0.insert(name.to_owned(), 1);
            return name.to_owned();
        };
        let mut number = last;
        let unique = loop {
            number = number.saturating_add(1);
            let candidate = format!("{name} #{number}");
            if !self.0.contains_key(&candidate) {
                break candidate;
            }
        };
        self.0.insert(name.to_owned(), number);
        self.0.insert(unique.clone(), 1);
        unique
    }
}

/// What tells subjects apart: the name with the parameters, and the parameters.
pub(crate) type SubjectKey = (String, Vec<(String, String)>);

/// Returns the name of a subject with those of its parameters that are not the name itself.
pub(crate) fn with_parameters(name: &str, parameters: &[(String, String)]) -> String {
    let others =
        parameters.iter().filter(|(_, value)| value != name).map(|(name, value)| (name, value));
    let suffix = full_name("", others);
    if name.ends_with(&suffix) { name.to_owned() } else { format!("{name}{suffix}") }
}

/// Describes a metric of a benchmark.
pub(crate) fn benchmark(name: &str, measure: &str, unit: Unit, direction: Direction) -> Metric {
    let full = if measure.is_empty() { name.to_owned() } else { format!("{name} {measure}") };
    Metric { direction, benchmark: Some(name.to_owned()), ..Metric::lower(&full, unit) }
}

/// Returns those parameters of a subject that are known.
pub(crate) fn parameters_of<const N: usize>(all: [(&str, &str); N]) -> Vec<(String, String)> {
    let known = all.into_iter().filter(|(_, value)| !value.is_empty());
    known.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

/// Returns what a benchmark gave one by one, with the median as its value; `None` without a value.
pub(crate) fn part(metric: usize, iterations: Vec<f64>) -> Option<Part> {
    let value = median(&iterations)?;
    // A single value is no series.
    let iterations = if iterations.len() > 1 { iterations } else { Vec::new() };
    Some(Part { metric, value, iterations })
}

/// Returns what a benchmark gave as one value.
pub(crate) fn single(metric: usize, value: f64) -> Part {
    Part { metric, value, iterations: Vec::new() }
}

pub(crate) fn median(values: &[f64]) -> Option<f64> {
    if values.is_empty() {
        return None;
    }
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    Some(if sorted.len() % 2 == 1 {
        sorted[middle]
    } else {
        // Halved first: the sum of two large values may be infinite.
        sorted[middle - 1] / 2.0 + sorted[middle] / 2.0
    })
}
