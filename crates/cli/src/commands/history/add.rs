//! `becalm history add`: makes entries of results.

use std::net::IpAddr;
use std::path::{Path, PathBuf};

use becalm_forge::{Dashboard, RecordPlace};
use becalm_model::history::AtCommit;
use becalm_model::history::{Commit, Entry, EntryId, short_commit};
use becalm_model::wire::{HistoryDocument, WebUploadDocument};
use becalm_model::{ImportNote, Note, counted};
use becalm_report::{WORDS, note_sentence, printable};
use becalm_series::{Added, EntryFilter, EntryTerms, NewEntry, Origin, Store, cut_off};
use clap::builder::NonEmptyStringValueParser;

use super::asv_folder::AsvResults;
use super::token::read_token;
use super::{
    Content, Home, Records, Settings, StoreFlags, broken_off_by, content, measurements, moment,
};
use crate::error::CommandError;
use crate::exit::Exit;
use crate::ui::Ui;

/// Add results to the history: of becalm, or of any tool that `becalm import` reads
///
/// Each file becomes one entry. It belongs to the commit that is checked out, unless the file or
/// --commit names another. Files that cover many commits become one entry per commit: data.js of
/// github-action-benchmark, a folder of ASV results, what `bencher perf` prints, CSV with a column
/// `time` as Otava reads it, and records of `compare --rev`. A CSV row without a commit is placed
/// at its own time and belongs to no commit. Results that are already in the history are recognised
/// and not counted twice. Once becalm has printed the line of an entry, the entry is on disk. With
/// --to, becalm sends the records to a `becalm serve` over HTTP, and the entries are on the disk of
/// that server; commit and branch still come from git here.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Files that becalm saved, files or folders of other tools; `-` is standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    #[command(flatten)]
    store: StoreFlags,
    /// The commit that was measured: any name that git knows, or a name of your own
    #[arg(long, value_name = "REV", value_parser = NonEmptyStringValueParser::new())]
    commit: Option<String>,
    /// The branch [default: the one that is checked out; of other commits, the main branch]
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    branch: Option<String>,
    /// A tag for these entries; may be repeated
    #[arg(long = "tag", value_name = "WORD", value_parser = NonEmptyStringValueParser::new())]
    tags: Vec<String>,
    /// The place of the entry in time [default: when the commit was made, according to git or the
    /// file]
    #[arg(long, value_name = "TIME", value_parser = moment)]
    time: Option<f64>,
    /// Whether to keep whole records beside their values [default: keep; drop for a folder of ASV
    /// results of more than 64 MiB]
    #[arg(long, value_name = "WHETHER", value_enum, hide_possible_values = true)]
    records: Option<Records>,
    /// Format of the files [default: detected from their content]
    #[arg(long, value_name = "NAME")]
    format: Option<String>,
    /// Send the results to this `becalm serve` instead of adding them to a history here
    #[arg(long, value_name = "URL", value_parser = NonEmptyStringValueParser::new())]
    to: Option<String>,
    /// File with a token of that server that permits uploads [default: the variable `BECALM_TOKEN`]
    #[arg(long, value_name = "FILE", requires = "to")]
    token_file: Option<PathBuf>,
    /// Print the new entries as JSON
    #[arg(long, conflicts_with = "to")]
    json: bool,
}

