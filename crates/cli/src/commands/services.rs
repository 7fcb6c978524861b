//! `becalm services`: who uses the CPU in the background.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use becalm_machine::SysRoot;
use becalm_machine::usage::{Accounts, Used};
use becalm_model::parse_duration;
use becalm_model::wire::{ProgramDocument, SERVICES_SCHEMA, ServicesDocument};
use becalm_report::services_text;

use crate::error::CommandError;
use crate::exit::Exit;
use crate::flags::ElsewhereFlags;
use crate::measuring::interrupt;
use crate::ui::Ui;

/// Watch who uses the CPU, process by process
///
/// becalm looks twice, at the start and at the end, and sleeps in between; short-lived processes
/// are attributed to the process that started them. Ctrl-C ends it early and prints what was used
/// so far.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// How long to watch
    #[arg(long, value_name = "DURATION", value_parser = parse_duration, default_value = "10s")]
    watch: Duration,

    /// Show this many programs
    #[arg(long, value_name = "N", default_value_t = 20)]
    top: usize,

    /// Print everything as JSON
    #[arg(long)]
    json: bool,

    /// Use this folder instead of the machine
    #[arg(long, default_value = "/", hide = true)]
    pub(crate) root: PathBuf,

    #[command(flatten)]
    pub(crate) elsewhere: ElsewhereFlags,
}

pub(crate) fn run(args: &Args, ui: &Ui) -> Result<Exit, CommandError> {
    if args.watch.is_zero() {
        return Err(CommandError::usage("--watch 0 is too short to see anything"));
    }
    let interrupt = interrupt()?;
    let root = SysRoot::new(&args.root);
    if !root.exists("/proc/self/stat") && root.is_live() {
        return Err(CommandError::measure("/proc is not mounted here, so CPU use cannot be read"));
    }
    ui.say(format!("Watching for {} s; Ctrl-C ends it early.", args.watch.as_secs_f64()));
    let start = Instant::now();
    let before = Accounts::read(&root);
    interrupt.sleep(args.watch);
    let used = before.until(&Accounts::read(&root));
    let seconds = start.elapsed().as_secs_f64();
    let document = document(&used, seconds);
    ui.print_either(args.json, &document, |style| services_text(&document, args.top, style))?;
    Ok(Exit::Done)
}

fn document(used: &Used, seconds: f64) -> ServicesDocument {
    ServicesDocument {
        schema: SERVICES_SCHEMA.to_owned(),
        seconds,
        busy: used.busy,
        unexplained: used.unexplained(),
        programs: used
            .programs
            .iter()
            .map(|usage| ProgramDocument {
                service: usage.service.clone(),
                command: usage.command.clone(),
                own: usage.own,
                children: usage.children,
                wakeups: usage.wakeups,
            })
            .collect(),
    }
}
