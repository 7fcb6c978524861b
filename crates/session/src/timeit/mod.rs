//! How long does a statement take? Workers that time it, made ready for a session.

mod amount;
mod error;
mod tools;
mod workers;

use becalm_model::conditions::{OwnTiming, StatementWorker};
use becalm_model::terms::{SubjectSource, Terms};
use becalm_model::{RecordKind, Subject, metric};
use becalm_runner::Interrupt;
use becalm_runner::timeit::{Rule, Snippet, Usual};

use self::amount::Amount;
pub use self::amount::{AmountWish, Effort};
pub use self::error::TimeitError;
pub use self::tools::Tools;
use self::workers::{Ready, ReadyWorker};
use crate::conduct::Request;
use crate::error::Error;
use crate::setup::{Statement, surroundings};

/// A statement that is ready to be timed, as long as this lives.
#[derive(Debug)]
pub struct Timeit {
    ready: Ready,
    amount: Amount,
    rule: Rule,
    terms: Terms,
}

impl Timeit {
    /// Makes the workers and finds out their loops. The benchmark is called `name`, or like the
    /// statement itself.
    pub fn prepare(
        snippet: &Snippet,
        tools: &Tools,
        name: Option<&str>,
        wish: &AmountWish,
        terms: Terms,
        interrupt: &Interrupt,
    ) -> Result<Self, Error> {
        let is_comparison = tools.is_comparison();
        if !snippet.global.is_empty() && !snippet.language.is_compiled() {
            return Err(TimeitError::NoGlobal.into());
        }
        if snippet.is_empty() {
            return Err(TimeitError::NoStatement.into());
        }
        let name = benchmark_name(name, snippet)?;
        let ready = workers::ready(snippet, tools, wish, &surroundings(&terms.runs)?, interrupt)?;
        let versions = ready.workers.iter().map(|worker| worker.version.as_str());
        let amount = Amount::of(wish, Usual::of(versions), is_comparison);
        let timing = own_timing(snippet, &ready, &amount);
        let terms = Terms {
            source: SubjectSource::Statement,
            margin: if is_comparison { terms.margin } else { 0.0 },
            stop: amount.stop(wish, is_comparison),
            ..terms
        };
        let rule = Rule { name, operations: snippet.operations(), timing };
        Ok(Self { ready, amount, rule, terms })
    }

    /// Returns the loops of each value, one for each interpreter or compiler.
    pub fn loops(&self) -> impl Iterator<Item = u64> {
        self.ready.workers.iter().map(|worker| worker.loops)
    }

    /// Returns how many values each process gives.
    pub fn values(&self) -> u32 {
        self.amount.values
    }

    /// Returns how many seconds the slowest value takes, and all of them at most, as far as that is known.
    pub fn seconds(&self) -> (f64, f64) {
        let values = || self.ready.workers.iter().map(|worker| worker.value);
        (values().fold(0.0, f64::max), values().sum::<f64>() * self.amount.values_in_all())
    }

    /// Returns the session that times it.
    pub fn request(&self, arguments: Vec<String>) -> Request {
        let Self { ready, amount, rule, terms } = self;
        let subject = |worker: &ReadyWorker| Subject::new(worker.name.clone(), worker.tool.clone());
        let run = |one: &ReadyWorker| one.worker.run(one.loops, amount.warmups, amount.values);
        let commands = ready.workers.iter().map(run).collect();
        let subjects: Vec<Subject> = ready.workers.iter().map(subject).collect();
        let kind = if subjects.len() > 1 { RecordKind::Comparison } else { RecordKind::Run };
        Request {
            statement: Some(Statement { commands, rule: rule.clone() }),
            ..Request::new("timeit", kind, terms.clone(), subjects, arguments)
        }
    }
}

/// Returns what the benchmark is called: the metric of the record, which must not be taken for another one.
fn benchmark_name(given: Option<&str>, snippet: &Snippet) -> Result<String, TimeitError> {
    let name = given.map_or_else(|| snippet.shown(), |name| name.trim().to_owned());
    match name {
        name if name.is_empty() => Err(TimeitError::NoName),
        name if metric::is_builtin(&name) => Err(TimeitError::NameTaken(name)),
        name => Ok(name),
    }
}

/// Returns how the statement is timed, for the record.
fn own_timing(snippet: &Snippet, ready: &Ready, amount: &Amount) -> OwnTiming {
    let worker = |one: &ReadyWorker| StatementWorker {
        version: if one.version.is_empty() { one.name.clone() } else { one.version.clone() },
        loops: one.loops,
    };
    OwnTiming::Statement {
        language: snippet.language.name().to_owned(),
        values: amount.values,
        warmups: amount.warmups,
        workers: ready.workers.iter().map(worker).collect(),
        operations: Some(snippet.operations()).filter(|&operations| operations > 1.0),
    }
}
