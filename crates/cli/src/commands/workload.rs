//! `becalm workload`: programs of a known amount of work.

use becalm_lab::Workload;

use crate::error::CommandError;
use crate::exit::Exit;
use crate::ui::Ui;

/// Do a known amount of deterministic work, to try a machine or becalm itself
///
/// Work grows in proportion to the amount: `becalm compare 'becalm workload compute --amount 10000'
/// 'becalm workload compute --amount 10200'` is a true slowdown of 2 % of that work.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Which work: compute (a dependent chain in the core), array-sum (a 4 MB array), mixed
    /// (allocation, sorting, hashing, file reads)
    #[arg(value_parser = name)]
    name: Workload,

    /// How much of it; the default takes roughly 20 ms
    #[arg(long)]
    amount: Option<u64>,
}

fn name(text: &str) -> Result<Workload, String> {
    Workload::from_name(text).ok_or_else(|| {
        let names: Vec<&str> = Workload::ALL.iter().map(|workload| workload.name()).collect();
        format!("there is no such workload; there are {}", names.join(", "))
    })
}

pub(crate) fn run(args: &Args, ui: &Ui) -> Result<Exit, CommandError> {
    let amount = args.amount.unwrap_or_else(|| args.name.default_amount());
    let checksum = args.name.run(amount);
    ui.print(&format!("{checksum:016x}\n"))?;
    Ok(Exit::Done)
}
