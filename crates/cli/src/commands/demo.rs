//! `becalm demo`: what becalm is for, on this machine, in under a minute.

use std::path::PathBuf;
use std::time::Duration;

use becalm_lab::Workload;
use becalm_model::terms::{Goal, Stop, Terms};
use becalm_model::{RecordKind, Subject};
use becalm_report::{Detail, comparison_text, demo_html, machine_line, verdict_text};
use becalm_session::{Machine, Request, files};

use crate::error::CommandError;
use crate::exit::Exit;
use crate::measuring::{Finished, conduct};
use crate::ui::Ui;

/// Show what becalm does, on this machine, in under a minute
///
/// It shows the facts about this machine, its noise floor, and a comparison with a program that
/// does 2 % more work.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// File for the HTML report
    #[arg(long, value_name = "FILE", default_value = "becalm-demo.html")]
    output: PathBuf,
}

/// Amount of work of the baseline; the candidate does 2 % more.
const AMOUNT: u64 = 10_000;

/// Time for the A/A comparison; the other one may take twice as long.
const AA_BUDGET: Duration = Duration::from_secs(8);

/// Most rounds of each: enough for a floor well below 1 % on a quiet machine.
const MOST_ROUNDS: u32 = 150;

pub(crate) fn run(args: &Args, ui: &Ui) -> Result<Exit, CommandError> {
    files::check_writable(&args.output)?;
    let becalm = std::env::current_exe().map_err(|error| {
        CommandError::measure(format!("cannot find becalm's own program file: {error}"))
    })?;
    let subject = |name: &str, amount: u64| {
        Subject::new(
            name.to_owned(),
            vec![
                becalm.to_string_lossy().into_owned(),
                "workload".to_owned(),
                Workload::Compute.name().to_owned(),
                "--amount".to_owned(),
                amount.to_string(),
            ],
        )
    };

    ui.print_folded(&format!("{}\n\n", machine_line(&Machine::read()?.facts)))?;
    ui.print_folded("1. The same program twice: how small a change can this machine resolve?\n\n")?;
    let aa = session(vec![subject("workload", AMOUNT), subject("same again", AMOUNT)], true, ui)?;
    ui.print(&verdict_text(&aa.record, ui.style()))?;
    let (same, same_disturbed) = (aa.record.clone(), aa.disturbed.clone());
    if let Some(exit) = ended_early(aa)? {
        return Ok(exit);
    }

    ui.print_folded(
        "\n2. A program against one that does 2 % more work\n\nBoth also take the same time to start, so the \
         difference in time is a little less than 2 %.\n\n",
    )?;
    let compared = session(
        vec![subject("workload", AMOUNT), subject("more work", AMOUNT + AMOUNT / 50)],
        false,
        ui,
    )?;
    ui.print(&comparison_text(&compared.record, &compared.disturbed, Detail::Short, ui.style()))?;
    let both = ((&same, &same_disturbed[..]), (&compared.record, &compared.disturbed[..]));
    files::write_atomically(&args.output, &demo_html(both.0, both.1))?;
    if let Some(exit) = ended_early(compared)? {
        return Ok(exit);
    }

    ui.print_folded(&format!(
        "\nThe report with every run is in {}.\n\nNext:\n  becalm compare ./old ./new       which \
         of two programs is faster, and by how much\n  becalm compare --aa ./program    the \
         smallest change detectable here with your program\n  becalm check                     \
         what makes this machine noisy\n",
        args.output.display()
    ))?;
    Ok(Exit::Done)
}

fn session(subjects: Vec<Subject>, aa: bool, ui: &Ui) -> Result<Finished, CommandError> {
    let stop = Stop::Until {
        minimum: 8,
        maximum: Some(MOST_ROUNDS),
        budget: Some(if aa { AA_BUDGET } else { 2 * AA_BUDGET }),
        goal: if aa { Goal::Budget } else { Goal::Verdict },
    };
    let arguments = vec!["demo".to_owned()];
    let terms = Terms { margin: 0.01, stop, ..Terms::default() };
    let kind = RecordKind::Comparison;
    conduct(Request { aa, ..Request::new("demo", kind, terms, subjects, arguments) }, ui)
}

/// Passes on an interruption or a failure, after showing what was measured.
fn ended_early(finished: Finished) -> Result<Option<Exit>, CommandError> {
    match (finished.failure, finished.signal) {
        (Some(error), _) => Err(error),
        (None, signal) => Ok(signal.map(Exit::Signal)),
    }
}
