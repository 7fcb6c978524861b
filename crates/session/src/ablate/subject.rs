//! What is run: a workload that times itself, or a command that is timed as a whole.

use becalm_lab::Workload;
use becalm_lab::ablate::advice::has;
use becalm_lab::ablate::mitigation::Means;
use becalm_model::ablate::Timing;
use becalm_model::wire::read_workload;
use becalm_runner::{Environment, Finished, LaunchError, Program};

/// Iterations before the measured ones, where warming up is the mitigation.
const WARMUP_ITERATIONS: u32 = 20;

/// Share of the CPU time that the main thread of a program with one thread has. The rest leaves
/// room for the program loader.
const MAIN_THREAD_SHARE: f64 = 0.95;

/// What is run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Subject {
    /// A built-in workload, as a process of this program.
    Workload {
        /// This program's file.
        becalm: String,
        /// Which workload.
        workload: Workload,
        /// Timed iterations of each run.
        iterations: u32,
        /// How many threads it has, whatever CPUs it may use; `None` if that depends on the CPUs.
        threads: Option<usize>,
    },
    /// A command.
    Command(Vec<String>),
}

/// What one run showed.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Shown {
    /// Seconds of each iteration, or of the whole run.
    pub(super) values: Vec<f64>,
    /// Whether everything was done by one thread.
    pub(super) single_threaded: bool,
}

impl Subject {
    /// Returns its name for people.
    pub fn name(&self) -> String {
        match self {
            Self::Workload { workload, .. } => workload.name().to_owned(),
            Self::Command(words) => shell_words::join(words),
        }
    }

    /// Returns the iterations of each run, if it has any.
    pub(super) fn iterations(&self) -> Option<u32> {
        match self {
            Self::Workload { iterations, .. } => Some(*iterations),
            Self::Command(_) => None,
        }
    }

    /// Returns how it is timed.
    pub(super) fn timing(&self) -> Timing {
        match self {
            Self::Workload { .. } => Timing::Iterations,
            Self::Command(_) => Timing::Runs,
        }
    }

    /// Returns its words under a set of mitigations: a workload takes flags for two of them.
    pub(super) fn words(&self, members: &[usize]) -> Vec<String> {
        match self {
            Self::Command(words) => words.clone(),
            Self::Workload { becalm, workload, iterations, threads } => {
                let mut words = vec![
                    becalm.clone(),
                    "workload".to_owned(),
                    workload.name().to_owned(),
                    "--iterations".to_owned(),
                    iterations.to_string(),
                    "--json".to_owned(),
                ];
                if let Some(threads) = threads {
                    words.extend(["--tasks".to_owned(), threads.to_string()]);
                }
                if has(members, Means::LockMemory) {
                    words.push("--mlock".to_owned());
                }
                if has(members, Means::WarmUp) {
                    words.extend(["--warmup".to_owned(), WARMUP_ITERATIONS.to_string()]);
                }
                words
            }
        }
    }

    /// Finds the program to execute under a set of mitigations.
    pub(super) fn program(
        &self,
        members: &[usize],
        environment: &Environment,
    ) -> Result<Program, LaunchError> {
        Program::resolve(&self.words(members), environment.get("PATH".as_ref()), None)
    }

    /// Reads what a run showed.
    ///
    /// # Errors
    ///
    /// If the output is not that of a workload.
    pub(super) fn shown(&self, finished: &Finished) -> Result<Shown, String> {
        match self {
            Self::Command(_) => Ok(Shown {
                values: vec![finished.wall],
                single_threaded: finished
                    .main_thread_time
                    .is_some_and(|main| main >= MAIN_THREAD_SHARE * finished.cpu_time()),
            }),
            Self::Workload { workload, .. } => {
                let output = finished.output.as_deref().unwrap_or_default();
                let document = read_workload(output).map_err(|error| error.to_string())?;
                // A crew is timed as one.
                let single_threaded = document.tasks.len() <= 1 && !workload.is_of_several();
                Ok(Shown { single_threaded, values: document.values })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use becalm_lab::ablate::mitigation::find;

    #[test]
    fn a_workload_takes_flags_for_what_only_itself_can_do() {
        let subject = Subject::Workload {
            becalm: "/b".to_owned(),
            workload: Workload::ArraySum,
            iterations: 7,
            threads: None,
        };
        let members = ["pin", "mlock", "warm-up"].map(|name| find(name).unwrap());
        assert_eq!(
            subject.words(&members).join(" "),
            "/b workload array-sum --iterations 7 --json --mlock --warmup 20"
        );
        let crew = Subject::Workload {
            becalm: "/b".to_owned(),
            workload: Workload::Oversubscribed,
            iterations: 7,
            threads: Workload::Oversubscribed.threads_on(3),
        };
        let words = crew.words(&[find("pin").unwrap()]).join(" ");
        assert_eq!(words, "/b workload oversubscribed --iterations 7 --json --tasks 6");
        let command = Subject::Command(vec!["a".to_owned(), "b c".to_owned()]);
        assert_eq!(command.words(&members), ["a", "b c"]);
        assert_eq!((command.name().as_str(), command.timing()), ("a 'b c'", Timing::Runs));
    }
}
