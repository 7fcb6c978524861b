//! Everything that one measurement produced.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::conditions::{Backend, Conditions};
use crate::load::{MAIN_METRIC, is_metric};
use crate::machine::MachineFacts;
use crate::metric::{self, Metric};
use crate::note::{Interruption, Note};
use crate::run::Run;
use crate::runs::Runs;
use crate::subject::{Subject, SubjectTerms};
use crate::terms::{Primary, Terms};
use crate::trace::Trace;
use crate::verdict::Comparison;

/// Which command made a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecordKind {
    /// `becalm run`: one or more subjects, each on its own.
    Run,
    /// `becalm compare`: subjects against the first one.
    Comparison,
    /// `becalm import`: what another tool measured.
    Import,
}

/// Where an imported record comes from.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Source {
    /// Name of the format, as for `becalm import --format`: `pyperf`.
    pub format: String,
    /// The tool that measured and its version, as far as the file tells: `pyperf 2.10.0`.
    pub tool: String,
}

/// What another tool itself concluded about one metric of one subject.
#[derive(Debug, Clone, PartialEq)]
pub struct Summary {
    /// Index into [`Record::subjects`].
    pub subject: usize,
    /// Index into [`Record::metrics`].
    pub metric: usize,
    /// Figures in the unit of the metric, by name: `minimum`, `maximum`, `median`, `mean`,
    /// `standard_deviation`, `low` and `high` (an interval), `p90` and so on; `samples` and
    /// `iterations` are counts, `confidence` is a share.
    pub figures: Vec<(String, f64)>,
}

/// Everything that one measurement produced: the plan, the machine, the raw runs in the order in
/// which they happened, and what was concluded from them.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    /// Which command made it.
    pub kind: RecordKind,
    /// Version of becalm that made it.
    pub version: String,
    /// The command line, program name left out.
    pub arguments: Vec<String>,
    /// When the session started, in seconds since the Unix epoch.
    pub started_at: f64,
    /// Seed of the schedule and of the padding.
    pub seed: u64,
    /// Confidence asked for.
    pub confidence: f64,
    /// Smallest relative change that the user cares about.
    pub margin: f64,
    /// Whether the subjects are the same program, to learn what the machine can resolve.
    pub aa: bool,
    /// Facts about the machine.
    pub machine: MachineFacts,
    /// How the subjects were started.
    pub conditions: Conditions,
    /// What each run recorded.
    pub metrics: Vec<Metric>,
    /// What was measured. The first is the baseline of a comparison. Where all its sides are one program there is none.
    pub subjects: Vec<Subject>,
    /// What a suite says of the subjects, one for each; empty if they are of none.
    pub suite: Vec<SubjectTerms>,
    /// What a suite says about the subjects, one for each; empty if they are of none.
    pub terms: Option<Terms>,
    /// Every run in time order, warm-up included.
    pub runs: Runs,
    /// What was concluded; empty for [`RecordKind::Run`].
    pub comparisons: Vec<Comparison>,
    /// Why the session ended before its plan did, if it did.
    pub interrupted: Option<Interruption>,
    /// What the reader has to know.
    pub notes: Vec<Note>,
    /// Who took time from the runs, if that was traced.
    pub trace: Option<Trace>,
    /// Where an imported record comes from.
    pub source: Option<Source>,
    /// What the imported tool concluded itself.
    pub summaries: Vec<Summary>,
}

impl Record {
    /// Returns a record in which nothing was measured yet, at 95 % confidence.
    pub fn empty(kind: RecordKind) -> Self {
        Self {
            kind,
            version: String::new(),
            arguments: Vec::new(),
            started_at: 0.0,
            seed: 0,
            confidence: 0.95,
            margin: 0.0,
            aa: false,
            machine: MachineFacts::default(),
            conditions: Conditions::default(),
            metrics: Vec::new(),
            subjects: Vec::new(),
            suite: Vec::new(),
            terms: None,
            runs: Runs::default(),
            comparisons: Vec::new(),
            interrupted: None,
            notes: Vec::new(),
            trace: None,
            source: None,
            summaries: Vec::new(),
        }
    }

    /// Says whether nothing was measured because all sides are one program: such a comparison has no subjects, and came
    /// to its end all the same.
    pub fn is_of_one_program(&self) -> bool {
        self.kind == RecordKind::Comparison
            && self.subjects.is_empty()
            && self.interrupted.is_none()
    }

    /// Returns the index of the metric called `name`.
    pub fn metric_index(&self, name: &str) -> Option<usize> {
        self.metrics.iter().position(|metric| metric.name == name)
    }

    /// Returns the smallest relative change of a metric of a subject that matters, where a suite says it.
    pub fn margin_of(&self, subject: usize, metric: &Metric) -> Option<f64> {
        self.suite.get(subject)?.margin_of(metric)
    }

