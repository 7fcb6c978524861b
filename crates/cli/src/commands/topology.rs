//! `becalm topology`: how the machine is built, and which CPUs a measurement would use.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use becalm_machine::{ChoiceFacts, ControlGroups, SysRoot, Width, choose};
use becalm_model::wire::TopologyDocument;
use becalm_report::{WORDS, topology_svg, topology_text};
use becalm_session::files;

use crate::error::CommandError;
use crate::exit::Exit;
use crate::flags::ElsewhereFlags;
use crate::ui::Ui;

/// Show cores, caches, NUMA nodes, and the CPUs for measurements
///
/// It shows packages, cores, caches, NUMA nodes and kinds of cores, and which CPUs a measurement
/// would use and why.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Also choose CPUs for a subject with this many threads
    #[arg(long, value_name = "N")]
    threads: Option<NonZeroUsize>,

    /// Print everything as JSON
    #[arg(long, conflicts_with = "svg")]
    json: bool,

    /// Draw a picture to a file, or to standard output
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = "-")]
    svg: Option<PathBuf>,

    /// Read the machine captured in this folder, which contains `proc` and `sys` (see `becalm
    /// machine dump`)
    #[arg(long, value_name = "DIR", default_value = "/", hide_default_value = true)]
    root: PathBuf,

    #[command(flatten)]
    pub(crate) elsewhere: ElsewhereFlags,
}

pub(crate) fn run(args: &Args, ui: &Ui) -> Result<Exit, CommandError> {
    let document = document(&SysRoot::new(&args.root), args.threads)?;
    if args.json {
        ui.print_json(&document)?;
    } else if let Some(path) = &args.svg {
        let picture = topology_svg(&document);
        if path == Path::new("-") {
            ui.print(&picture)?;
        } else {
            files::write_atomically(path, &picture)?;
            ui.say(format!("wrote {}", path.display()));
        }
    } else {
        ui.print(&topology_text(&document, ui.style()))?;
    }
    Ok(Exit::Done)
}

fn document(
    root: &SysRoot,
    threads: Option<NonZeroUsize>,
) -> Result<TopologyDocument, CommandError> {
    let mut topology = crate::topology::read(root)?;
    topology.read_devices(root);
    let facts = ChoiceFacts::read(root);
    let mut widths = vec![(Some(1), Width::One)];
    if let Some(threads) = threads.filter(|threads| threads.get() > 1) {
        widths.push((Some(threads.get()), Width::Several(threads)));
    }
    widths.push((None, Width::All));
    let choices: Vec<_> = widths
        .into_iter()
        .map(|(threads, width)| (threads, choose(&topology, &facts, width)))
        .collect();
    let quota = ControlGroups::read(root).ok().and_then(|groups| groups.quota(root).ok().flatten());
    Ok(topology.document(quota, &choices, &WORDS))
}
