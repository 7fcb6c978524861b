//! The command line as a whole.

use std::ffi::OsString;

use becalm_machine::SysRoot;
use clap::{CommandFactory, FromArgMatches as _, Parser, Subcommand};

use crate::commands;
use crate::completing;
use crate::elsewhere;
use crate::error::CommandError;
use crate::exit::Exit;
use crate::first_word;
use crate::foreign_flags;
use crate::help;
use crate::optional_values;
use crate::rights::{Rights, is_root_lent, refuse_lent_root};
use crate::tuning::{put_back_leftovers, with_leftovers};
use crate::ui::Ui;

/// Compare programs in turns, record what disturbed them, and say how sure the answer is
#[derive(Debug, Parser)]
#[command(name = "becalm", version, max_term_width = 100, after_help = EXIT_CODES)]
#[command(disable_help_subcommand = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    command: Command,

    /// Print only results, warnings and errors
    #[arg(long, global = true)]
    quiet: bool,
}

const EXIT_CODES: &str = "\
Exit codes: 0 done; 1 the gate failed (gate, ci), an objective was missed (load) or the machine is
noisy (check); 2 usage;
3 inconclusive; 4 could not measure; 5 could not put the machine back; 128 + n ended by signal n.
Results go to standard output, messages to standard error.
Concepts: becalm help verdict, margin, noise or limits";

#[derive(Debug, Subcommand)]
enum Command {
    Compare(Box<commands::compare::Args>),
    Bisect(Box<crate::flags::bisect::Args>),
    Run(Box<commands::run::Args>),
    Ci(Box<commands::ci::Args>),
    Init(commands::init::Args),
    Timeit(Box<commands::timeit::Args>),
    Plan(Box<commands::plan::Args>),
    Exec(Box<commands::exec::Args>),
    Load(Box<commands::load::Args>),
    Demo(commands::demo::Args),
    Stats(commands::stats::Args),
    Hist(commands::hist::Args),
    Show(commands::show::Args),
    Plot(commands::plot::Args),
    Diff(commands::diff::Args),
    Import(commands::import::Args),
    Export(commands::export::Args),
    History(Box<commands::history::Args>),
    Changes(Box<commands::changes::Args>),
    Gate(commands::gate::Args),
    Serve(commands::serve::Args),
    Topology(commands::topology::Args),
    BootParams(commands::boot_params::Args),
    Machine(commands::machine::Args),
    Check(commands::check::Args),
    Tune(Box<commands::tune::Args>),
    Restore(commands::restore::Args),
    Services(commands::services::Args),
    Hosts(commands::hosts::Args),
    Fleet(commands::fleet::Args),
    Noise(commands::noise::Args),
    Guardian(commands::guardian::Args),
    FarEnd(commands::far_end::Args),
    Workload(commands::workload::Args),
    Schema(commands::schema::Args),
    Completions(commands::completions::Args),
    Help(commands::help::Args),
}

impl Command {
    /// Says whether what a killed becalm has changed has to be put back before this command.
    /// Measured subjects must not pay for that check.
    fn uses_the_machine(&self) -> bool {
        matches!(
            self,
            Self::Run(_)
                | Self::Compare(_)
                | Self::Bisect(_)
                | Self::Ci(_)
                | Self::Plan(_)
                | Self::Timeit(_)
                | Self::Demo(_)
                | Self::Check(_)
                | Self::Tune(_)
                | Self::Services(_)
                | Self::Noise(_)
        )
    }
}

impl Command {
    /// Returns what the command needs of root, where a user has called becalm as root.
    fn rights(&self) -> Rights {
        match self {
            Self::Run(_)
            | Self::Compare(_)
            | Self::Bisect(_)
            | Self::Ci(_)
            | Self::Plan(_)
            | Self::Timeit(_)
            | Self::Demo(_)
            | Self::Tune(_)
            // At the far end it says whether there is a steward.
            | Self::Hosts(_) => Rights::Steward,
            Self::Exec(_) => Rights::Placement,
            Self::Noise(args) => args.rights(),
            Self::Check(args) => Rights::to_look_at(&args.root),
            Self::Services(args) => Rights::to_look_at(&args.root),
            Self::BootParams(args) => Rights::to_look_at(&args.root),
            Self::Restore(args) => Rights::to_look_at(&args.root),
            Self::Guardian(args) => Rights::to_look_at(&args.root),
            // It becomes the user before it writes.
            Self::Machine(args) => args.rights(),
            Self::Init(_)
            | Self::Stats(_)
            | Self::Hist(_)
            | Self::Show(_)
            | Self::Plot(_)
            | Self::Diff(_)
            | Self::Import(_)
            | Self::Export(_)
            | Self::History(_)
            | Self::Changes(_)
            | Self::Gate(_)
            | Self::Serve(_)
            // What needs root needs it on the nodes.
            | Self::Fleet(_)
            | Self::Topology(_)
            | Self::Load(_)
            | Self::Workload(_)
            | Self::Schema(_)
            | Self::Completions(_)
            | Self::FarEnd(_)
            | Self::Help(_) => Rights::User,
        }
    }
}

