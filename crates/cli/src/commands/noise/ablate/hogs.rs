//! A busy machine on purpose: one process that computes on every CPU.

use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use becalm_lab::Workload;
use becalm_model::CpuSet;
use becalm_runner::{
    CounterPlan, Environment, Interrupt, Launch, Placement, Program, Stderr, Stdin, Stdout, launch,
};

use crate::error::CommandError;

/// Processes that compute until this is dropped. The kernel ends them too when becalm dies, and a
/// timeout does when all else fails.
#[derive(Debug)]
pub(super) struct Hogs {
    stop: Arc<Interrupt>,
    threads: Vec<JoinHandle<()>>,
}

/// Work that nobody lives to see the end of.
const ENDLESS: u64 = u64::MAX;

impl Hogs {
    /// Starts one for each of `cpus`, of the workload that computes in the core alone.
    pub(super) fn start(
        becalm: &str,
        cpus: &CpuSet,
        at_most: Duration,
    ) -> Result<Self, CommandError> {
        let failed = |error: &dyn std::fmt::Display| {
            CommandError::measure(format!("cannot make the machine busy: {error}"))
        };
        let words = [becalm, "workload", Workload::Compute.name(), "--amount"];
        let mut words: Vec<String> = words.iter().map(ToString::to_string).collect();
        words.push(ENDLESS.to_string());
        let program = Program::resolve(&words, None, None).map_err(|error| failed(&error))?;
        let stop = Arc::new(Interrupt::new().map_err(|error| failed(&error))?);
        let threads = cpus.iter().map(|cpu| {
            let (program, stop) = (program.clone(), Arc::clone(&stop));
            let affinity = Some([cpu].into_iter().collect());
            std::thread::spawn(move || {
                let one = Launch {
                    program: &program,
                    environment: &Environment::default(),
                    padding: 0,
                    placement: &Placement { affinity, ..Placement::default() },
                    stdin: &Stdin::Null,
                    stdout: &Stdout::Null,
                    stderr: Stderr::Null,
                    cwd: None,
                    timeout: Some(at_most),
                };
                // It ends by being stopped, which is told as an error.
                let _ = launch(&one, &CounterPlan::none(), &stop);
            })
        });
        Ok(Self { threads: threads.collect(), stop })
    }

    /// Returns how many there are.
    pub(super) fn count(&self) -> u32 {
        u32::try_from(self.threads.len()).unwrap_or(u32::MAX)
    }

    /// Says whether all of them still compute.
    pub(super) fn are_alive(&self) -> bool {
        self.threads.iter().all(|thread| !thread.is_finished())
    }
}

impl Drop for Hogs {
    fn drop(&mut self) {
        self.stop.raise(SIGTERM);
        for thread in self.threads.drain(..) {
            // One that panicked has ended its process too: that is what is waited for.
            let _ = thread.join();
        }
    }
}

/// `launch` tells which signal stopped it; nobody listens here.
const SIGTERM: i32 = 15;
