//! From interpreters and compilers to workers that are ready to be run.

use std::time::Duration;

use becalm_machine::SysRoot;
use becalm_model::terms::Counters;
use becalm_runner::timeit::{Calibration, Setting, Snippet, Workbench, Worker, calibrate};
use becalm_runner::{CounterPlan, Interrupt, Program};

use super::amount::AmountWish;
use super::error::TimeitError;
use super::tools::Tools;
use crate::setup::Surroundings;

/// Where the programs of version managers such as pyenv lie that only start others.
const SHIMS: &str = "/shims/";

/// A worker, and what its calibration found.
#[derive(Debug)]
pub(super) struct ReadyWorker {
    /// What it is called in reports.
    pub(super) name: String,
    /// The interpreter or compiler, in words.
    pub(super) tool: Vec<String>,
    /// The worker.
    pub(super) worker: Worker,
    /// Loops of each value.
    pub(super) loops: u64,
    /// Seconds that a value takes.
    pub(super) value: f64,
    /// What the interpreter calls itself; empty if it does not know.
    pub(super) version: String,
}

/// Workers that are ready to be run, as long as this lives.
#[derive(Debug)]
pub(super) struct Ready {
    /// One for each interpreter or compiler, the baseline first.
    pub(super) workers: Vec<ReadyWorker>,
    /// Where they lie, removed in the end.
    _workbench: Workbench,
}

/// Makes the workers and finds out their loops.
pub(super) fn ready(
    snippet: &Snippet,
    tools: &Tools,
    wish: &AmountWish,
    surroundings: &Surroundings,
    interrupt: &Interrupt,
) -> Result<Ready, TimeitError> {
    let workbench = Workbench::create(snippet).map_err(TimeitError::Folder)?;
    let (counters, _) = CounterPlan::probe(&SysRoot::default(), Counters::None);
    let setting = Setting {
        environment: &surroundings.environment,
        placement: &surroundings.placement,
        counters: &counters,
        interrupt,
    };
    let language = tools.language;
    let mut workers = Vec::new();
    for (index, (tool, name)) in tools.commands.iter().zip(tools.names()).enumerate() {
        let worker = if language.is_compiled() {
            let made = workbench.compiled(tool, &tools.flags, index);
            made.map_err(|source| match interrupt.signal() {
                Some(signal) => TimeitError::Stopped(signal),
                None => TimeitError::NotCompiled { source, language },
            })?
        } else {
            workbench.interpreted(tool)
        };
        // The loops that the user gives are tried too, once: a mistake in the code ends becalm before the session.
        let given = wish.loops;
        let least = if given.is_some() { Duration::from_nanos(1) } else { wish.min_time };
        let found = calibrate(&worker, least, setting)
            .map_err(|source| TimeitError::NotCalibrated { source, language })?;
        let worker = without_shim(worker, &found, surroundings);
        workers.push(ReadyWorker {
            name,
            tool: tool.clone(),
            worker,
            loops: given.unwrap_or(found.loops),
            value: value(&found, given),
            version: found.version,
        });
    }
    Ok(Ready { workers, _workbench: workbench })
}

/// Returns about how long a value takes, as far as it is known: if the user set the loops, only one
/// was tried, which says little about many unless it is long.
fn value(found: &Calibration, given: Option<u64>) -> f64 {
    const LONG: f64 = 0.01;
    match given {
        None => found.seconds(),
        Some(loops) if found.seconds() > LONG => {
            found.seconds() / found.loops as f64 * loops as f64
        }
        Some(_) => 0.0,
    }
}

/// Runs the interpreter itself instead of the script of a version manager that looks for it each time.
fn without_shim(worker: Worker, found: &Calibration, surroundings: &Surroundings) -> Worker {
    let path = surroundings.environment.get("PATH".as_ref());
    let is_shim = Program::resolve(&worker.words, path, None)
        .is_ok_and(|program| program.path().to_string_lossy().contains(SHIMS));
    match &found.program {
        Some(program) if is_shim && program.is_file() => {
            let mut words = worker.words;
            words[0] = program.to_string_lossy().into_owned();
            Worker { words }
        }
        _ => worker,
    }
}