/// Returns the whole command line with its help, from which manual pages are made.
pub fn command() -> clap::Command {
    help::arranged(Cli::command())
}

/// What `--version` prints, as clap would.
const VERSION: &str = concat!("becalm ", env!("CARGO_PKG_VERSION"), "\n");

/// Parses the arguments, runs the command and reports errors.
pub(crate) fn run(arguments: impl IntoIterator<Item = OsString>) -> Exit {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    if let Some(candidates) = completing::answer(Cli::command, &arguments) {
        return Ui::new(true)
            .print_bytes(&candidates)
            .map_or_else(|error| error.exit, |()| Exit::Done);
    }
    // Often asked, by other machines too, and known without the command line, which takes longer to build.
    if let [_, flag] = arguments.as_slice()
        && (flag == "--version" || flag == "-V")
    {
        return Ui::new(false).print(VERSION).map_or_else(|error| error.exit, |()| Exit::Done);
    }
    // Without its help, which takes longer to arrange than all the rest and is seldom wanted.
    let mut line = Cli::command();
    line.build();
    let arguments = first_word::separate(&line, arguments);
    let arguments = match optional_values::join(&line, arguments) {
        Ok(arguments) => arguments,
        Err(error) => {
            Ui::new(false).error(&error);
            return error.exit;
        }
    };
    if arguments.len() < 2 {
        return Ui::new(false)
            .print_folded(help::START)
            .map_or_else(|error| error.exit, |()| Exit::Done);
    }
    let parsed = line.try_get_matches_from(&arguments);
    let (cli, matches) = match parsed.and_then(|it| Ok((Cli::from_arg_matches(&it)?, it))) {
        Ok(parsed) => parsed,
        Err(error) => {
            let error = command().try_get_matches_from(&arguments).err().unwrap_or(error);
            if let Some(better) = foreign_flags::better(&error, &arguments) {
                Ui::new(false).error(&better);
                return better.exit;
            }
            // clap knows which of its messages are help and belong on stdout.
            let _ = error.print();
            return if error.use_stderr() { Exit::Usage } else { Exit::Done };
        }
    };
    let ui = Ui::new(cli.quiet);
    if let Err(error) = refuse_lent_root() {
        ui.error(&error);
        return error.exit;
    }
    if let Command::FarEnd(args) = &cli.command {
        return commands::far_end::run(args);
    }
    let given = arguments.iter().skip(1).map(|word| word.to_string_lossy().into_owned());
    let given: Vec<String> = given.collect();
    let ended = match asked_elsewhere(&cli.command, &matches) {
        Some(asked) => elsewhere::on_host(&asked, &given, &ui),
        None => carry_out(cli, &matches, &given, &ui),
    };
    ended.unwrap_or_else(|error| {
        ui.error(&error);
        error.exit
    })
}

/// Carries out a command for a becalm on another machine; `receive` gets its files, once it has the rights that it is given.
/// One that has files has those of the user.
pub(crate) fn carry_out_far<T>(
    arguments: &[String],
    has_files: bool,
    ui: &Ui,
    receive: impl FnOnce(Rights) -> Result<T, CommandError>,
) -> Result<Exit, CommandError> {
    let words = std::iter::once("becalm".to_owned()).chain(arguments.iter().cloned());
    let unexpected = |error: clap::Error| CommandError::usage(error.to_string().trim_end());
    let matches = Cli::command().try_get_matches_from(words).map_err(unexpected)?;
    let cli = Cli::from_arg_matches(&matches).map_err(unexpected)?;
    refuse_at_far_end(&cli.command, &matches)?;
    let rights = cli.command.rights();
    let rights = if has_files { rights.with_files() } else { rights };
    let need = need(&cli.command, &matches, rights);
    with_rights(&need, ui, || {
        let _received = receive(rights)?;
        dispatch(cli, arguments, ui)
    })
}

/// Refuses a command that no `--on` asks for, and one for which the subjects would be root: who may start the far end by
/// sudo may have the machine changed, and no more.
fn refuse_at_far_end(command: &Command, matches: &clap::ArgMatches) -> Result<(), CommandError> {
    let is_sent = innermost(matches).try_get_one::<String>("on").is_ok();
    if !is_sent && !matches!(command, Command::Hosts(_)) {
        return Err(CommandError::usage("this command is not for another machine"));
    }
    if has_flag(matches, "keep_root") && is_root_lent() {
        return Err(CommandError::usage("--keep-root cannot be combined with --on")
            .hint("becalm uses sudo on the other machine only to change its settings"));
    }
    Ok(())
}

/// Takes the rights of a command and carries it out.
fn carry_out(
    cli: Cli,
    matches: &clap::ArgMatches,
    given: &[String],
    ui: &Ui,
) -> Result<Exit, CommandError> {
    let need = need(&cli.command, matches, cli.command.rights());
    with_rights(&need, ui, || dispatch(cli, given, ui))
}

