//! The session's log on disk: every finished run is written as it ends.

use std::fs::{File, TryLockError};
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use becalm_model::{Metric, Record, Run, wire};
use becalm_runner::rounds::drop_unfinished_round;

use crate::files::{self, FileError};
use crate::saved::own_record;

/// How the name of a log ends that lies beside the file it will be saved to.
pub const PARTIAL: &str = ".partial";

/// How the name of a log ends that lies in becalm's state folder.
pub const OF_LOG: &str = "jsonl";

/// How many logs of sessions without `--export-json` are kept.
const KEPT: usize = 20;

/// The lines of a log, made from a session as it goes on.
#[derive(Debug)]
pub struct LogLines {
    /// How many metrics the log knows of.
    metrics: usize,
}

impl LogLines {
    /// Begins a log for this record; returns its first lines: the header, and the runs that the record
    /// already has.
    pub fn begin(record: &Record) -> (Self, String) {
        let mut lines = Self { metrics: record.metrics.len() };
        let mut text = line(serde_json::to_string(&wire::log_header(record)));
        for run in &record.runs {
            text += &lines.of_run(&record.metrics, run);
        }
        (lines, text)
    }

    /// Returns the lines of a run: the metrics that it is the first to have, and the run.
    pub fn of_run(&mut self, metrics: &[Metric], run: &Run) -> String {
        let new = &metrics[self.metrics.min(metrics.len())..];
        self.metrics = self.metrics.max(metrics.len());
        let mut text: String = new
            .iter()
            .map(|metric| line(serde_json::to_string(&wire::log_metric(metric))))
            .collect();
        text += &line(serde_json::to_string(&wire::log_run(metrics, run)));
        text
    }

    /// Returns the line that discards a round, whose runs the log has already.
    pub fn of_discarded(discarded_round: u32) -> String {
        line(serde_json::to_string(&wire::LogDiscard { discarded_round }))
    }
}

fn line(json: serde_json::Result<String>) -> String {
    json.expect("numbers and text can be written") + "\n"
}

/// A log that is being written.
#[derive(Debug)]
pub struct SessionLog {
    path: PathBuf,
    file: BufWriter<File>,
    /// The first error, after which nothing more is written.
    failed: Option<std::io::Error>,
}

impl SessionLog {
    /// Starts a log with its first lines, those of a session that started at `started_at` (seconds of Unix time).
    ///
    /// It lies beside the file that the session will be saved to, or in becalm's state folder.
    pub fn start(first: &str, started_at: f64, export: Option<&Path>) -> std::io::Result<Self> {
        let path = match export {
            Some(export) if !files::is_special(export) => files::beside(export, PARTIAL),
            _ => in_state_folder(started_at)?,
        };
        // The file may be the very log that is being resumed: it is replaced only when the new one
        // holds everything.
        let temporary = files::beside(&path, ".tmp");
        let file = files::make_file(&temporary)?;
        // Who tidies up leaves it alone while it is written. Where files cannot be locked it is young enough.
        let _ = file.try_lock();
        let mut log = Self { file: BufWriter::new(file), path, failed: None };
        log.add(first);
        let result = match log.failed.take() {
            Some(error) => Err(error),
            None => std::fs::rename(&temporary, &log.path).map(|()| log),
        };
        if result.is_err() {
            // A log without its runs is of no use to anybody.
            let _ = std::fs::remove_file(&temporary);
        }
        result
    }

    /// Adds whole lines. They are with the kernel when this returns, so that only a power cut can lose them.
    pub fn add(&mut self, lines: &str) {
        if self.failed.is_some() {
            return;
        }
        let written = self.file.write_all(lines.as_bytes()).and_then(|()| self.file.flush());
        self.failed = written.err();
    }

    /// Returns where the log is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the error that ended the log, if one did.
    pub fn error(&self) -> Option<FileError> {
        let error = self.failed.as_ref()?;
        // An error of the operating system cannot be copied.
        let source = std::io::Error::new(error.kind(), error.to_string());
        Some(FileError::Write { path: self.path.clone(), source })
    }

    /// Removes the log, once everything in it is saved elsewhere.
    pub fn remove(self) {
        // A log that stays is no harm.
        let _ = std::fs::remove_file(&self.path);
    }
}

/// Renames the log beside `export` of a session that was killed before it could save its runs,
/// unless that is being resumed; returns its new name.
pub fn set_aside(
    export: Option<&Path>,
    resumed: Option<&Path>,
) -> std::io::Result<Option<PathBuf>> {
    let Some(export) = export.filter(|export| !files::is_special(export)) else { return Ok(None) };
    let log = files::beside(export, PARTIAL);
    if !log.exists() {
        return Ok(None);
    }
    let is_resumed = resumed.is_some_and(|resumed| {
        resumed
            .canonicalize()
            .is_ok_and(|resumed| log.canonicalize().is_ok_and(|log| log == resumed))
    });
    let has_runs = || BufReader::new(File::open(&log)?).lines().nth(1).transpose();
    if is_resumed || has_runs()?.is_none() || is_saved(&log, export) {
        return Ok(None);
    }
    let numbered = |number: u32| files::beside(export, &format!("{PARTIAL}.{number}"));
    let mut number = 1;
    while numbered(number).exists() {
        number += 1;
    }
    let aside = numbered(number);
    std::fs::rename(&log, &aside)?;
    Ok(Some(aside))
}