pub(crate) fn run(args: &Args, ui: &Ui) -> Result<Exit, CommandError> {
    let settings = Settings::read()?;
    let home = Home::look()?;
    let terms = EntryTerms {
        commit: args.commit.clone(),
        branch: args.branch.clone(),
        time: args.time,
        tags: args.tags.clone(),
    };
    // All are read before the first is added: a mistake in the last name is found in time. Of a folder of ASV only the
    // names are, because it may be larger than the memory.
    let mut wanted: Vec<(String, Results)> = Vec::new();
    for path in &args.files {
        let name = path.display().to_string();
        let is_asv = args.format.as_deref().is_none_or(|format| format == "asv");
        if let Some(folder) = AsvResults::look(path)?.filter(|_| is_asv) {
            refuse_one_place(args, &name, folder.len())?;
            wanted.push((name, Results::Folder(folder)));
            continue;
        }
        let found = match content(path, args.format.as_deref(), ui)? {
            Content::Commits(commits) => commits,
            Content::Record(record) => {
                for note in broken_off_by(&record, &name) {
                    ui.warn((WORDS.note)(&note));
                }
                measurements(*record)
            }
        };
        refuse_one_place(args, &name, found.len())?;
        wanted.push((name, Results::Read(found)));
    }
    let into = match &args.to {
        None => Destination::Store(args.store.open_for_writing(&settings, ui)?),
        Some(url) => Destination::Dashboard(dashboard(url, args.token_file.as_deref(), ui)?),
    };
    let (home, terms) = (&home, &terms);
    let mut adding = Adding {
        into,
        home,
        terms,
        settings: &settings,
        args,
        ui,
        waiting: Vec::new(),
        points: 0,
        done: Done::default(),
    };
    let read = wanted.into_iter().try_for_each(|(name, results)| adding.take_all(&name, results));
    // What was read before a file that cannot be read is added all the same.
    adding.flush()?;
    let Adding { into, done, .. } = adding;
    let Done { added, known, detached, needs_home } = done;
    say_known(&known, ui);
    let needs_home = terms.commit.is_some() || needs_home;
    if let Some(doubt) = home.doubt(terms).filter(|_| needs_home && !added.is_empty()) {
        ui.warn(doubt);
    }
    if detached && !added.is_empty() {
        ui.say(format!(
            "no branch is checked out, so results without a branch were added as {}; --branch \
             sets another",
            settings.branch
        ));
    }
    if let Destination::Store(mut store) = into
        && args.json
    {
        let filter = EntryFilter { ids: added.clone(), ..EntryFilter::default() };
        let entries = if added.is_empty() { Vec::new() } else { store.entries(&filter)? };
        let document = HistoryDocument::of_entries(store.split()?, &entries);
        ui.print_json(&document)?;
    }
    read.map(|()| Exit::Done)
}

/// From how many bytes on a folder is large.
const LARGE: u64 = 64 << 20;

/// Values that are added in one transaction, about.
const TOGETHER: usize = 200_000;

/// The results of a file or folder.
enum Results {
    Read(Vec<AtCommit>),
    Folder(AsvResults),
}

/// Refuses a commit or a time for results of several commits.
fn refuse_one_place(args: &Args, name: &str, commits: usize) -> Result<(), CommandError> {
    if commits > 1 && args.commit.is_some() {
        return Err(CommandError::usage(format!(
            "--commit names one commit, but {name} has results of {commits}"
        ))
        .hint("without --commit, each result belongs to the commit that the file names"));
    }
    if commits > 1 && args.time.is_some() {
        return Err(CommandError::usage(format!(
            "--time sets the time of one commit, but {name} has results of {commits}"
        ))
        .hint("without --time, each result has its own time"));
    }
    Ok(())
}

/// Where results go.
enum Destination {
    /// To a history here.
    Store(Store),
    /// To a server that has one.
    Dashboard(Dashboard),
}

/// Where the token of a server is, if no file has it. A command line can be read by everybody on the machine.
const TOKEN: &str = "BECALM_TOKEN";

/// Makes the way to a server.
fn dashboard(url: &str, file: Option<&Path>, ui: &Ui) -> Result<Dashboard, CommandError> {
    let is_encrypted = url.starts_with("https://");
    let Some(rest) = url.strip_prefix("https://").or(url.strip_prefix("http://")) else {
        return Err(CommandError::usage(format!(
            "--to {}: expected http://… or https://…",
            printable(url)
        )));
    };
    if rest.contains(['?', '#', '@']) {
        return Err(CommandError::usage(
            "--to is the address of the front page of a becalm serve, without a user or a query",
        ));
    }
    let token = match file {
        Some(path) => Some(read_token(path, ui)?),
        None => std::env::var(TOKEN).ok().filter(|token| !token.is_empty()),
    };
    let Some(token) = token else {
        return Err(CommandError::usage("becalm serve accepts records only with a token").hint(format!(
            "put it into a file and name that with --token-file, or set {TOKEN}; `becalm history token add` makes one there"
        )));
    };
    let host = rest.split('/').next().unwrap_or_default();
    let name = host.rsplit_once(':').map_or(host, |(name, _)| name).trim_matches(['[', ']']);
    let is_here = name == "localhost" || name.parse().is_ok_and(|ip: IpAddr| ip.is_loopback());
    if !is_encrypted && !is_here {
        ui.warn("the connection is not encrypted: others on the network can read the token");
    }
    Ok(Dashboard::new(url, &token))
}

/// Entries while they are added: many in one transaction.
struct Adding<'a> {
    into: Destination,
    home: &'a Home,
    terms: &'a EntryTerms,
    settings: &'a Settings,
    args: &'a Args,
    ui: &'a Ui,
    /// Entries that are not in the history yet, each with the file that it is of.
    waiting: Vec<(String, NewEntry)>,
    points: usize,
    done: Done,
}

/// What was added.
#[derive(Default)]
struct Done {
    added: Vec<EntryId>,
    /// What was in the history before.
    known: Vec<Known>,
    detached: bool,
    needs_home: bool,
}

