//! `becalm exec`: applies to its own process what a process can set for itself, then starts a
//! command.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

use becalm_machine::{Chooser, Width};
use becalm_model::conditions::{Affinity, Aslr, Malloc, Membind, NodeSet, Padding, Scheduler, Thp};
use becalm_model::with_causes;
use becalm_runner::{Placement, Program, padding, replace};
use becalm_session::{Machine, environment};

use crate::error::CommandError;
use crate::exit::Exit;
use crate::flags::choices::{ASLR, LAYOUT, MALLOC, THP, one_of};

/// Start a command under the same conditions as `run` and `compare`
///
/// becalm sets CPUs, scheduling class, niceness, address space layout, environment and control
/// group for its own process, and then becomes the command: no becalm process stays behind, nothing
/// is measured, and nothing else on the machine changes. Use it as a prefix of the command in the
/// configuration of another harness.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Program and arguments, after `--`
    #[arg(value_name = "COMMAND", last = true, required = true)]
    command: Vec<String>,
    /// CPUs of the command: `auto`, `none` or a list such as 2-3
    #[arg(long, default_value = "auto")]
    affinity: Affinity,
    /// Number of threads of the command: becalm chooses that many CPUs, and no other becalm uses
    /// them meanwhile [default: all CPUs that suit a measurement]
    #[arg(long, value_name = "N")]
    threads: Option<NonZeroUsize>,
    /// Scheduling class: `other` or `fifo:N`
    #[arg(long, default_value = "other")]
    scheduler: Scheduler,
    /// Niceness
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = clap::value_parser!(i32).range(-20..=19))]
    nice: Option<i32>,
    /// Address space layout randomisation
    #[arg(long, value_parser = one_of(ASLR, Aslr::name), default_value_t = Aslr::On)]
    aslr: Aslr,
    /// Vary the size of the environment, and with it the start of the stack, at every start
    #[arg(long, value_parser = one_of(LAYOUT, Padding::name), default_value_t = Padding::Randomise)]
    layout: Padding,
    /// Start with PATH, HOME, USER, LOGNAME, SHELL, TMPDIR, TZ and the locale only
    #[arg(long)]
    env_clear: bool,
    /// Set a variable
    #[arg(long, value_name = "NAME=VALUE")]
    env: Vec<String>,
    /// Freed memory: with `keep`, glibc's allocator never returns it to the kernel
    #[arg(long, value_parser = one_of(MALLOC, Malloc::name), value_name = "WHAT", default_value_t = Malloc::Left)]
    malloc: Malloc,
    /// NUMA nodes for its memory: `auto` (those of its CPUs), `off` or a list such as 0-1
    #[arg(long, value_name = "NODES", default_value = "off")]
    membind: Membind,
    /// Transparent huge pages
    #[arg(long, value_parser = one_of(THP, Thp::name), value_name = "WHAT", default_value_t = Thp::Inherit)]
    thp: Thp,
    /// Control group to enter, given by its folder
    #[arg(long, value_name = "FOLDER")]
    cgroup: Option<PathBuf>,
    /// Under sudo, stay root instead of becoming the user who called sudo
    #[arg(long)]
    keep_root: bool,
    /// Under sudo, allow it to start setuid programs such as `sudo` and `ping`
    #[arg(long)]
    keep_privileges: bool,
}

pub(crate) fn run(args: &Args) -> Result<Exit, CommandError> {
    let environment = environment(args.env_clear, &args.env, args.malloc, args.thp)?;
    let program = Program::resolve(&args.command, environment.get("PATH".as_ref()), None)
        .map_err(|error| CommandError::measure(with_causes(&error)))?;
    let mut placement = Placement {
        control_group: args.cgroup.clone(),
        affinity: None,
        scheduler: args.scheduler,
        nice: args.nice,
        aslr: args.aslr,
        memory: None,
        thp: args.thp,
    };
    match &args.affinity {
        Affinity::None => {}
        Affinity::Cpus(cpus) => placement.affinity = Some(cpus.clone()),
        Affinity::Auto => placement.affinity = Some(chosen(args.threads)?),
    }
    placement.memory = match &args.membind {
        Membind::Off => None,
        Membind::Nodes(nodes) => Some(nodes.clone()),
        Membind::Auto => placement.affinity.as_ref().map(memory_of).transpose()?.flatten(),
    };
    let bytes = match args.layout {
        Padding::Randomise => drawn(),
        Padding::Fixed => 0,
    };
    let error = replace(&program, &environment, bytes, &placement);
    Err(CommandError::measure(with_causes(&error)))
}

fn memory_of(cpus: &becalm_model::CpuSet) -> Result<Option<NodeSet>, CommandError> {
    Ok(Machine::read()?.topology.memory_of(cpus))
}

/// Chooses CPUs as for a measurement. If the number of threads is known, the command leases its
/// CPUs.
fn chosen(threads: Option<NonZeroUsize>) -> Result<becalm_model::CpuSet, CommandError> {
    let machine = Machine::read()?;
    let chooser = Chooser::new(&machine.root, &machine.topology);
    let choice = match threads {
        None => chooser.look(Width::All),
        Some(threads) => {
            let (choice, leases) = chooser.take(Width::Several(threads));
            leases.keep_over_exec();
            choice
        }
    };
    Ok(choice.subject)
}

/// Draws a padding; it does not have to be hard to guess.
fn drawn() -> u32 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let seed = u64::from(now.subsec_nanos()) ^ u64::from(std::process::id()) << 32;
    padding(seed, 0)
}
