//! `becalm tune`: quiet the machine, for a command or until `becalm restore`.

use std::ffi::OsString;
use std::os::unix::process::ExitStatusExt as _;
use std::path::PathBuf;
use std::process::{Command, ExitStatus};

use becalm_machine::knobs::{KNOBS, Note, NoteKind, Profile, Situation, TuningRequest};
use becalm_machine::tune::{self, TuningPlan};
use becalm_machine::{ChoiceFacts, SysRoot, Topology, Width, choose};
use becalm_model::CpuSet;
use becalm_model::conditions::Malloc;
use becalm_model::wire::{json_text, tune_document};
use becalm_report::limit_sentence;
use becalm_runner::{Interrupt, MALLOC_VARIABLE, Program, hold, kept_memory};
use becalm_session::{Tuned, is_restored, unmoved, work_folder};

use crate::error::{CommandError, given_up};
use crate::exit::Exit;
use crate::flags::{ElsewhereFlags, MemoryFlags, RequestFlags, WaitFlag};
use crate::measuring::{interrupt, with_listener};
use crate::tuning::{plan_text, settings, spins, verdict};
use crate::ui::Ui;

/// Quiet the machine until `becalm restore`, or for one command
///
/// becalm writes every old value to disk before the first change. If becalm dies, a guardian
/// process puts everything back; if both die, the next becalm that measures, checks or tunes does
/// it.
#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "they are switches of the command line")]
pub(crate) struct Args {
    /// Show what would be changed, with old value, new value and reason, and change nothing (but
    /// first put back what a killed becalm has changed, as every command that measures, checks
    /// or tunes does)
    #[arg(long)]
    plan: bool,

    #[command(flatten)]
    request: RequestFlags,

    /// CPUs that measurements will use; interrupts and background work go to the others
    #[arg(long, value_name = "LIST")]
    cpus: Option<CpuSet>,

    /// Keep the CPUs out of idle states that take longer than this many microseconds to leave,
    /// through `/dev/cpu_dma_latency` (0 makes idle CPUs spin)
    #[arg(long, value_name = "US", value_parser = clap::value_parser!(i32).range(0..))]
    latency: Option<i32>,

    /// Spin for a tenth of a second on each of the CPUs, before and after, and report the effect
    #[arg(long, conflicts_with = "plan")]
    verify: bool,

    /// Tune only while a command runs (as the user who called sudo), then put everything back
    #[arg(long, requires = "command", conflicts_with = "plan")]
    hold: bool,

    #[command(flatten)]
    memory: MemoryFlags,

    #[command(flatten)]
    wait: WaitFlag,

    /// Print what was planned, and done, as JSON
    #[arg(long)]
    json: bool,

    /// List the knobs and exit
    #[arg(long, conflicts_with_all = ["plan", "hold", "json"])]
    list: bool,

    /// Use this folder instead of the machine
    #[arg(long, default_value = "/", hide = true)]
    root: PathBuf,

    /// The command to tune for, after --
    #[arg(last = true, requires = "hold", value_name = "COMMAND")]
    command: Vec<OsString>,

    #[command(flatten)]
    pub(crate) elsewhere: ElsewhereFlags,
}

pub(crate) fn run(args: &Args, ui: &Ui) -> Result<Exit, CommandError> {
    if args.list {
        return list(ui);
    }
    if args.memory.is_any() && !args.hold {
        return Err(CommandError::usage(
            "--in-memory and --malloc apply to a command: add --hold -- COMMAND",
        ));
    }
    let root = SysRoot::new(&args.root);
    let request = args.request.request()?;
    let place = QuietedCpus::read(&root, args.cpus.as_ref())?;
    // A name that does not exist is an error before anything else is.
    let plan = place.plan(&root, &request)?;
    if args.plan {
        let latency = args.latency.map_or_else(String::new, |latency| {
            format!("\ncstates: /dev/cpu_dma_latency held at {latency} us, on all CPUs\n")
        });
        let text = || format!("{}\n\n{}{latency}", place.told(), plan_text(&root, &plan));
        if args.json {
            ui.print(&json(&place, &plan, &[]))?;
        } else {
            ui.print_folded(&text())?;
        }
        return Ok(Exit::Done);
    }
    // Before anything is changed for it.
    resolve(&args.command)?;
    let interrupt = interrupt()?;
    with_listener(ui, |listener| {
        let wait = args.wait.wait.unwrap_or_default();
        let (tuned, leftovers) = Tuned::begin(&root, &told(args), wait, interrupt, listener)?;
        let (tuned, set) =
            tuned.attempt(|tuned| quiet(args, &root, &request, tuned, ui)).map_err(given_up)?;
        if let Some(signal) = interrupt.signal() {
            return Ok(ended(tuned.finish()?, Exit::Signal(signal)));
        }
        if !args.hold {
            let guardian = tuned.keep().map_err(given_up)?;
            ui.say(format!(
                "Tuned: {set} Everything stays so until `becalm restore` (guardian: process {}).",
                guardian.pid
            ));
            return Ok(ended(is_restored(&leftovers), Exit::Done));
        }
        ui.say(format!("Tuned: {set}"));
        let result = hold_for(args, interrupt);
        let restored = tuned.finish()?;
        match result {
            Ok(status) => Ok(ended(restored, exit_of(status))),
            Err(error) => Err(CommandError { exit: ended(restored, error.exit), ..error }),
        }
    })
}

