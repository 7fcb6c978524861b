//! Why a subject could not be started or measured.

use std::fmt;
use std::io;
use std::path::PathBuf;

/// Why a program of somebody else was ended that was stopped.
pub(crate) const WANTS_TERMINAL: &str = "wants to use the terminal, which it does not have: it was ended. What it \
                                         asks for there (a password?) has to be given in another way";

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
        "{} is a pipe, of which the first run would leave nothing to the next: keep what comes from it in a \
         file, and give that",
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
        "cannot end `{command}` (process {pid}), which runs as another user and goes on: end it yourself, \
         and run becalm as that user, or as root with --keep-root"
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
    #[error("cannot start `{command}`: {step}: {source}{}", explained(*step, source))]
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

/// What the child does between its start and the subject's first instruction, in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Step {
    /// Makes a process group of its own, so that everything it starts can be ended.
    ProcessGroup = 1,
    /// Enters a control group, which must come before its CPUs can be asked for.
    ControlGroup,
    /// Goes to the CPUs of the placement.
    Affinity,
    /// Sets the niceness.
    Nice,
    /// Sets the scheduling class.
    Scheduler,
    /// Turns address space layout randomisation off.
    Aslr,
    /// Takes a table of file descriptors of its own.
    OwnDescriptors,
    /// Connects standard input.
    Stdin,
    /// Connects standard output.
    Stdout,
    /// Connects standard error.
    Stderr,
    /// Sets the supplementary groups of the user.
    Groups,
    /// Sets the group.
    Group,
    /// Sets the user.
    User,
    /// Gives up the capabilities that a change of user leaves.
    Capabilities,
    /// Asks to be ended when becalm dies.
    ParentDeath,
    /// Changes to the working directory.
    WorkingDirectory,
    /// Sets every signal to its default action.
    Signals,
    /// Executes the program.
    Execute,
}

impl Step {
    const ALL: [Self; 18] = [
        Self::ProcessGroup,
        Self::ControlGroup,
        Self::Affinity,
        Self::Nice,
        Self::Scheduler,
        Self::Aslr,
        Self::OwnDescriptors,
        Self::Stdin,
        Self::Stdout,
        Self::Stderr,
        Self::Groups,
        Self::Group,
        Self::User,
        Self::Capabilities,
        Self::ParentDeath,
        Self::WorkingDirectory,
        Self::Signals,
        Self::Execute,
    ];

    /// Returns the step that the child wrote down as a number; 0 is none.
    pub(crate) fn from_number(number: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|step| *step as u8 == number)
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ProcessGroup => "making a process group",
            Self::ControlGroup => "entering the control group",
            Self::Affinity => "going to the CPUs asked for",
            Self::Nice => "setting the niceness",
            Self::Scheduler => "setting the scheduling class",
            Self::Aslr => "turning address space layout randomisation off",
            Self::OwnDescriptors => "taking a table of file descriptors of its own",
            Self::Stdin => "connecting standard input",
            Self::Stdout => "connecting standard output",
            Self::Stderr => "connecting standard error",
            Self::Groups => "setting the groups of the user",
            Self::Group => "changing the group",
            Self::User => "changing the user",
            Self::Capabilities => "giving up the capabilities",
            Self::ParentDeath => "tying its life to becalm's",
            Self::WorkingDirectory => "changing to the working directory",
            Self::Signals => "setting the signals to their defaults",
            Self::Execute => "executing it",
        })
    }
}

/// Says what an error number means for this step, where the kernel's own words do not.
fn explained(step: Step, source: &io::Error) -> &'static str {
    match (step, source.raw_os_error()) {
        (Step::ControlGroup, Some(libc::ENOSPC)) => " (it has no CPUs or no memory nodes)",
        (Step::ControlGroup, Some(libc::ENOENT)) => " (it is gone; was it removed meanwhile?)",
        (Step::ControlGroup, Some(libc::EBUSY)) => {
            " (it hands controllers on to groups below it, so no process may be in it)"
        }
        (Step::ControlGroup, Some(libc::EACCES | libc::EPERM)) => {
            " (moving a process to it needs root)"
        }
        (Step::Affinity, Some(libc::EINVAL)) => {
            " (none of these CPUs is online and allowed for this process; \
             see Cpus_allowed_list in /proc/self/status)"
        }
        (Step::Nice, Some(libc::EACCES | libc::EPERM)) => {
            " (a lower niceness needs CAP_SYS_NICE or RLIMIT_NICE)"
        }
        (Step::Scheduler, Some(libc::EPERM)) => {
            " (SCHED_FIFO needs CAP_SYS_NICE or RLIMIT_RTPRIO; with CONFIG_RT_GROUP_SCHED it also \
             needs a control group whose cpu.rt_runtime_us is not 0)"
        }
        (Step::Scheduler, Some(libc::EINVAL)) => " (the priority has to be from 1 to 99)",
        (Step::Aslr, _) => " (a sandbox such as a container's seccomp profile refuses it)",
        (Step::Execute, Some(libc::ENOEXEC)) => {
            " (the kernel does not know this file format; a script needs a first line such as \
             #!/bin/sh)"
        }
        (Step::Execute, Some(libc::ENOENT)) => {
            " (the file, or the interpreter or dynamic loader that it names, does not exist)"
        }
        (Step::Execute, Some(libc::E2BIG)) => " (the arguments or the environment are too large)",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_step_is_found_again_by_its_number() {
        for step in Step::ALL {
            assert_eq!(Step::from_number(step as u8), Some(step));
        }
        assert_eq!(Step::from_number(0), None);
        assert_eq!(Step::from_number(19), None);
    }

    #[test]
    fn a_refused_real_time_class_is_explained() {
        let error = LaunchError::Step {
            command: "x".into(),
            step: Step::Scheduler,
            source: io::Error::from_raw_os_error(libc::EPERM),
        };
        assert_eq!(
            error.to_string(),
            "cannot start `x`: setting the scheduling class: Operation not permitted (os error 1) \
             (SCHED_FIFO needs CAP_SYS_NICE or RLIMIT_RTPRIO; with CONFIG_RT_GROUP_SCHED it also \
             needs a control group whose cpu.rt_runtime_us is not 0)"
        );
    }
}
