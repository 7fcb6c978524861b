//! Files that hold many commits: one record for each.

use becalm_model::history::AtCommit;

use crate::error::ImportError;
use crate::file::{File, expanded, name_of};
use crate::readers;

/// What a file of many commits holds.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct History {
    /// What was measured, in the order of the file.
    pub commits: Vec<AtCommit>,
    /// What stands in the file and was left out, as a sentence.
    pub left_out: Option<String>,
}

impl History {
    fn of(commits: Vec<AtCommit>) -> Self {
        Self { commits, left_out: None }
    }
}

/// One format that holds many commits.
struct Entry {
    /// The names of [`crate::FORMATS`], or of its own, that `--format` takes.
    name: &'static str,
    recognise: fn(&[File]) -> bool,
    read: fn(&[File]) -> Result<History, ImportError>,
}

const HISTORIES: &[Entry] = &[
    Entry {
        name: readers::github_action_benchmark::HISTORY.name,
        recognise: |files| readers::github_action_benchmark::HISTORY.is_of(files),
        read: |files| readers::github_action_benchmark::commits(files).map(History::of),
    },
    Entry {
        name: readers::asv::FOLDER.name,
        recognise: |files| readers::asv::FOLDER.is_of(files),
        read: |files| {
            let (commits, left_out) = readers::asv::commits(files)?;
            Ok(History { commits, left_out })
        },
    },
    Entry {
        name: readers::bencher_perf::NAME,
        recognise: readers::bencher_perf::is_history,
        read: |files| readers::bencher_perf::commits(files).map(History::of),
    },
    Entry {
        name: readers::pytest_benchmark::JSON.name,
        // One file is one measurement; a folder is what pytest-benchmark stored from time to time.
        recognise: |files| {
            files.len() > 1
                && files
                    .iter()
                    .all(|file| readers::pytest_benchmark::JSON.is_of(std::slice::from_ref(file)))
        },
        read: |files| {
            let of = |file: &File| {
                let record = readers::pytest_benchmark::JSON.read(std::slice::from_ref(file))?;
                let time = Some(record.started_at).filter(|time| *time > 0.0);
                let of_file = record.subjects.first().map(|one| one.parameters.iter());
                let commit = of_file.and_then(|mut all| all.find(|(name, _)| name == "commit"));
                let commit = commit.map(|(_, id)| id.clone());
                // A commit has its time from git.
                let time = time.filter(|_| commit.is_none());
                Ok(AtCommit { time, ..AtCommit::of(commit, record) })
            };
            files.iter().map(of).collect::<Result<_, _>>().map(History::of)
        },
    },
    Entry {
        name: readers::otava_csv::NAME,
        // Any CSV with times could be one.
        recognise: |files| {
            readers::otava_csv::is_history(files) && crate::recognise(files).is_none()
        },
        read: |files| {
            let (commits, left_out) = readers::otava_csv::read(files)?;
            Ok(History { commits, left_out })
        },
    },
];

/// Names of the formats that [`history`] reads.
pub fn history_formats() -> impl Iterator<Item = &'static str> {
    HISTORIES.iter().map(|entry| entry.name)
}

/// Reads files that hold many commits. `None` if these hold none, or are of a format
/// that [`crate::import`] reads; without `format` that is found out by the content.
pub fn history(files: &[File], format: Option<&str>) -> Result<Option<History>, ImportError> {
    let files = expanded(files)?;
    let entry = HISTORIES.iter().find(|entry| match format {
        // A single file of pytest-benchmark is no history.
        Some(name) => {
            entry.name == name
                && (entry.name != readers::pytest_benchmark::JSON.name || files.len() > 1)
        }
        None => (entry.recognise)(&files),
    });
    let Some(entry) = entry else { return Ok(None) };
    let mut history = (entry.read)(&files)?;
    if history.commits.is_empty() {
        return Err(ImportError::no_measurement(name_of(&files)));
    }
    for one in &mut history.commits {
        one.commit = one.commit.take().filter(|commit| !commit.is_empty());
        let measured = Some(one.record.started_at).filter(|time| *time > 0.0);
        if one.commit.is_none() {
            one.time = one.time.or(measured);
        }
        if one.commit.is_none() && one.time.is_none() {
            let why =
                "one of its measurements has neither a commit nor a time, so its place is unknown";
            return Err(ImportError::Nothing { file: name_of(&files), why: why.to_owned() });
        }
        if let Some(source) = &mut one.record.source {
            entry.name.clone_into(&mut source.format);
        }
    }
    Ok(Some(history))
}