/// Makes the changes and reports them; returns how much was changed, as a sentence.
fn quiet(
    args: &Args,
    root: &SysRoot,
    request: &TuningRequest,
    tuned: &mut Tuned<'_>,
    ui: &Ui,
) -> Result<String, CommandError> {
    // Only now, with the lock held, are the values those of the untouched machine; and whoever had
    // it before may have brought CPUs back.
    let place = QuietedCpus::read(root, args.cpus.as_ref())?;
    let before = if args.verify { spins(&place.cpus) } else { Vec::new() };
    let (plan, applied) = tuned.carry_out(&place.situation(root, request))?;
    if let Some(unmoved) = unmoved(root, &applied) {
        ui.say(format!("irq-affinity: {}", limit_sentence(&unmoved.into())));
    }
    for note in plan.notes.iter().filter(|note| is_asked_for(args, note)) {
        ui.say(format!("{}: {}", note.knob, note.text));
    }
    if let Some(latency) = args.latency {
        tuned.hold_latency(latency);
    }
    if args.verify {
        ui.say(verdict(root, &before, &spins(&place.cpus)).trim_end());
    }
    let set = applied.iter().filter(|one| one.effect == tune::Effect::Set);
    let set = format!("{} changed. {}", settings(set.map(|one| &one.change)), place.told());
    if args.json {
        ui.print(&json(&place, &plan, &applied))?;
    }
    Ok(set)
}

/// How a command ended, unless something could not be put back: that takes precedence.
fn ended(is_restored: bool, otherwise: Exit) -> Exit {
    if is_restored { otherwise } else { Exit::NotRestored }
}

/// The CPUs of the machine and their purpose.
struct QuietedCpus {
    topology: Topology,
    /// Those that are measured: given, or chosen as for one thread.
    cpus: CpuSet,
    /// The others; the same where there are no others.
    housekeeping: CpuSet,
}

impl QuietedCpus {
    fn read(root: &SysRoot, given: Option<&CpuSet>) -> Result<Self, CommandError> {
        let topology = crate::topology::read(root)?;
        let cpus = match given {
            Some(given) if given.is_empty() => {
                return Err(CommandError::usage("--cpus: the list contains no CPU"));
            }
            Some(given) if !given.difference(&topology.online).is_empty() => {
                return Err(CommandError::usage(format!(
                    "--cpus {given}: the online CPUs are {}",
                    topology.online
                )));
            }
            Some(given) => given.clone(),
            None => choose(&topology, &ChoiceFacts::read(root), Width::One).subject,
        };
        let others = topology.online.difference(&cpus);
        let housekeeping = if others.is_empty() { cpus.clone() } else { others };
        Ok(Self { topology, cpus, housekeeping })
    }

    /// Says which CPUs are quieted.
    fn told(&self) -> String {
        let Self { cpus, housekeeping, .. } = self;
        if cpus == housekeeping {
            return format!(
                "{} is for measurements and for everything else: there are no other CPUs.",
                cpus.named()
            );
        }
        format!(
            "{} is for measurements, {} for everything else; other programs still start anywhere: \
             `taskset -c {cpus}` puts one there.",
            cpus.named(),
            housekeeping.named(),
        )
    }

