//! The start of a run, and what it will have used.

use std::ffi::CString;
use std::os::fd::RawFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::Duration;

use becalm_kernel::clone::{self, Child, StartError, Started, Step, Strings};
use becalm_kernel::huge_pages::HugePages;
use becalm_kernel::numa::NodeMask;
use becalm_kernel::perf::PerfAttr;
use becalm_machine::isolate::{Door, open_group};
use becalm_machine::{SysRoot, affinity};
use becalm_model::Outcome;
use becalm_model::conditions::{Aslr, Scheduler, Thp};

use crate::counters::CounterPlan;
use crate::environment::{Environment, padding_variable};
use crate::launch_error::LaunchError;
use crate::pace::Sampled;
use crate::placement::Placement;
use crate::program::Program;
use crate::stdio::{Connections, Stderr, Stdin, Stdout};

/// Everything that one run depends on.
#[derive(Debug, Clone, Copy)]
pub struct Launch<'a> {
    /// What to execute.
    pub program: &'a Program,
    /// The variables it sees.
    pub environment: &'a Environment,
    /// Bytes of the variable that moves the start of the stack; 0 leaves it out.
    pub padding: u32,
    /// Where and as whom it runs.
    pub placement: &'a Placement,
    /// What it reads.
    pub stdin: &'a Stdin,
    /// Where its output goes.
    pub stdout: &'a Stdout,
    /// Where its messages go.
    pub stderr: Stderr,
    /// The directory it starts in; `None` for becalm's. The files of `stdin` and `stdout` are
    /// looked for from there too.
    pub cwd: Option<&'a Path>,
    /// How long it may run before it is ended.
    pub timeout: Option<Duration>,
}

/// What came of one run.
#[derive(Debug, Clone, PartialEq)]
pub struct Finished {
    /// `CLOCK_MONOTONIC_RAW` right before the subject was executed.
    pub released: Duration,
    /// Seconds from there until becalm noticed the end.
    pub wall: f64,
    /// How it ended.
    pub outcome: Outcome,
    /// Seconds in user mode since then, of the process and the children that it waited for.
    pub user_time: f64,
    /// Seconds in the kernel, likewise.
    pub system_time: f64,
    /// Largest resident set in bytes, of the process or any child that it waited for. Never less
    /// than becalm's own, which the kernel counts as the process's until it executes the subject:
    /// see [`resident_floor`].
    pub max_rss: u64,
    /// Switches away because it waited for something, since then, as all counts.
    pub voluntary_switches: u64,
    /// Switches away although it could have run on.
    pub involuntary_switches: u64,
    /// Page faults without I/O.
    pub minor_faults: u64,
    /// Page faults with I/O.
    pub major_faults: u64,
    /// CPU time of the main thread alone, in seconds.
    pub main_thread_time: Option<f64>,
    /// Time for which the main thread was ready but waited for a CPU, in seconds.
    pub run_delay: Option<f64>,
    /// The pace of its CPU, where that was sampled.
    pub pace: Option<Sampled>,
    /// One value per [`CounterPlan::metrics`].
    pub counters: Vec<Option<f64>>,
    /// What it wrote, with [`Stdout::Capture`].
    pub output: Option<Vec<u8>>,
    /// The last lines of its standard error where it did not end well, with [`Stderr::Kept`]; where there are none,
    /// those of its output.
    pub said: Vec<String>,
}

impl Finished {
    /// Makes one that ended well after these seconds and of which nothing else is known.
    pub(crate) fn blank(released: Duration, wall: f64) -> Self {
        Self {
            released,
            wall,
            outcome: Outcome::Exited(0),
            user_time: 0.0,
            system_time: 0.0,
            max_rss: 0,
            voluntary_switches: 0,
            involuntary_switches: 0,
            minor_faults: 0,
            major_faults: 0,
            main_thread_time: None,
            run_delay: None,
            pace: None,
            counters: Vec::new(),
            output: None,
            said: Vec::new(),
        }
    }

    /// Returns the CPU time in user mode and in the kernel, in seconds.
    pub fn cpu_time(&self) -> f64 {
        self.user_time + self.system_time
    }
}

