//! Why a subject could not be started or measured.

use std::io;
use std::path::PathBuf;

use becalm_kernel::clone::Step;
use becalm_kernel::errno;

/// Why a program of somebody else was ended that was stopped.
pub(crate) const WANTS_TERMINAL: &str = "needs the terminal, which it cannot use, so becalm ended it. If it asks for \
     something there, such as a password, supply that in another way";

/// Why a subject could not be started or measured.
#[derive(Debug, thiserror::Error)]
pub enum LaunchError {
    /// The command has no words, or its first word is empty.
    #[error("the command is empty")]
    Empty,
    /// A word, variable or path cannot be given to the kernel.
    #[error("{what} contains a zero byte")]
    ZeroByte {
        /// Which text it is.
        what: String,
    },
    /// There is no such program.
    #[error("cannot find the program `{command}` ({searched})")]
    NotFound {
        /// The word as the user wrote it.
        command: String,
        /// Where it was looked for, in words.
        searched: String,
    },
    /// The program is there, but is not an executable file.
    #[error("cannot execute `{}`: {why}", path.display())]
    NotExecutable {
        /// The file found.
        path: PathBuf,
        /// What is wrong with it.
        why: &'static str,
    },
    /// A file for standard input or output cannot be opened.
    #[error("cannot open {} as {role} of the command", path.display())]
    Open {
        /// The file.
        path: PathBuf,
        /// What it was meant for.
        role: &'static str,
        /// What the kernel said.
        source: io::Error,
    },
    /// What is to be standard input can be read once only.
    #[error(
        "{} is a pipe, which the first run would empty: save its content to a file, and give that",
        path.display()
    )]
    ReadOnce {
        /// The pipe.
        path: PathBuf,
    },
    /// The subject wanted the terminal.
    #[error("`{command}` {}", WANTS_TERMINAL)]
    WantsTerminal {
        /// The program.
        command: String,
    },
    /// The subject belongs to somebody else and cannot be ended.
    #[error(
        "cannot end `{command}` (process {pid}), because it runs as another user; it is still \
         running. End it yourself, and run becalm as that user, or as root with --keep-root"
    )]
    NotOurs {
        /// The program.
        command: String,
        /// Its process.
        pid: i32,
    },
    /// The control group to run in cannot be entered.
    #[error(
        "cannot start `{command}`: entering the control group {}: {source}{}",
        folder.display(),
        explained(Step::ControlGroup, source)
    )]
    ControlGroup {
        /// The program.
        command: String,
        /// Folder of the group.
        folder: PathBuf,
        /// What the kernel said.
        source: io::Error,
    },
    /// The child could not do one of the steps before it became the subject.
    #[error("cannot start `{command}`: {}: {source}{}", words(*step), explained(*step, source))]
    Step {
        /// The program.
        command: String,
        /// The step that failed.
        step: Step,
        /// What the kernel said.
        source: io::Error,
    },
    /// The kernel refused something that becalm itself needs.
    #[error("cannot {operation}")]
    System {
        /// What was to be done, in words.
        operation: &'static str,
        /// What the kernel said.
        source: io::Error,
    },
    /// The subject wrote more than becalm keeps.
    #[error("`{command}` wrote more than {} MiB to standard output", limit / (1 << 20))]
    OutputTooLarge {
        /// The program.
        command: String,
        /// The limit in bytes.
        limit: usize,
    },
    /// A signal asked becalm to stop; the subject was ended.
    #[error("stopped by signal {signal}")]
    Interrupted {
        /// The signal.
        signal: i32,
    },
}

impl LaunchError {
    /// Says whether it is what the program is that kept it from being measured, and not what the machine allows.
    pub fn is_of_program(&self) -> bool {
        match self {
            Self::NotFound { .. }
            | Self::NotExecutable { .. }
            | Self::WantsTerminal { .. }
            | Self::OutputTooLarge { .. }
            | Self::Step { step: Step::Execute, .. } => true,
            Self::Empty
            | Self::ZeroByte { .. }
            | Self::Open { .. }
            | Self::ReadOnce { .. }
            | Self::NotOurs { .. }
            | Self::ControlGroup { .. }
            | Self::Step { .. }
            | Self::System { .. }
            | Self::Interrupted { .. } => false,
        }
    }

