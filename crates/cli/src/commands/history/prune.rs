//! `becalm history prune`: removes what is old.

use becalm_model::counted;
use becalm_model::history::EntryId;
use becalm_model::wire::HistoryDocument;
use becalm_series::{Access, Prune, SeriesFilter, follow};

use super::{Age, Home, Settings, StoreFlags, moment, now};
use crate::error::CommandError;
use crate::exit::Exit;
use crate::ui::Ui;

/// Remove old records, or whole entries
///
/// --keep-documents removes the records of old entries, which take nearly all of the space, and
/// keeps their values: series, change points and plots stay as they are. The records on both sides
/// of a change stay too, unless the change was dismissed; becalm looks for changes first. --before
/// and --entry remove entries with their values, and the decisions about changes at them: if the
/// change is then found at another entry, it is open again.
#[derive(Debug, clap::Args)]
#[command(group = clap::ArgGroup::new("what").required(true).multiple(true))]
pub(crate) struct Args {
    #[command(flatten)]
    store: StoreFlags,
    /// Keep the records of entries up to this age, such as 90d, or of the last N of each branch and
    /// machine
    #[arg(long, value_name = "AGE|N", value_parser = Kept::parse, group = "what")]
    keep_documents: Option<Kept>,
    /// Remove all entries that were measured before: a date, or an age such as 365d
    #[arg(long, value_name = "TIME", value_parser = moment, group = "what")]
    before: Option<f64>,
    /// Remove this entry; may be repeated
    #[arg(long = "entry", value_name = "ENTRY", group = "what")]
    entries: Vec<i64>,
    /// Only report what would be removed
    #[arg(long)]
    dry_run: bool,
    /// Print what was removed as JSON
    #[arg(long)]
    json: bool,
}

/// Which records stay.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Kept {
    /// Those that are not older than this.
    Younger(Age),
    /// The last N.
    Last(usize),
}

impl Kept {
    fn parse(text: &str) -> Result<Self, String> {
        match text.parse() {
            Ok(number) => Ok(Self::Last(number)),
            Err(_) => Age::parse(text)
                .map(Self::Younger)
                .map_err(|_| "expected an age such as 90d, or a number of entries".to_owned()),
        }
    }
}

pub(crate) fn run(args: &Args, ui: &Ui) -> Result<Exit, CommandError> {
    let settings = Settings::read()?;
    let (mut store, access) = if args.dry_run {
        args.store.open_to_follow(&settings, ui)?
    } else {
        // What is not there needs no pruning, and is not made for it.
        args.store.open_for_reading(&settings)?;
        (args.store.open_for_writing(&settings, ui)?, Access::Write)
    };
    if args.keep_documents.is_some() {
        // Records beside changes stay, also of those that nobody has asked for yet.
        let filter = SeriesFilter { main: true, ..SeriesFilter::default() };
        let series = store.series(&filter)?;
        // What does not count for `becalm changes` does not here: else the records beside other changes would stay.
        let (terms, keep) = Home::look()?.change_terms(&mut store, &series, &settings)?;
        if !keep {
            return Err(CommandError::measure(
                "--keep-documents keeps the records beside changes, and this clone lacks commits \
                 by which becalm finds these",
            )
            .hint(
                "get them with `git fetch` (`git fetch --unshallow` in a shallow clone); if nobody has them any more, \
                 remove their entries first: `becalm history prune --entry`",
            ));
        }
        follow(&mut store, series, &terms, access == Access::Write, now())?;
    }
    let mut prune = Prune {
        entries_before: args.before,
        entries: args.entries.iter().map(|id| EntryId(*id)).collect(),
        dry_run: args.dry_run,
        ..Prune::default()
    };
    match args.keep_documents {
        Some(Kept::Younger(age)) => prune.documents_before = Some(age.begin()),
        Some(Kept::Last(number)) => prune.documents_kept = Some(number),
        None => {}
    }
    let pruned = store.prune(&prune)?;
    if args.json {
        let split = store.split()?;
        ui.print_json(&HistoryDocument::of_pruned(split, pruned))?;
        return Ok(Exit::Done);
    }
    let verb = if args.dry_run { "would be removed" } else { "removed" };
    let mut text = format!(
        "{verb}: {} with {}, {} ({:.1} MiB)\n",
        counted(pruned.entries, "entry"),
        counted(pruned.values, "value"),
        counted(pruned.records, "record"),
        pruned.bytes as f64 / f64::from(1 << 20),
    );
    if pruned.records_kept > 0 {
        let kept = counted(pruned.records_kept, "record");
        text = format!("{text}kept beside changes: {kept}\n");
    }
    if pruned.decisions > 0 {
        let decisions = counted(pruned.decisions, "decision");
        text = format!("{text}with them {verb}: {decisions} about changes at these entries\n");
    }
    ui.print(&text)?;
    Ok(Exit::Done)
}
