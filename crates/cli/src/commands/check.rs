//! `becalm check`: what makes this machine noisy.

use std::path::PathBuf;

use becalm_machine::{ChoiceFacts, SysRoot, Width, check, choose};
use becalm_model::wire::check_document;
use becalm_model::{Checkup, Finding, Fix};
use becalm_report::{Detail, checkup_text};

use crate::error::CommandError;
use crate::exit::Exit;
use crate::flags::ElsewhereFlags;
use crate::ui::Ui;

/// Show what makes this machine noisy, worst first, with remedies
///
/// Exits with 0 if the machine is quiet and with 1 if a finding is severe or noise; notes do not
/// count.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Also show notes, and what cannot be read
    #[arg(short, long)]
    verbose: bool,

    /// Print everything as JSON
    #[arg(long)]
    json: bool,

    /// Check the machine captured in this folder, which contains `proc` and `sys` (see `becalm
    /// machine dump`)
    #[arg(long, value_name = "DIR", default_value = "/", hide_default_value = true)]
    pub(crate) root: PathBuf,

    #[command(flatten)]
    pub(crate) elsewhere: ElsewhereFlags,
}

pub(crate) fn run(args: &Args, ui: &Ui) -> Result<Exit, CommandError> {
    let root = SysRoot::new(&args.root);
    let topology = crate::topology::read(&root)?;
    let cpus = choose(&topology, &ChoiceFacts::read(&root), Width::One).subject;
    let checkup = check(&root, &topology, &cpus);
    if args.json {
        let document = check_document(&checkup);
        ui.print_json(&document)?;
    } else {
        let detail = if args.verbose { Detail::Full } else { Detail::Short };
        ui.print(&checkup_text(&checkup, ui.style().width, detail))?;
        if root.is_live() && nothing_is_measured(&checkup) {
            ui.say("To measure how large they are here: sudo becalm noise ablate array-sum");
        }
    }
    Ok(if checkup.is_noisy() { Exit::No } else { Exit::Done })
}

/// Says whether settings could be improved here, and nobody has measured the effect of that yet.
fn nothing_is_measured(checkup: &Checkup) -> bool {
    let is_mended_by_a_knob = |one: &Finding| matches!(one.fix, Fix::Knob(_));
    checkup.findings.iter().any(is_mended_by_a_knob)
        && checkup.findings.iter().all(|one| one.here.is_none())
}
