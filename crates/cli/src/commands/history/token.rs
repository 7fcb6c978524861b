//! `becalm history token`: who may read, upload and decide over HTTP.
//!
//! Tokens are rows of the history, so that every `becalm serve` of it knows them, also on another machine, and one that is
//! revoked counts nowhere any more.

use std::fmt::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use becalm_model::time_text;
use becalm_report::printable;
use becalm_series::{RIGHTS, Right, Token};
use becalm_session::files::read_text;
use becalm_web::NewToken;
use clap::Subcommand;
use clap::builder::{NonEmptyStringValueParser, PossibleValuesParser, TypedValueParser as _};

use super::{Settings, StoreFlags, now};
use crate::error::CommandError;
use crate::exit::Exit;
use crate::ui::Ui;

/// Letters of a name.
const NAME: usize = 100;

/// Make, list and revoke tokens, which give people and programs access to `becalm serve`
///
/// A token has one or several rights: `read` (see every page), `upload` (send records with `becalm
/// history add --to`) and `manage` (decide about changes). The history keeps only its SHA-256.
/// Every `becalm serve` of the history accepts it; a second after you revoke it, none does.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Add(AddArgs),
    List(ListArgs),
    Revoke(RevokeArgs),
}

/// Make a token, and print it once: becalm cannot show it again
#[derive(Debug, clap::Args)]
struct AddArgs {
    /// Name of the token, such as that of its user
    #[arg(value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    name: String,
    /// What it permits
    #[arg(long, value_name = "RIGHTS", required = true, value_delimiter = ',', value_parser = right())]
    may: Vec<Right>,
    #[command(flatten)]
    store: StoreFlags,
}

/// List the tokens, including revoked ones
#[derive(Debug, clap::Args)]
struct ListArgs {
    #[command(flatten)]
    store: StoreFlags,
}

/// Revoke a token
#[derive(Debug, clap::Args)]
struct RevokeArgs {
    /// Name of the token
    #[arg(value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    name: String,
    #[command(flatten)]
    store: StoreFlags,
}

fn right() -> impl clap::builder::TypedValueParser<Value = Right> {
    PossibleValuesParser::new(RIGHTS.map(Right::word)).try_map(|word| word.parse::<Right>())
}

pub(crate) fn run(args: &Args, ui: &Ui) -> Result<Exit, CommandError> {
    let settings = Settings::read()?;
    match &args.command {
        Command::Add(args) => add(args, &settings, ui),
        Command::List(args) => list(args, &settings, ui),
        Command::Revoke(args) => revoke(args, &settings, ui),
    }
}

fn add(args: &AddArgs, settings: &Settings, ui: &Ui) -> Result<Exit, CommandError> {
    if args.name.chars().count() > NAME || args.name.chars().any(char::is_control) {
        return Err(CommandError::usage(format!(
            "a name has at most {NAME} characters, on one line"
        )));
    }
    let made = NewToken::make().map_err(|error| {
        CommandError::measure(format!("no random numbers could be read: {error}"))
    })?;
    let token = Token {
        name: args.name.clone(),
        digest: made.digest,
        rights: args.may.clone(),
        made: now(),
        revoked: None,
    };
    if !args.store.open_for_writing(settings, ui)?.add_token(&token)? {
        return Err(CommandError::usage(format!("{}: this name is already in use", args.name))
            .hint(format!("`becalm history token revoke {}` revokes it", args.name)));
    }
    ui.print(&format!("{}\n", made.text))?;
    ui.say("the history keeps only the SHA-256 of the token: becalm cannot show it again");
    Ok(Exit::Done)
}

fn list(args: &ListArgs, settings: &Settings, ui: &Ui) -> Result<Exit, CommandError> {
    let tokens = args.store.open_for_reading(settings)?.tokens()?;
    let mut out = String::new();
    for token in &tokens {
        let rights: Vec<&str> = token.rights.iter().map(|right| right.word()).collect();
        let moment = |time: f64| time_text(time).unwrap_or_default();
        let revoked =
            token.revoked.map_or(String::new(), |time| format!(", revoked {}", moment(time)));
        let name = printable(&token.name);
        let _ = writeln!(out, "{name}: {}, made {}{revoked}", rights.join(","), moment(token.made));
    }
    if tokens.is_empty() {
        ui.say("the history has no token; `becalm history token add NAME --may upload` makes one");
    }
    ui.print(&out)?;
    Ok(Exit::Done)
}

fn revoke(args: &RevokeArgs, settings: &Settings, ui: &Ui) -> Result<Exit, CommandError> {
    // It is not made where there is none.
    args.store.open_for_reading(settings)?;
    if !args.store.open_for_writing(settings, ui)?.revoke_token(&args.name, now())? {
        return Err(CommandError::usage(format!(
            "{}: there is no valid token of this name",
            printable(&args.name)
        ))
        .hint("`becalm history token list` lists them"));
    }
    ui.say(format!("{}: revoked", printable(&args.name)));
    Ok(Exit::Done)
}

/// Warns if other users can read a file with a secret.
pub(crate) fn warn_if_readable(path: &Path, what: &str, ui: &Ui) {
    let mode = path.metadata().map_or(0, |facts| facts.permissions().mode());
    if mode & 0o077 != 0 {
        let path = path.display();
        ui.warn(format!("{path}: other users may read {what}; `chmod 600` prevents that"));
    }
}

/// Reads a token from its file, and warns if others can.
pub(crate) fn read_token(path: &Path, ui: &Ui) -> Result<String, CommandError> {
    let text = read_text(path)?;
    warn_if_readable(path, "the token", ui);
    Ok(text.trim_end_matches(['\r', '\n']).to_owned())
}