    /// Says whether the CPUs were what the kernel refused.
    pub fn is_affinity_refused(&self) -> bool {
        matches!(self, Self::Step { step: Step::Affinity, .. })
    }

    /// Says whether the scheduling class was what the kernel refused.
    pub fn is_scheduler_refused(&self) -> bool {
        matches!(self, Self::Step { step: Step::Scheduler, .. })
    }
}

/// Says what a step does.
fn words(step: Step) -> &'static str {
    match step {
        Step::ProcessGroup => "making a process group",
        Step::ControlGroup => "entering the control group",
        Step::Affinity => "moving to its CPUs",
        Step::Nice => "setting the niceness",
        Step::Scheduler => "setting the scheduling class",
        Step::Aslr => "turning address space layout randomisation off",
        Step::MemoryNodes => "binding its memory to its NUMA nodes",
        Step::HugePages => "setting its transparent huge pages",
        Step::OwnDescriptors => "making its own table of file descriptors",
        Step::Stdin => "connecting standard input",
        Step::Stdout => "connecting standard output",
        Step::Stderr => "connecting standard error",
        Step::ParentDeath => "making it end with becalm",
        Step::WorkingDirectory => "changing to the working directory",
        Step::Signals => "setting the signals to their defaults",
        Step::Execute => "executing it",
    }
}

/// Says what an error number means for this step, where the kernel's own words do not.
fn explained(step: Step, source: &io::Error) -> &'static str {
    match (step, source.raw_os_error()) {
        (Step::ControlGroup, Some(errno::ENOSPC)) => " (it has no CPUs or no memory nodes)",
        (Step::ControlGroup, Some(errno::ENOENT)) => {
            " (it no longer exists; was it removed meanwhile?)"
        }
        (Step::ControlGroup, Some(errno::EBUSY)) => {
            " (it passes controllers on to groups below it, so it may not contain processes)"
        }
        (Step::ControlGroup, Some(errno::EACCES | errno::EPERM)) => {
            " (moving a process to it needs root)"
        }
        (Step::Affinity, Some(errno::EINVAL)) => {
            " (none of these CPUs is online and allowed for this process; \
             see Cpus_allowed_list in /proc/self/status)"
        }
        (Step::Nice, Some(errno::EACCES | errno::EPERM)) => {
            " (a lower niceness needs CAP_SYS_NICE or RLIMIT_NICE)"
        }
        (Step::Scheduler, Some(errno::EPERM)) => {
            " (SCHED_FIFO needs CAP_SYS_NICE or RLIMIT_RTPRIO; with CONFIG_RT_GROUP_SCHED it also \
             needs a control group whose cpu.rt_runtime_us is not 0)"
        }
        (Step::Scheduler, Some(errno::EINVAL)) => " (the priority must be from 1 to 99)",
        (Step::Aslr, _) | (Step::MemoryNodes, Some(errno::EPERM)) => {
            " (a sandbox such as a container's seccomp profile refuses it)"
        }
        (Step::MemoryNodes, Some(errno::EINVAL)) => {
            " (none of these nodes has memory that this process may use; see Mems_allowed_list in \
             /proc/self/status)"
        }
        (Step::HugePages, Some(errno::EINVAL)) => {
            " (huge pages only for programs that ask for them need Linux 6.18)"
        }
        (Step::Execute, Some(errno::ENOEXEC)) => {
            " (the kernel does not know this file format; a script needs a first line such as \
             #!/bin/sh)"
        }
        (Step::Execute, Some(errno::ENOENT)) => {
            " (the file, or the interpreter or dynamic loader that it names, does not exist)"
        }
        (Step::Execute, Some(errno::E2BIG)) => " (the arguments or the environment are too large)",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refused_real_time_class_is_explained() {
        let error = LaunchError::Step {
            command: "x".into(),
            step: Step::Scheduler,
            source: io::Error::from_raw_os_error(errno::EPERM),
        };
        assert_eq!(
            error.to_string(),
            "cannot start `x`: setting the scheduling class: Operation not permitted (os error 1) \
             (SCHED_FIFO needs CAP_SYS_NICE or RLIMIT_RTPRIO; with CONFIG_RT_GROUP_SCHED it also \
             needs a control group whose cpu.rt_runtime_us is not 0)"
        );
    }
}
