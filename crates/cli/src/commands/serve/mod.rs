//! `becalm serve`: the pages of a history, or of several, for a browser.

use std::io::{self, Write as _};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use becalm_machine::return_freed_at_once;
use becalm_web::{
    Access, Answered, CommitPages, Encryption, EncryptionError, Identity, Limits, Log, Server,
    ServerOptions, TokenError,
};
use clap::builder::NonEmptyStringValueParser;
use serde_json::json;

use super::history::{
    Settings, StoreFlags, commit_pages, now, read_token, title, warn_if_readable,
};
use super::schema::published as schema_text;
use crate::error::CommandError;
use crate::exit::Exit;
use crate::measuring::interrupt;
use crate::ui::Ui;

mod projects;

use projects::{only, several};

/// Where the token is, if no file has it. A command line can be read by everybody on the machine.
const TOKEN: &str = "BECALM_SERVE_TOKEN";

/// How long it may look at the history before it says where it is.
const PREPARING: Duration = Duration::from_secs(30);

/// How soon it ends meanwhile if it is interrupted.
const LOOK: Duration = Duration::from_millis(50);

/// Show the history in a browser: changes, series, records
///
/// The front page lists what got slower or faster, the largest certain change first. You can
/// acknowledge, dismiss and reopen changes there, as with `becalm changes`. /api has the same as
/// JSON, /feed.atom the confirmed changes, /badge.svg their number, /health and /metrics what
/// monitoring needs. `becalm history add --to` sends results to it. Without a token becalm serves
/// this machine alone; with one, requests need it as the password of any user name, or as a bearer
/// token. The token that you give here permits everything; those of `becalm history token` have
/// only the rights that you gave them. Without --tls-cert and --tls-key the connection is not
/// encrypted: beyond your own network, use them, or put the server behind a proxy with TLS.
///
/// With --project, one server shows several histories: each below its name, and a list of them at
/// the top. Tokens of a history count in its project alone.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    store: StoreFlags,
    /// A project and its history: an SQLite file, or a PostgreSQL URL; may be repeated
    #[arg(long = "project", value_name = "NAME=PLACE", value_parser = NonEmptyStringValueParser::new())]
    projects: Vec<String>,
    /// Address and port to listen on; beyond loopback only with a token
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:8417", value_parser = listening)]
    listen: SocketAddr,
    /// File with the token [default: the variable `BECALM_SERVE_TOKEN`, else none]
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// File with the certificate for TLS, followed by those that lead to an authority, in PEM
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    tls_cert: Option<PathBuf>,
    /// File with the key of the certificate, in PEM, without a password
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<PathBuf>,
    /// A name by which browsers reach the server, such as that of a proxy; may be repeated
    #[arg(long = "host", value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    hosts: Vec<String>,
    /// What the pages call the history, or the list of projects [default: the name of the
    /// repository]
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    title: Option<String>,
    /// The page of a commit, with `{commit}` where its id belongs and `{project}` for the name of the
    /// project [default: that of the remote `origin`, if its host is known; none with --project]
    #[arg(long, value_name = "URL")]
    commit_url: Option<CommitPages>,
    /// Refuse decisions about changes, and new results
    #[arg(long)]
    read_only: bool,
    /// Write a line about every answer to standard error: time, method, path, status, bytes, seconds
    #[arg(long, value_name = "FORMAT", value_enum)]
    log: Option<LogFormat>,
    /// The largest record that can be sent, in MiB
    #[arg(long, value_name = "MIB", default_value_t = 32, value_parser = clap::value_parser!(u16).range(1..=1024))]
    max_record: u16,
}

/// How a line about an answer is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum LogFormat {
    /// A JSON object on each line
    Json,
}

/// Reads where to listen.
fn listening(text: &str) -> Result<SocketAddr, String> {
    text.parse().map_err(|_| {
        "expected the number of an address and a port, such as 127.0.0.1:8417 or [::1]:0".to_owned()
    })
}

/// Writes a line about an answer to standard error.
fn log(answered: &Answered<'_>) {
    let Answered { method, path, page, status, bytes, seconds } = *answered;
    let line = json!({
        "time": now(),
        "method": method,
        "path": path,
        "page": page,
        "status": status,
        "bytes": bytes,
        "seconds": seconds,
    });
    // In one piece: answers are of several threads. Nothing sensible can be done when standard error is gone.
    let _ = std::io::stderr().write_all(format!("{line}\n").as_bytes());
}

