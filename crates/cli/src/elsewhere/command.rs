//! A command that is no session, carried out on another machine.

use std::cell::RefCell;
use std::path::{Path, PathBuf};

use becalm_fleet::{Around, Errand, Frame, Host, Outcome, Output, Parcel};
use becalm_model::terms::Exports;
use becalm_model::wire::HostStatus;
use becalm_session::suite::load_of_this_folder;
use becalm_session::{body_files, disturbed_runs, files};
use clap::ArgMatches;

use super::place::Place;
use super::session::record_of;
use super::{Arrived, Steps, connect, folder, printed};
use crate::error::CommandError;
use crate::exit::Exit;
use crate::measuring::{export, interrupt, remember};
use crate::rights::Rights;
use crate::ui::Ui;

/// Where a command is to be carried out, and what it reads and writes here.
#[derive(Debug)]
pub(crate) struct Asked {
    host: String,
    send: Vec<PathBuf>,
    /// A file of requests, which may name other files.
    requests: Option<PathBuf>,
    /// The name of a load in becalm.toml, which may name files, too.
    scenario: Option<String>,
    /// Whether its words may be names of files that it reads.
    names_files: bool,
    /// Files that the command writes.
    outputs: Vec<PathBuf>,
    /// Files that the record of a session is saved to.
    exports: Exports,
}

/// Flags whose values are files that commands write.
const OUTPUTS: [&str; 7] = [
    "export_json",
    "export_html",
    "export_markdown",
    "export_hdr",
    "export_csv",
    "svg",
    "write_profile",
];

impl Asked {
    /// Returns what was asked for, if the command is to be carried out elsewhere.
    pub(crate) fn of(matches: &ArgMatches, names_files: bool) -> Option<Self> {
        let host = matches.try_get_one::<String>("on").ok().flatten()?.clone();
        let path = |name| matches.try_get_one::<PathBuf>(name).ok().flatten().cloned();
        let send = matches.try_get_many::<PathBuf>("send").ok().flatten();
        let exports = Exports {
            print: false,
            json: path("export_json"),
            html: path("export_html"),
            markdown: path("export_markdown"),
        };
        Some(Self {
            host,
            send: send.into_iter().flatten().cloned().collect(),
            requests: path("requests"),
            scenario: matches.try_get_one::<String>("scenario").ok().flatten().cloned(),
            names_files,
            outputs: OUTPUTS.into_iter().filter_map(path).collect(),
            exports,
        })
    }
}

/// Carries out a command there.
pub(crate) fn on_host(asked: &Asked, given: &[String], ui: &Ui) -> Result<Exit, CommandError> {
    // Whatever needs root needs it there.
    Rights::User.take(false)?;
    let interrupt = interrupt()?;
    let host = asked.host.as_str();
    let folder = folder()?;
    let place = Place::open(host, ui)?;
    ui.progress_line("reading the files to send");
    let mut parcel = Parcel::new(&folder);
    for path in &asked.send {
        parcel.add(path)?;
    }
    if let Some(requests) = &asked.requests {
        for path in body_files(requests).map_err(CommandError::usage)? {
            parcel.add(&path)?;
        }
    }
    if let Some(name) = &asked.scenario {
        let load = load_of_this_folder(name).map_err(CommandError::usage)?;
        for path in &load.files {
            parcel.add(path)?;
        }
    }
    let outputs: Vec<PathBuf> = asked.outputs.iter().map(|path| folder.join(path)).collect();
    for path in &outputs {
        files::check_writable(path)?;
        parcel.add_folder(path.parent().unwrap_or(&folder));
    }
    for word in given.iter().filter(|_| asked.names_files) {
        let path = Path::new(word);
        if path.is_relative() && path.is_file() && !asked.outputs.iter().any(|one| one == path) {
            parcel.add(path)?;
        }
    }
    let arguments = with_relative(&without_host(given), &asked.outputs, &folder);
    let steps = Steps::new(host, ui);
    let arrived = RefCell::new(Arrived::default());
    let written = RefCell::new(Vec::new());
    let hear = |frame| {
        let rest = arrived.borrow_mut().take(frame, ui);
        match rest {
            Some(Frame::Print(text)) => {
                if let Err(error) = ui.print(&printed(text.as_bytes())) {
                    arrived.borrow_mut().error = Some(error);
                }
            }
            Some(Frame::Output(index, text)) => written.borrow_mut().push((index, text)),
            _ => {}
        }
    };
    let around = Around { interrupt, step: &|step| steps.show(step), hear: &hear };
    let wanted = outputs.iter().cloned().map(Output).collect();
    let errand = Errand::command(arguments, parcel, wanted);
    let ended = place.carry_out(errand, ui.terminal(), around);
    ui.progress_line("");
    let Arrived { outcome, error } = arrived.into_inner();
    let exit = Exit::of_code(ended?);
    for (index, text) in written.into_inner() {
        if let Some(path) = outputs.get(index) {
            files::write_atomically(path, &text)?;
        }
    }
    if let Some(outcome) = outcome {
        keep(&outcome, &asked.exports, host, place.clock_ahead())?;
    }
    match error {
        Some(error) => Err(CommandError { exit, ..error }),
        None => Ok(exit),
    }
}

