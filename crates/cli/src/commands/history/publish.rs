//! `becalm history publish`: the pages of `becalm serve` as files.

use std::path::PathBuf;

use becalm_model::counted;
use becalm_series::StoreError;
use becalm_session::files;
use becalm_web::{CommitPages, History, Publication, PublishError, publish};
use clap::builder::NonEmptyStringValueParser;

use super::pages::{commit_pages, commits, record_page, title};
use super::{Settings, StoreFlags};
use crate::error::CommandError;
use crate::exit::Exit;
use crate::ui::Ui;

/// Write the pages of `becalm serve` as files, for GitHub or GitLab Pages, or to open from disk
///
/// becalm overwrites files that an earlier publication left in the folder, but leaves those of
/// entries and series that no longer exist.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The folder; becalm creates it if it does not exist
    #[arg(value_name = "FOLDER")]
    folder: PathBuf,
    #[command(flatten)]
    store: StoreFlags,
    /// What the pages call the history [default: the name of the repository]
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    title: Option<String>,
    /// Where the pages will be served, for the addresses in feed.atom [default: none, and they are
    /// relative]
    #[arg(long, value_name = "URL", value_parser = site)]
    url: Option<String>,
    /// The page of a commit, with `{commit}` where its id belongs [default: that of the remote
    /// `origin`, if its host is known]
    #[arg(long, value_name = "URL")]
    commit_url: Option<CommitPages>,
    /// Include the whole records of the last N entries
    #[arg(long, value_name = "N", default_value_t = 50)]
    records: usize,
}

/// Reads where pages will be; they lie below it.
fn site(text: &str) -> Result<String, String> {
    let is_of_web = ["https://", "http://"].iter().any(|scheme| text.starts_with(scheme));
    if !is_of_web || text.contains(['?', '#']) || !text.chars().all(|c| c.is_ascii_graphic()) {
        return Err("expected an address such as https://example.org/benchmarks/".to_owned());
    }
    Ok(if text.ends_with('/') { text.to_owned() } else { format!("{text}/") })
}

pub(crate) fn run(args: &Args, ui: &Ui) -> Result<Exit, CommandError> {
    let settings = Settings::read()?;
    args.store.open_for_reading(&settings)?;
    let history = History::new(
        args.store.place(&settings)?,
        settings.change_terms(),
        record_page,
        commits()?,
    );
    // A name alone has no folder above it to be looked at.
    let top = PathBuf::from(".").join(&args.folder);
    for folder in ["", "series", "entry", "record"] {
        let folder = top.join(folder);
        files::make_folder(&folder).map_err(|error| {
            CommandError::measure(format!("cannot create {}: {error}", folder.display()))
        })?;
    }
    let title = title(args.title.as_deref())?;
    let version = env!("CARGO_PKG_VERSION");
    let publication = Publication {
        title: &title,
        version,
        commits: commit_pages(args.commit_url.as_ref())?,
        url: args.url.as_deref(),
        records: args.records,
    };
    let done =
        publish(&history, publication, |path, text| files::write_atomically(&top.join(path), text));
    let published = match done {
        Ok(published) => published,
        Err(PublishError::Store(error)) => return Err(StoreError::into(error)),
        Err(PublishError::Write(error)) => return Err(error.into()),
    };
    if published.unreadable > 0 {
        ui.warn(format!("{} could not be read", counted(published.unreadable, "record")));
    }
    ui.print(&format!("{}\n", args.folder.join("index.html").display()))?;
    ui.say(format!(
        "{} written, {} of whole records",
        counted(published.files, "file"),
        published.records
    ));
    Ok(Exit::Done)
}