pub(crate) fn run(args: &Args, ui: &Ui) -> Result<Exit, CommandError> {
    let settings = Settings::read()?;
    let (shown, tokens) = if args.projects.is_empty() {
        only(&args.store, &settings)?
    } else {
        several(&args.projects, &args.store, &settings, ui)?
    };
    let token = token(args.token_file.as_deref(), ui)?;
    let access =
        Access::new(args.listen, token.as_deref(), &tokens, args.hosts.clone()).map_err(refused)?;
    let limits = Limits { record: usize::from(args.max_record) << 20, ..Limits::default() };
    let options = ServerOptions {
        at: args.listen,
        title: title(args.title.as_deref())?,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        commits: commits_at(args)?,
        access,
        encryption: encryption(args, ui)?,
        changes: !args.read_only,
        limits,
        schema: |name| schema_text(name),
        log: args.log.map(|LogFormat::Json| Box::new(log) as Log),
    };
    // It reads whole histories, and then waits for days.
    return_freed_at_once();
    let interrupt = interrupt()?;
    let server = Server::start(shown, options).map_err(|error| {
        CommandError::measure(format!("cannot listen on {}: {error}", args.listen))
            .hint("--listen chooses another address or port; with port 0 the system chooses one")
    })?;
    let began = Instant::now();
    while !server.is_prepared_within(LOOK) && began.elapsed() < PREPARING {
        if interrupt.signal().is_some() {
            return Ok(Exit::Done);
        }
    }
    ui.print(&format!("{}\n", server.url()))?;
    while interrupt.sleep(Duration::from_secs(3600)) {}
    Ok(Exit::Done)
}

/// Returns where commits can be looked at. The repository around becalm is of one project at most.
fn commits_at(args: &Args) -> Result<Option<CommitPages>, CommandError> {
    match &args.commit_url {
        None if !args.projects.is_empty() => Ok(None),
        Some(url) if args.projects.is_empty() => commit_pages(Some(url)),
        Some(url) => Ok(Some(url.clone())),
        None => commit_pages(None),
    }
}

/// Reads certificate and key, and reads them again when they are renewed.
fn encryption(args: &Args, ui: &Ui) -> Result<Option<Encryption>, CommandError> {
    let Some((certificate, key)) = args.tls_cert.clone().zip(args.tls_key.clone()) else {
        return Ok(None);
    };
    warn_if_readable(&key, "the key", ui);
    // An error of the system says nothing of the path.
    let read = |path: &Path| {
        std::fs::read(path)
            .map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", path.display())))
    };
    let read = move || Ok(Identity { certificates: read(&certificate)?, key: read(&key)? });
    Encryption::new(Box::new(read)).map(Some).map_err(|error| {
        let why = match error {
            EncryptionError::Read(error) => error.to_string(),
            EncryptionError::Tls(error) => error.to_string(),
        };
        CommandError::usage(why)
            .hint("--tls-cert and --tls-key name a certificate and its key, in PEM")
    })
}

/// Reads the token from its file, or from the environment.
fn token(file: Option<&Path>, ui: &Ui) -> Result<Option<String>, CommandError> {
    let Some(path) = file else {
        return Ok(std::env::var(TOKEN).ok().filter(|token| !token.is_empty()));
    };
    read_token(path, ui).map(Some)
}

fn refused(error: TokenError) -> CommandError {
    match error {
        TokenError::Needed => CommandError::usage(
            "without a token, becalm listens only on loopback addresses",
        )
        .hint(format!(
            "put a token into a file and name it with --token-file, or set {TOKEN}; or make one with \
             `becalm history token add NAME --may read`"
        )),
        TokenError::TooShort { least } => {
            CommandError::usage(format!("the token is empty, or has fewer than {least} characters"))
                .hint("`openssl rand -hex 24` makes a good one")
        }
        TokenError::Unusual => {
            CommandError::usage("the token contains spaces, or characters outside ASCII")
                .hint("`openssl rand -hex 24` makes a good one")
        }
    }
}