    fn plan(&self, root: &SysRoot, request: &TuningRequest) -> Result<TuningPlan, CommandError> {
        tune::plan(&self.situation(root, request)).map_err(CommandError::usage)
    }

    fn situation<'a>(&'a self, root: &'a SysRoot, request: &'a TuningRequest) -> Situation<'a> {
        let Self { topology, cpus, housekeeping } = self;
        let (cpus, housekeeping) = (cpus.clone(), housekeeping.clone());
        Situation { root, topology, cpus, housekeeping, request }
    }
}

/// Says whether to print the reason of a knob that was named, directly or by a flag of its own.
fn is_asked_for(args: &Args, note: &Note) -> bool {
    let RequestFlags { only, also, units, frequency, smt, .. } = &args.request;
    let is_named = only.iter().chain(also).any(|name| *name == note.knob);
    let is_asked_for = match note.knob.as_str() {
        "services" => !units.is_empty(),
        "frequency" => frequency.is_some(),
        "smt" => smt.is_some(),
        _ => false,
    };
    note.kind != NoteKind::AlreadyQuiet && (is_named || is_asked_for)
}

/// Fails if a command does not name a program.
fn resolve(words: &[OsString]) -> Result<(), CommandError> {
    let words: Option<Vec<String>> =
        words.iter().map(|word| word.to_str().map(str::to_owned)).collect();
    // What is no text is left to the kernel.
    let Some(words) = words.filter(|words| !words.is_empty()) else { return Ok(()) };
    Program::resolve(&words, std::env::var_os("PATH").as_deref(), None)
        .map(drop)
        .map_err(CommandError::measure)
}

fn hold_for(args: &Args, interrupt: &Interrupt) -> Result<ExitStatus, CommandError> {
    let [program, arguments @ ..] = args.command.as_slice() else {
        return Err(CommandError::usage("--hold needs a command after --"));
    };
    // A name with a folder in it means the file that it means here.
    let program = match std::path::absolute(program) {
        Ok(path) if program.as_encoded_bytes().contains(&b'/') => path.into_os_string(),
        _ => program.clone(),
    };
    let mut command = Command::new(&program);
    command.args(arguments);
    if args.memory.malloc == Some(Malloc::Keep) {
        let before = std::env::var_os(MALLOC_VARIABLE);
        command.env(MALLOC_VARIABLE, kept_memory(before.as_deref()));
    }
    // Gone when this returns, and with it what the command has left there.
    let folder = work_folder(args.memory.in_memory)?;
    if let Some(folder) = &folder {
        command.current_dir(folder.path());
    }
    hold(&mut command, interrupt).map_err(|error| {
        CommandError::measure(format!("cannot run {}: {error}", program.display()))
    })
}

/// The exit code of the command that was held for.
fn exit_of(status: ExitStatus) -> Exit {
    match (status.code(), status.signal()) {
        (Some(code), _) => Exit::Command(u8::try_from(code).unwrap_or(u8::MAX)),
        (None, Some(signal)) => Exit::Signal(signal),
        (None, None) => Exit::CouldNotMeasure,
    }
}

fn told(args: &Args) -> String {
    match args.command.first() {
        Some(program) => format!("becalm tune --hold -- {}", program.display()),
        None => "becalm tune".to_owned(),
    }
}

fn list(ui: &Ui) -> Result<Exit, CommandError> {
    let width = KNOBS.iter().map(|knob| knob.name.len()).max().unwrap_or(0);
    let lines: Vec<String> = KNOBS
        .iter()
        .map(|knob| {
            let profile = match knob.profile {
                Profile::Safe => "safe",
                Profile::Strict => "strict",
                Profile::OnRequest => "on request",
            };
            format!("{:width$}  {profile:10}  {}\n", knob.name, knob.summary)
        })
        .collect();
    ui.print_folded(&lines.concat())?;
    Ok(Exit::Done)
}

fn json(place: &QuietedCpus, plan: &TuningPlan, applied: &[tune::Applied]) -> String {
    let effects = applied.iter().map(|one| one.effect.name()).collect::<Vec<_>>();
    let notes =
        plan.notes.iter().map(|note| (note.knob.as_str(), note.kind.name(), note.text.as_str()));
    let document =
        tune_document((&place.cpus, &place.housekeeping), &plan.changes, &effects, notes);
    json_text(&document)
}