/// Makes this process itself the subject, with the input and output that it has. Returns why it could not;
/// what was done until then stays done.
pub fn replace(
    program: &Program,
    environment: &Environment,
    padding: u32,
    placement: &Placement,
) -> LaunchError {
    let launch = Launch {
        program,
        environment,
        padding,
        placement,
        stdin: &Stdin::Null,
        stdout: &Stdout::Inherit,
        stderr: Stderr::Inherit,
        cwd: None,
        timeout: None,
    };
    let result: Result<Started, _> =
        with_child(&launch, &[], [None; 3], |child| Err(clone::replace(child)));
    match result {
        Err(error) => error,
        Ok(_) => unreachable!("a process that was replaced does not return"),
    }
}

pub(crate) fn start(
    launch: &Launch<'_>,
    counters: &CounterPlan,
    connections: &Connections,
) -> Result<Started, LaunchError> {
    with_child(launch, counters.attrs(), connections.descriptors(), clone::start)
}

/// Puts everything that a child needs into the form that the kernel takes, and does something with it.
fn with_child<T>(
    launch: &Launch<'_>,
    counters: &[PerfAttr],
    stdio: [Option<RawFd>; 3],
    action: impl FnOnce(&Child<'_>) -> Result<T, StartError>,
) -> Result<T, LaunchError> {
    let placement = launch.placement;
    let padding = padding_variable(launch.padding);
    let environment = launch.environment.strings(padding.as_deref());
    let arguments: Strings<'_> = launch.program.arguments().iter().map(CString::as_c_str).collect();
    let cwd = launch.cwd.map(|path| CString::new(path.as_os_str().as_bytes()));
    let cwd = cwd.transpose().map_err(|_| LaunchError::ZeroByte {
        what: "the name of the working directory".to_owned(),
    })?;
    let control_group = placement.control_group.as_deref().map(|folder| {
        let door = open_group(&SysRoot::default(), folder);
        door.map_err(|source| not_entered(launch, folder, source))
    });
    let control_group = control_group.transpose()?.flatten();
    let affinity = placement.affinity.as_ref().map(affinity::mask);
    let nodes: Option<NodeMask> = placement.memory.as_ref().map(|nodes| nodes.iter().collect());
    let child = Child {
        program: launch.program.c_path(),
        arguments: &arguments,
        environment: &environment,
        cwd: cwd.as_deref(),
        control_group: control_group.as_ref().map(Door::entrance),
        affinity: affinity.as_ref(),
        nice: placement.nice,
        fifo: match placement.scheduler {
            Scheduler::Other => None,
            Scheduler::Fifo(priority) => Some(priority),
        },
        aslr_off: placement.aslr == Aslr::Off,
        nodes: nodes.as_ref(),
        huge_pages: match placement.thp {
            Thp::Inherit => None,
            Thp::Off => Some(HugePages::Never),
            Thp::Advised => Some(HugePages::Advised),
            Thp::On => Some(HugePages::Allowed),
        },
        stdio,
        counters,
    };
    action(&child).map_err(|error| match (error, &placement.control_group) {
        (StartError::Clone(source), _) => {
            LaunchError::System { operation: "make a process for the command", source }
        }
        (StartError::Step(Step::ControlGroup, source), Some(folder)) => {
            not_entered(launch, folder, source)
        }
        (StartError::Step(step, source), _) => {
            LaunchError::Step { command: launch.program.name().to_owned(), step, source }
        }
    })
}

fn not_entered(launch: &Launch<'_>, folder: &Path, source: std::io::Error) -> LaunchError {
    let command = launch.program.name().to_owned();
    LaunchError::ControlGroup { command, folder: folder.to_owned(), source }
}

/// Returns becalm's own largest resident set so far, in bytes, below which
/// [`Finished::max_rss`] cannot tell one subject from another.
///
/// A child that has not executed anything yet counts as large as its parent, and the kernel keeps
/// the largest value of a process across `execve` (`exec_mmap` in `fs/exec.c`).
pub fn resident_floor() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024)
}