/// Asks a host how it is.
pub(crate) fn status(host: &Host, ui: &Ui) -> Result<HostStatus, CommandError> {
    let interrupt = interrupt()?;
    let connection = connect(host, ui)?;
    let answer = RefCell::new(String::new());
    let hear = |frame| {
        if let Frame::Print(text) = frame {
            answer.borrow_mut().push_str(&text);
        }
    };
    let around = Around { interrupt, step: &|_| (), hear: &hear };
    let arguments = vec!["hosts".to_owned(), "--here".to_owned()];
    let parcel = Parcel::new(&folder()?);
    let errand = Errand::command(arguments, parcel, Vec::new());
    connection.carry_out(errand, ui.terminal(), around)?;
    serde_json::from_str(&answer.into_inner()).map_err(|error| {
        CommandError::measure(format!("{} does not report its state: {error}", host.name))
    })
}

/// Saves the record of a session that the command has made there.
fn keep(
    outcome: &Outcome,
    exports: &Exports,
    host: &str,
    clock_ahead: Option<i64>,
) -> Result<(), CommandError> {
    let record = record_of(&outcome.record, host, clock_ahead)?;
    if record.runs.iter().any(|run| !run.warmup) {
        remember(&record);
    }
    let disturbed = disturbed_runs(&record);
    export(&record, &disturbed, exports)
}

/// Returns the arguments without `--on` and `--send`.
fn without_host(given: &[String]) -> Vec<String> {
    let mut words = given.iter();
    let mut kept = Vec::new();
    while let Some(word) = words.next() {
        match word.as_str() {
            "--" => {
                kept.push(word.clone());
                kept.extend(words.by_ref().cloned());
            }
            "--on" | "--send" => {
                words.next();
            }
            word if word.starts_with("--on=") || word.starts_with("--send=") => {}
            word => kept.push(word.to_owned()),
        }
    }
    kept
}

/// Returns the arguments with paths of files that are written as seen from the folder: they are written below another one there.
fn with_relative(words: &[String], outputs: &[PathBuf], folder: &Path) -> Vec<String> {
    let absolute = outputs.iter().filter(|path| path.is_absolute());
    let pairs: Vec<(String, String)> = absolute
        .map(|path| {
            let relative = becalm_fleet::relative_to(path, folder);
            (path.display().to_string(), relative.display().to_string())
        })
        .collect();
    let replaced = |word: &String| {
        let found = pairs.iter().find(|(path, _)| {
            word == path || word.strip_suffix(path.as_str()).is_some_and(|flag| flag.ends_with('='))
        });
        found.map_or_else(|| word.clone(), |(path, relative)| word.replace(path.as_str(), relative))
    };
    words.iter().map(replaced).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<String> {
        line.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn the_far_end_gets_no_host() {
        let check = |line: &str, expected: &str| {
            assert_eq!(without_host(&words(line)), words(expected), "{line}");
        };
        check("check --on bench --json", "check --json");
        check("check --on=bench --send=a --send b", "check");
        check("noise ablate --on b -- prog --on x", "noise ablate -- prog --on x");
    }

    #[test]
    fn what_is_written_is_written_below_the_folder() {
        let outputs = [PathBuf::from("/home/me/out.svg"), PathBuf::from("x.html")];
        let line = words("topology --svg=/home/me/out.svg --export-html x.html");
        let relative = with_relative(&line, &outputs, Path::new("/home/me/project"));
        assert_eq!(relative, words("topology --svg=../out.svg --export-html x.html"));
    }
}
