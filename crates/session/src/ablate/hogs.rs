//! A busy machine on purpose: one process that computes on every CPU.

use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use becalm_lab::Workload;
use becalm_model::{CpuId, CpuSet};
use becalm_runner::{
    CounterPlan, Environment, Interrupt, Launch, Placement, Program, Stderr, Stdin, Stdout, launch,
};

use super::error::AblateError;

/// Processes that compute until this is dropped. The kernel ends them too when becalm dies, and a
/// timeout does when all else fails.
#[derive(Debug)]
pub(super) struct Hogs {
    hogs: Vec<Hog>,
}

/// One process, with the thread that waits for it.
#[derive(Debug)]
struct Hog {
    /// Its own: whoever waits for a process takes the wake-up of its interrupt away from all others
    /// that wait for the same one.
    stop: Arc<Interrupt>,
    thread: JoinHandle<()>,
}

/// Work that runs longer than anybody waits.
const ENDLESS: u64 = u64::MAX;

impl Hogs {
    /// Starts one for each of `cpus`, of the workload that computes in the core alone.
    pub(super) fn start(
        becalm: &str,
        cpus: &CpuSet,
        at_most: Duration,
    ) -> Result<Self, AblateError> {
        let failed = |error: &dyn std::fmt::Display| AblateError::NotBusy(error.to_string());
        let words = [becalm, "workload", Workload::Compute.name(), "--amount"];
        let mut words: Vec<String> = words.iter().map(ToString::to_string).collect();
        words.push(ENDLESS.to_string());
        let program = Program::resolve(&words, None, None).map_err(|error| failed(&error))?;
        // Built up from empty, so that those that run already are ended if one cannot be started.
        let mut started = Self { hogs: Vec::new() };
        for cpu in cpus.iter() {
            started.hogs.push(Hog::start(&program, cpu, at_most).map_err(|error| failed(&error))?);
        }
        Ok(started)
    }

    /// Returns how many there are.
    pub(super) fn count(&self) -> u32 {
        u32::try_from(self.hogs.len()).unwrap_or(u32::MAX)
    }

    /// Says whether all of them still compute.
    pub(super) fn are_alive(&self) -> bool {
        self.hogs.iter().all(|hog| !hog.thread.is_finished())
    }
}

impl Hog {
    fn start(program: &Program, cpu: CpuId, at_most: Duration) -> std::io::Result<Self> {
        let stop = Arc::new(Interrupt::new()?);
        let (program, raised) = (program.clone(), Arc::clone(&stop));
        let affinity = Some([cpu].into_iter().collect());
        let thread = std::thread::spawn(move || {
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
            let _ = launch(&one, &CounterPlan::none(), &raised);
        });
        Ok(Self { stop, thread })
    }
}

impl Drop for Hogs {
    fn drop(&mut self) {
        // All at once, so that none has to wait for the end of another.
        self.hogs.iter().for_each(|hog| hog.stop.raise(SIGTERM));
        for hog in self.hogs.drain(..) {
            // One that panicked has ended its process too: that is what is waited for.
            let _ = hog.thread.join();
        }
    }
}

/// `launch` returns which signal stopped it; nobody listens here.
const SIGTERM: i32 = 15;

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;
    use std::sync::mpsc;

    use super::*;

    #[test]
    fn all_of_them_end_when_they_are_dropped() {
        let allowed = becalm_runner::own_affinity().unwrap();
        if allowed.len() < 2 {
            becalm_testkit::skipped("there is one CPU, and one hog alone always ended");
            return;
        }
        let folder = tempfile::tempdir().unwrap();
        let endless = folder.path().join("endless");
        std::fs::write(&endless, "#!/bin/sh\nexec sleep 1000\n").unwrap();
        std::fs::set_permissions(&endless, PermissionsExt::from_mode(0o755)).unwrap();
        let at_most = Duration::from_secs(900);
        let hogs = Hogs::start(endless.to_str().unwrap(), &allowed, at_most).unwrap();
        assert_eq!(hogs.count() as usize, allowed.len());
        let (ended, end) = mpsc::channel();
        std::thread::spawn(move || {
            drop(hogs);
            let _ = ended.send(());
        });
        // Far beyond the grace that a process gets, and far below the time after which it ends anyway.
        assert!(end.recv_timeout(Duration::from_secs(120)).is_ok(), "a hog was not stopped");
    }
}