    /// Returns the name of what says how long a whole program takes: the wall time, or where that is the time of a
    /// simulation, the instructions. A server takes as long as becalm lets it, and its answers take the response time.
    /// Where something else about the load decides, that.
    pub fn usual_metric(&self) -> &str {
        if let Some(terms) = self.terms.as_ref().filter(|terms| terms.runs.load.is_some()) {
            let Primary::Named(names) = &terms.primary else { return MAIN_METRIC };
            let decides = names.iter().find(|name| is_metric(name));
            return decides.map_or(MAIN_METRIC, String::as_str);
        }
        match self.conditions.backend {
            Backend::Processor => metric::WALL_TIME,
            Backend::Callgrind => metric::INSTRUCTIONS,
        }
    }

    /// Says whether the runs were simulated, so that times are those of the simulation.
    pub fn is_simulated(&self) -> bool {
        self.conditions.backend == Backend::Callgrind
    }

    /// Says whether the values of a metric are those of a simulation and not of the program: it is recorded beside
    /// what the simulator counts.
    pub fn is_of_simulation(&self, metric: &Metric) -> bool {
        self.is_simulated() && metric::is_builtin(&metric.name) && !metric.exact
    }

    /// Returns the measured runs of one subject, in time order: those of warm-up rounds and of
    /// discarded rounds are left out.
    pub fn measured(&self, subject: usize) -> impl Iterator<Item = &Run> {
        self.runs.of_subject(subject).map(|(_, run)| run).filter(|run| run.is_measured())
    }

    /// Says whether measured runs of a subject were cut off.
    pub fn is_cut_off(&self, subject: usize) -> bool {
        self.measured(subject).any(Run::is_censored)
    }

    /// Returns how many rounds were measured and kept.
    pub fn rounds(&self) -> u32 {
        self.numbers(Run::is_measured)
    }

    /// Returns how many rounds were measured and then discarded.
    pub fn discarded_rounds(&self) -> u32 {
        self.numbers(|run| !run.warmup && run.discarded)
    }

    /// Counts the round numbers of some runs.
    fn numbers(&self, of: impl Fn(&Run) -> bool) -> u32 {
        let mut numbers: Vec<u32> =
            self.runs.iter().filter(|run| of(run)).map(|run| run.round).collect();
        numbers.sort_unstable();
        numbers.dedup();
        u32::try_from(numbers.len()).expect("fewer than 2^32 rounds")
    }

    /// Returns the values of one metric over the measured runs of one subject, in time order;
    /// runs without the value are left out.
    pub fn values(&self, subject: usize, metric: usize) -> Vec<f64> {
        self.measured(subject).filter_map(|run| run.value(metric)).collect()
    }

    /// Returns the metrics that some of these runs have a value of, by rising index. A subject may have few of the
    /// metrics of a record.
    pub fn metrics_of<'a>(&self, runs: impl IntoIterator<Item = &'a Run>) -> Vec<usize> {
        let mut found = vec![false; self.metrics.len()];
        for run in runs {
            let of_process = run.values.iter().enumerate().filter(|(_, value)| value.is_some());
            // What has a place among the values of the process is none of a benchmark.
            let of_benchmarks = run.parts.iter().map(|part| part.metric);
            let of_benchmarks = of_benchmarks.filter(|&at| at >= run.values.len());
            for at in of_process.map(|(at, _)| at).chain(of_benchmarks) {
                if let Some(found) = found.get_mut(at) {
                    *found = true;
                }
            }
        }
        (0..found.len()).filter(|&at| found[at]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::{CPU_PER_REQUEST, Scenario, ServerTerms};
    use crate::terms::RunTerms;

    fn of_servers(primary: Primary) -> Record {
        let server = ServerTerms {
            text: "2000".to_owned(),
            scenario: Scenario::default(),
            url: None,
            ready: None,
            keep: false,
        };
        let runs = RunTerms { load: Some(Box::new(server)), ..RunTerms::default() };
        let terms = Some(Terms { primary, runs, ..Terms::default() });
        Record { terms, ..Record::empty(RecordKind::Comparison) }
    }

    #[test]
    fn a_program_is_usually_about_its_time_and_a_simulated_one_about_its_instructions() {
        let mut record = Record::empty(RecordKind::Run);
        assert_eq!(record.usual_metric(), metric::WALL_TIME);
        record.terms = Some(Terms::default());
        assert_eq!(record.usual_metric(), metric::WALL_TIME);
        record.conditions.backend = Backend::Callgrind;
        assert_eq!(record.usual_metric(), metric::INSTRUCTIONS);
    }

    #[test]
    fn a_server_is_usually_about_its_response_time_or_what_else_of_the_load_decides() {
        assert_eq!(of_servers(Primary::Auto).usual_metric(), MAIN_METRIC);
        let named = |names: &[&str]| {
            let names = names.iter().map(ToString::to_string).collect();
            of_servers(Primary::Named(names)).usual_metric().to_owned()
        };
        assert_eq!(named(&["service_p50", MAIN_METRIC]), "service_p50");
        assert_eq!(named(&[metric::MAX_RSS, CPU_PER_REQUEST]), CPU_PER_REQUEST);
        // How long a server runs is said by becalm.
        assert_eq!(named(&[metric::WALL_TIME]), MAIN_METRIC);
    }
}