/// Says whether a file has everything useful in a log: a session that is not killed saves its
/// record after the last run, unless nothing was measured.
fn is_saved(log: &Path, file: &Path) -> bool {
    let read = |path: &Path| {
        let text = std::fs::read_to_string(path).ok()?;
        own_record(&text).ok().map(|(record, _)| record)
    };
    let Some(mut log) = read(log) else { return false };
    // A record has whole rounds only.
    drop_unfinished_round(&mut log);
    log.runs.iter().all(|run| run.warmup)
        || read(file)
            .is_some_and(|file| is_same_session(&log, &file) && log.runs.len() <= file.runs.len())
}

fn in_state_folder(started_at: f64) -> std::io::Result<PathBuf> {
    let folder = state_folder().ok_or_else(|| {
        std::io::Error::new(std::io::ErrorKind::NotFound, "neither XDG_STATE_HOME nor HOME is set")
    })?;
    files::make_folder(&folder)?;
    forget_old(&folder)?;
    let name = format!("{started_at:.0}-{}.{OF_LOG}", std::process::id());
    Ok(folder.join(name))
}

/// Returns where the record of the last session of this user is kept, if there is a place for it.
pub fn last_session() -> Option<PathBuf> {
    state_folder().map(|folder| folder.with_file_name("last.json"))
}

/// Returns the record of the longest log in becalm's state folder of the session that a record is of.
pub fn longest_log(of: &Record) -> Option<Record> {
    let logs = logs_of(of, &state_folder()?, |_| true);
    logs.max_by_key(|record| record.runs.len())
}

/// Says whether another becalm writes to a log in becalm's state folder of the session that a record is of: it has not
/// noticed yet that its connection was lost.
pub fn is_being_written(of: &Record) -> bool {
    state_folder().is_some_and(|folder| logs_of(of, &folder, is_written).next().is_some())
}

/// Returns the records of those logs in a folder that are of the same session as a record.
fn logs_of<'a>(
    of: &'a Record,
    folder: &Path,
    is_wanted: fn(&Path) -> bool,
) -> impl Iterator<Item = Record> + 'a {
    let paths = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    paths
        .filter(|path| path.extension().is_some_and(|extension| extension == OF_LOG))
        .filter(move |path| is_wanted(path))
        .filter_map(|path| own_record(&std::fs::read_to_string(path).ok()?).ok())
        .map(|(record, _)| record)
        .filter(|record| is_same_session(record, of))
}

/// Says whether a becalm writes to a log.
fn is_written(log: &Path) -> bool {
    File::open(log).is_ok_and(|file| matches!(file.try_lock(), Err(TryLockError::WouldBlock)))
}

/// Says whether two records are of one session.
fn is_same_session(one: &Record, other: &Record) -> bool {
    let session = |record: &Record| (record.started_at.to_bits(), record.seed);
    session(one) == session(other)
}

fn state_folder() -> Option<PathBuf> {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    let state = set("XDG_STATE_HOME")
        .map(PathBuf::from)
        .or_else(|| set("HOME").map(|home| PathBuf::from(home).join(".local/state")))?;
    Some(state.join("becalm/sessions"))
}

/// Removes all logs but those that were written to last, and those of sessions that are still
/// running.
fn forget_old(folder: &Path) -> std::io::Result<()> {
    // Not by name: a session that goes on keeps the time at which it began.
    let mut logs: Vec<(SystemTime, PathBuf)> = std::fs::read_dir(folder)?
        .flatten()
        .filter(|entry| entry.path().extension().is_some_and(|extension| extension == OF_LOG))
        .filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path())))
        .collect();
    logs.sort();
    for (_, old) in logs.iter().rev().skip(KEPT - 1) {
        if is_written(old) {
            continue;
        }
        match std::fs::remove_file(old) {
            // Another becalm that starts now may have been faster.
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_logs_are_kept_and_other_files_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        for number in 0..KEPT + 5 {
            std::fs::write(folder.path().join(format!("{}.{OF_LOG}", 1000 + number)), "").unwrap();
        }
        std::fs::write(folder.path().join("0.txt"), "").unwrap();
        forget_old(folder.path()).unwrap();
        assert!(folder.path().join("1024.jsonl").exists());
        assert!(!folder.path().join("1005.jsonl").exists());
        // The log that is about to be made is the last of them.
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), KEPT - 1 + 1);
        // A session that takes long may write to the oldest.
        let oldest = folder.path().join(format!("{}.{OF_LOG}", 1006));
        let written = File::open(&oldest).unwrap();
        written.try_lock().unwrap();
        for number in 0..KEPT {
            std::fs::write(folder.path().join(format!("{}.{OF_LOG}", 2000 + number)), "").unwrap();
        }
        forget_old(folder.path()).unwrap();
        assert!(oldest.exists());
        assert!(!folder.path().join("1007.jsonl").exists());
        drop(written);
        forget_old(folder.path()).unwrap();
        assert!(!oldest.exists());
        assert!(folder.path().join("0.txt").exists());
    }
}