/// A measurement that was in the history before.
struct Known {
    /// The file that has it.
    name: String,
    id: EntryId,
    /// Its commit and branch, if they are known here.
    place: Option<String>,
}

impl Adding<'_> {
    /// Says whether whole records are needed here, if they are to be kept or not: a server makes the values itself.
    fn needed(&self, records: Records) -> Records {
        match self.into {
            Destination::Dashboard(_) => Records::Kept,
            Destination::Store(_) => records,
        }
    }

    /// Takes the results of a file or folder, up to one that cannot be read.
    fn take_all(&mut self, name: &str, results: Results) -> Result<(), CommandError> {
        let asked = self.args.records;
        match results {
            Results::Read(all) => {
                let records = asked.unwrap_or(Records::Kept);
                all.iter().try_for_each(|one| self.take(name, one, records))
            }
            Results::Folder(folder) => {
                let is_large = folder.bytes > LARGE;
                let usual = if is_large { Records::Dropped } else { Records::Kept };
                let records = asked.unwrap_or(usual);
                if is_large && asked.is_none() {
                    self.ui.say(format!(
                        "{name} has more than {} MiB, so the history keeps its values and not its \
                         records; --records keep keeps both",
                        LARGE >> 20
                    ));
                }
                let is_kept = self.needed(records) == Records::Kept;
                let mut folder = if is_kept { folder } else { folder.values_alone() };
                let read = folder.try_for_each(|one| self.take(name, &one?, records));
                if let Some(left_out) = folder.left_out() {
                    self.ui.warn(format!("{name}: {left_out}"));
                }
                read
            }
        }
    }

    fn take(&mut self, name: &str, one: &AtCommit, records: Records) -> Result<(), CommandError> {
        let needed = self.needed(records);
        let entry = self.home.entry_with(one, self.terms, &self.settings.branch, needed);
        let cut_off = cut_off(&one.record);
        for cut_off in &cut_off {
            let why = (WORDS.reason)(&cut_off.reason());
            self.ui.warn(format!("{name}: {}: {why}", printable(&cut_off.name())));
        }
        self.done.needs_home |= !names_its_place(one);
        // That all of it was cut off is worth to be known, too.
        if entry.points.is_empty() && cut_off.is_empty() {
            self.ui
                .warn(format!("{name}: skipped, because it contains no value that could be kept"));
            let is_failure = |note: &&Note| matches!(note, Note::Import(ImportNote::Failed { .. }));
            for note in one.record.notes.iter().filter(is_failure) {
                self.ui.warn(format!("{name}: {}", note_sentence(note)));
            }
            return Ok(());
        }
        let is_here = !names_its_place(one);
        let has_branch = self.args.branch.is_some() || one.branch.is_some();
        self.done.detached |= self.home.is_detached() && is_here && !has_branch;
        if let Destination::Dashboard(dashboard) = &self.into {
            let url = self.args.to.as_deref().unwrap_or_default();
            let sent = send(dashboard, url, name, &entry, records)?;
            return self.sent(name, &entry, &sent);
        }
        self.points += entry.points.len();
        self.waiting.push((name.to_owned(), entry));
        if self.points < TOGETHER { Ok(()) } else { self.flush() }
    }

    /// Says what became of an entry that was sent.
    fn sent(
        &mut self,
        name: &str,
        entry: &NewEntry,
        sent: &WebUploadDocument,
    ) -> Result<(), CommandError> {
        let id = EntryId(sent.entry);
        if sent.outcome == "known" {
            self.done.known.push(Known { name: name.to_owned(), id, place: None });
            return Ok(());
        }
        let but = if sent.outcome == "completed" { COMPLETED } else { "" };
        self.done.added.push(id);
        let described = described(entry, sent.values);
        self.ui.print_folded(&format!("added entry {id}: {described}{but}\n"))
    }

    /// Puts what waits into the history, and says what became of it.
    fn flush(&mut self) -> Result<(), CommandError> {
        if self.waiting.is_empty() {
            return Ok(());
        }
        let (names, entries): (Vec<String>, Vec<NewEntry>) = self.waiting.drain(..).unzip();
        self.points = 0;
        let Destination::Store(store) = &mut self.into else { return Ok(()) };
        let all = store.add_all(&entries)?;
        for ((name, entry), added) in names.iter().zip(&entries).zip(all) {
            let (id, values, but) = match added {
                Added::New(id) => (id, entry.points.len(), ""),
                Added::Completed(id, values) => (id, values, COMPLETED),
                Added::Known(id) => {
                    let filter = EntryFilter { ids: vec![id], ..EntryFilter::default() };
                    let there = store.entries(&filter)?.pop();
                    if let Some(there) = there {
                        self.done.known.extend(known(name, entry, &there, self.terms, self.ui));
                    }
                    continue;
                }
            };
            self.done.added.push(id);
            if !self.args.json {
                let described = described(entry, values);
                self.ui.print_folded(&format!("added entry {id}: {described}{but}\n"))?;
            }
        }
        Ok(())
    }
}

