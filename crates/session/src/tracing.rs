//! `--trace`: the kernel is traced beside a session, and runs are labelled with who took the time.

use std::time::Duration;

use becalm_lab::trace::{Mode, TraceError, Tracer, joined};
use becalm_machine::SysRoot;
use becalm_model::terms::RunTerms;
use becalm_model::{Evidence, Record};
use becalm_runner::monotonic_raw;
use becalm_runner::rounds::{Executor, Learnt, MeasuredRun, RunError, RunRequest, Spawn};

/// Which runs of a session are traced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tracing {
    /// None.
    Off,
    /// All.
    Every,
    /// Those of one subject, so that the others show what tracing costs.
    Only(usize),
}

impl Tracing {
    /// Returns which runs some terms ask for.
    pub fn of(runs: &RunTerms) -> Self {
        if runs.trace { Self::Every } else { Self::Off }
    }
}

/// Runs subjects with a trace beside them.
pub(crate) struct Traced<'a, 'b> {
    pub(crate) executor: &'a mut Spawn<'b>,
    tracer: Option<Tracer>,
    tracing: Tracing,
    is_paused: bool,
}

impl<'a, 'b> Traced<'a, 'b> {
    /// Starts the trace, if one is wanted.
    pub(crate) fn start(
        executor: &'a mut Spawn<'b>,
        tracing: Tracing,
        root: &SysRoot,
    ) -> Result<Self, TraceError> {
        let tracer = match tracing {
            Tracing::Off => None,
            Tracing::Every | Tracing::Only(_) => Some(Tracer::start(root, Mode::Subjects)?),
        };
        Ok(Self { executor, tracer, tracing, is_paused: false })
    }

    /// Ends the trace and adds its results to the runs of the record.
    pub(crate) fn finish(self, record: &mut Record, root: &SysRoot) {
        let Some(tracer) = self.tracer else { return };
        let recording = tracer.finish();
        // A resumed session may be older than the machine is up.
        let began = monotonic_raw().as_secs_f64() - self.executor.elapsed().as_secs_f64();
        let mut trace = joined(&recording, record, began, root);
        // A resumed session keeps what was traced before.
        if let Some(before) = record.trace.take() {
            let known = |run| before.runs.iter().any(|one| one.run == run);
            trace.runs.retain(|one| !known(one.run));
            trace.runs.extend(before.runs.iter().cloned());
            trace.runs.sort_by_key(|one| one.run);
            trace.events += before.events;
            trace.lost += before.lost;
        }
        record.trace = Some(trace);
    }
}

impl Executor for Traced<'_, '_> {
    type Error = RunError;

    fn wait_until_settled(&mut self) -> Option<f64> {
        self.executor.wait_until_settled()
    }

    fn run(&mut self, request: RunRequest) -> Result<MeasuredRun, RunError> {
        if let (Some(tracer), Tracing::Only(subject)) = (&self.tracer, self.tracing) {
            match (request.subject == subject, self.is_paused) {
                (true, true) => tracer.resume(),
                (false, false) => tracer.pause(),
                _ => {}
            }
            self.is_paused = request.subject != subject;
        }
        self.executor.run(request)
    }

    fn evidence(&mut self, close: bool) -> Vec<Evidence> {
        self.executor.evidence(close)
    }

    fn elapsed(&self) -> Duration {
        self.executor.elapsed()
    }

    fn adapt(&mut self, learnt: Learnt) {
        self.executor.adapt(learnt);
    }

    fn interrupted(&self) -> Option<i32> {
        self.executor.interrupted()
    }
}
