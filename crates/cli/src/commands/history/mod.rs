//! `becalm history`: results over time.

mod add;
mod asv_folder;
mod export;
mod files;
mod home;
mod list;
mod pages;
mod prune;
mod publish;
mod settings;
mod show;
mod store;
mod token;
mod when;

use becalm_series::SeriesFilter;
use clap::Subcommand;
use clap::builder::NonEmptyStringValueParser;

use crate::error::CommandError;
use crate::exit::Exit;
use crate::ui::Ui;

pub(crate) use files::{Content, broken_off_by, content, measurements};
pub(crate) use home::{CountedFlags, Home, LeftOut, Records};
pub(crate) use pages::{commit_pages, commits, record_page, title};
pub(crate) use settings::Settings;
pub(crate) use store::{StoreFlags, place_of};
pub(crate) use token::{read_token, warn_if_readable};
pub(crate) use when::{Age, moment, now};

/// Keep results over time, and look at them
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Add(add::Args),
    List(list::Args),
    Show(show::Args),
    Prune(prune::Args),
    Export(export::Args),
    Publish(publish::Args),
    Token(token::Args),
}

pub(crate) fn run(args: &Args, ui: &Ui) -> Result<Exit, CommandError> {
    match &args.command {
        Command::Add(args) => add::run(args, ui),
        Command::List(args) => list::run(args, ui),
        Command::Show(args) => show::run(args, ui),
        Command::Prune(args) => prune::run(args, ui),
        Command::Export(args) => export::run(args, ui),
        Command::Publish(args) => publish::run(args, ui),
        Command::Token(args) => token::run(args, ui),
    }
}

/// Which series, as flags.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct SeriesFlags {
    /// Only benchmarks of this name; `*` matches anything
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    benchmark: Option<String>,
    /// Only this metric; `*` matches anything
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    metric: Option<String>,
    /// Only this branch
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    branch: Option<String>,
}

impl SeriesFlags {
    /// Says whether any is chosen.
    pub(crate) fn any(&self) -> bool {
        self.benchmark.is_some() || self.metric.is_some() || self.branch.is_some()
    }
}

impl From<&SeriesFlags> for SeriesFilter {
    fn from(flags: &SeriesFlags) -> Self {
        Self {
            benchmark: flags.benchmark.clone(),
            metric: flags.metric.clone(),
            branch: flags.branch.clone(),
            ..Self::default()
        }
    }
}