/// What is said of an entry of which some values were there already.
const COMPLETED: &str = "; its other values were already in the history";

/// Sends the record of an entry to a server.
fn send(
    dashboard: &Dashboard,
    url: &str,
    name: &str,
    entry: &NewEntry,
    records: Records,
) -> Result<WebUploadDocument, CommandError> {
    let place = RecordPlace {
        commit: entry.commit.as_ref(),
        branch: &entry.branch,
        dirty: entry.dirty,
        tags: &entry.tags,
        measured: entry.measured,
        is_of_history: entry.origin == Origin::History,
        keeps_record: records == Records::Kept,
    };
    let record = entry.document.as_deref().unwrap_or_default();
    dashboard.upload(&place, record).map_err(|error| {
        let failed = CommandError::measure(format!(
            "{name}: {} at {}",
            printable(&error.to_string()),
            printable(url)
        ));
        match error.status() {
            Some(401 | 403) => failed.hint(
                "use a token of that server that permits uploads and is not revoked; \
                 `becalm history token list` lists them on the server",
            ),
            Some(404) => failed.hint(
                "a `becalm serve` with several projects takes records at the address of each: \
                 --to URL/NAME",
            ),
            Some(413) => failed.hint("`becalm serve --max-record` permits larger records; --records drop does not help, because the server computes the values"),
            _ => failed.hint(
                "run the command again later: the server recognises what it already has",
            ),
        }
    })
}

/// Says whether a file names the commit or time of its measurement.
fn names_its_place(one: &AtCommit) -> bool {
    one.commit.is_some() || one.time.is_some()
}

/// Says which measurements were in the history before: of a file with many in one line.
fn say_known(known: &[Known], ui: &Ui) {
    for of_file in known.chunk_by(|a, b| a.name == b.name) {
        let [first, .., last] = of_file else {
            ui.say(of_file[0].line());
            continue;
        };
        let (name, results) = (&first.name, counted(of_file.len(), "result"));
        let ids = of_file.iter().map(|one| one.id);
        let (low, high) = (ids.clone().min().unwrap_or(first.id), ids.max().unwrap_or(last.id));
        ui.say(format!(
            "{name}: {results} are already in the history, as entries {low} to {high}; nothing was changed for them"
        ));
    }
}

impl Known {
    fn line(&self) -> String {
        let Self { name, id, place } = self;
        let place = place.as_ref().map_or(String::new(), |place| format!(", {place}"));
        format!("{name}: already in the history as entry {id}{place}; nothing was changed")
    }
}

/// Returns a measurement that is in the history already; says which flags were ignored, if any were.
fn known(
    name: &str,
    entry: &NewEntry,
    there: &Entry,
    terms: &EntryTerms,
    ui: &Ui,
) -> Option<Known> {
    let id = there.id;
    let place = place(there.commit.as_ref(), there.dirty, &there.branch);
    let known = Known { name: name.to_owned(), id, place: Some(place) };
    let commit = |commit: Option<&Commit>| commit.map(|commit| (commit.id.clone(), commit.time));
    let moved = terms.says_where()
        && (commit(entry.commit.as_ref()), &entry.branch)
            != (commit(there.commit.as_ref()), &there.branch);
    let tagged = terms.tags.iter().any(|tag| !there.tags.contains(tag));
    if moved || tagged {
        let known = known.line();
        ui.warn(format!(
            "{known}, and the flags about it were ignored. A measurement counts only once: to add \
             it again with other flags, first remove it with `becalm history prune --entry {id}`"
        ));
        return None;
    }
    Some(known)
}

/// Describes an entry that has so many values.
fn described(entry: &NewEntry, values: usize) -> String {
    let values = counted(values, "value");
    format!("{}, {values}", place(entry.commit.as_ref(), entry.dirty, &entry.branch))
}

fn place(commit: Option<&Commit>, dirty: bool, branch: &str) -> String {
    let changes = if dirty { " with changes" } else { "" };
    // Both can be from anybody's file.
    printable(&match commit {
        Some(commit) => format!("{}{changes} on {branch}", short_commit(&commit.id)),
        None => format!("branch {branch}, without a commit{changes}"),
    })
}