fn need(command: &Command, matches: &clap::ArgMatches, rights: Rights) -> Need {
    Need {
        uses_the_machine: command.uses_the_machine(),
        rights: Some(rights).filter(|_| !has_flag(matches, "keep_root")),
        keeps_privileges: has_flag(matches, "keep_privileges"),
    }
}

/// What a command needs before it starts.
#[derive(Debug)]
pub(crate) struct Need {
    /// What a becalm that died has changed has to be put back.
    pub(crate) uses_the_machine: bool,
    /// The rights it takes; `None` where it keeps all of root.
    pub(crate) rights: Option<Rights>,
    /// Whether what it starts may get further privileges.
    pub(crate) keeps_privileges: bool,
}

/// Does the work of a command that needs this.
pub(crate) fn with_rights(
    need: &Need,
    ui: &Ui,
    work: impl FnOnce() -> Result<Exit, CommandError>,
) -> Result<Exit, CommandError> {
    let root = SysRoot::default();
    let leftovers = if need.uses_the_machine { put_back_leftovers(&root, ui) } else { Exit::Done };
    if let Some(rights) = need.rights {
        rights.take(need.keeps_privileges)?;
    }
    let ended = work().unwrap_or_else(|error| {
        ui.error(&error);
        error.exit
    });
    Ok(with_leftovers(&root, leftovers, ended))
}

/// Returns where a command is to be carried out, if that is another machine. Sessions go there by themselves.
fn asked_elsewhere(command: &Command, matches: &clap::ArgMatches) -> Option<elsewhere::Asked> {
    let goes_by_itself = match command {
        Command::Run(_)
        | Command::Compare(_)
        | Command::Bisect(_)
        | Command::Ci(_)
        | Command::Fleet(_)
        | Command::Plan(_) => true,
        Command::Noise(args) => args.is_session(),
        _ => false,
    };
    // Files would cost a command of root's its rights there.
    let names_files = command.rights() != Rights::Root;
    if goes_by_itself { None } else { elsewhere::Asked::of(innermost(matches), names_files) }
}

/// Says whether the command has this switch, given by its name in the code.
fn has_flag(matches: &clap::ArgMatches, name: &str) -> bool {
    innermost(matches).try_get_one::<bool>(name).ok().flatten().copied().unwrap_or(false)
}

/// Returns the arguments of the innermost command.
fn innermost(matches: &clap::ArgMatches) -> &clap::ArgMatches {
    let mut innermost = matches;
    while let Some((_, inner)) = innermost.subcommand() {
        innermost = inner;
    }
    innermost
}

fn dispatch(cli: Cli, given: &[String], ui: &Ui) -> Result<Exit, CommandError> {
    match cli.command {
        Command::Compare(args) => commands::compare::run(&args, given, ui),
        Command::Bisect(args) => commands::bisect::run(&args, given, ui),
        Command::Run(args) => commands::run::run(&args, given, ui),
        Command::Ci(args) => commands::ci::run(&args, given, ui),
        Command::Init(args) => commands::init::run(&args, ui),
        Command::Timeit(args) => commands::timeit::run(&args, given, ui),
        Command::Plan(args) => commands::plan::run(*args, given, ui),
        Command::Exec(args) => commands::exec::run(&args),
        Command::Load(args) => commands::load::run(&args, ui),
        Command::Demo(args) => commands::demo::run(&args, ui),
        Command::Stats(args) => commands::stats::run(&args, ui),
        Command::Hist(args) => commands::hist::run(&args, ui),
        Command::Show(args) => commands::show::run(&args, ui),
        Command::Plot(args) => commands::plot::run(&args, ui),
        Command::Diff(args) => commands::diff::run(&args, ui),
        Command::Import(args) => commands::import::run(&args, ui),
        Command::Export(args) => commands::export::run(&args, ui),
        Command::History(args) => commands::history::run(&args, ui),
        Command::Changes(args) => commands::changes::run(&args, ui),
        Command::Gate(args) => commands::gate::run(&args, ui),
        Command::Serve(args) => commands::serve::run(&args, ui),
        Command::Topology(args) => commands::topology::run(&args, ui),
        Command::BootParams(args) => commands::boot_params::run(&args, ui),
        Command::Machine(args) => commands::machine::run(&args, ui),
        Command::Check(args) => commands::check::run(&args, ui),
        Command::Tune(args) => commands::tune::run(&args, ui),
        Command::Services(args) => commands::services::run(&args, ui),
        Command::Hosts(args) => commands::hosts::run(&args, ui),
        Command::Fleet(args) => commands::fleet::run(&args, given, ui),
        Command::Noise(args) => commands::noise::run(&args, given, ui),
        Command::Restore(args) => commands::restore::run(&args, ui),
        Command::Guardian(args) => commands::guardian::run(&args, ui),
        // It is carried out before a command has its rights, as it has those of the job.
        Command::FarEnd(_) => Ok(Exit::Usage),
        Command::Workload(args) => commands::workload::run(&args, ui),
        Command::Schema(args) => commands::schema::run(&args, ui),
        Command::Completions(args) => commands::completions::run(&args, ui),
        Command::Help(args) => commands::help::run(&args, ui),
    }
}
