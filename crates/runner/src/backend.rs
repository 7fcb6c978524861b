//! Counting by simulation: the subject runs inside valgrind's callgrind, which counts every instruction.
//!
//! The count is that of the instructions that the program itself executes in user mode, of all its threads
//! and of the processes that it starts. The same program with the same input gives the same count, on a
//! noisy machine too, unless it draws random numbers, asks for the time or has threads that race. What
//! it does not see: the kernel, waiting, and all that makes an instruction slow. Figures of caches and
//! branches are of a model with two levels and a simple predictor, not of this processor
//! (<https://valgrind.org/docs/manual/cl-manual.html>).

use std::io;
use std::path::Path;

use becalm_model::{Metric, Unit, metric};

use crate::harness::ResultFolder;

/// Why a run inside callgrind gave no counts.
#[derive(Debug, thiserror::Error)]
pub enum BackendError {
    /// It left nothing that can be read.
    #[error("callgrind wrote no counts: {0}")]
    NoCounts(io::Error),
    /// A file of it has no line with totals.
    #[error("{file} of callgrind has no line `{line}`: was the subject killed?")]
    Incomplete {
        /// Name of the file.
        file: String,
        /// Which line is missing.
        line: &'static str,
    },
}

/// How instructions are counted where the processor's counters are not to be used.
#[derive(Debug)]
pub struct Callgrind {
    folder: ResultFolder,
}

/// A metric that is simulated, and the events of callgrind whose sum it is.
type Sum = (&'static str, &'static [&'static str]);

const SUMS: [Sum; 5] = [
    (metric::INSTRUCTIONS, &["Ir"]),
    ("simulated_l1_instruction_misses", &["I1mr"]),
    ("simulated_l1_data_misses", &["D1mr", "D1mw"]),
    ("simulated_last_level_misses", &["ILmr", "DLmr", "DLmw"]),
    ("simulated_branch_misses", &["Bcm", "Bim"]),
];

impl Callgrind {
    /// Takes the folder for its files.
    pub fn new(folder: ResultFolder) -> Self {
        Self { folder }
    }

    /// Returns what each run gives: counts that are exact.
    pub fn metrics() -> Vec<Metric> {
        SUMS.iter()
            .map(|(name, _)| Metric { exact: true, ..Metric::lower(name, Unit::Count) })
            .collect()
    }

    /// Returns the command that runs a subject inside callgrind.
    pub fn wrap(&self, command: &[String]) -> Vec<String> {
        let file = format!("--callgrind-out-file={}/counts.%p", self.folder.root().display());
        ["valgrind", "--quiet", "--tool=callgrind", "--trace-children=yes", "--cache-sim=yes"]
            .into_iter()
            .chain(["--branch-sim=yes", &file, "--"])
            .map(str::to_owned)
            .chain(command.iter().cloned())
            .collect()
    }

    /// Removes the counts of the run before.
    pub(crate) fn prepare(&self) -> io::Result<()> {
        self.folder.empty()
    }

    /// Reads the counts of the run that has just ended, in the order of [`Callgrind::metrics`].
    pub(crate) fn read(&self) -> Result<Vec<Option<f64>>, BackendError> {
        let mut sums = [0.0; SUMS.len()];
        let mut found = false;
        for entry in std::fs::read_dir(self.folder.root()).map_err(BackendError::NoCounts)? {
            let path = entry.map_err(BackendError::NoCounts)?.path();
            let text = read_ends(&path).map_err(BackendError::NoCounts)?;
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let totals = totals(&text, &name)?;
            for (sum, (_, events)) in sums.iter_mut().zip(&SUMS) {
                let of_sum = totals.iter().filter(|(event, _)| events.contains(&event.as_str()));
                *sum += of_sum.map(|(_, count)| count).sum::<f64>();
            }
            found = true;
        }
        if !found {
            return Err(BackendError::NoCounts(io::Error::other("it wrote no file")));
        }
        Ok(sums.into_iter().map(Some).collect())
    }
}

/// Reads a file of callgrind, which names its events at its beginning and gives the totals at its end, without
/// what stands between them.
fn read_ends(path: &Path) -> io::Result<String> {
    use std::io::{Read, Seek, SeekFrom};
    const END: u64 = 8 << 10;
    let mut file = std::fs::File::open(path)?;
    let length = file.metadata()?.len();
    let mut bytes = Vec::new();
    file.by_ref().take(END).read_to_end(&mut bytes)?;
    if length > END {
        file.seek(SeekFrom::Start(END.max(length.saturating_sub(END))))?;
        bytes.push(b'\n');
        file.take(END).read_to_end(&mut bytes)?;
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Returns the events of a file with their totals.
fn totals(text: &str, file: &str) -> Result<Vec<(String, f64)>, BackendError> {
    let line = |start: &'static str| {
        let found = text.lines().rev().find_map(|line| line.strip_prefix(start));
        found.ok_or_else(|| BackendError::Incomplete { file: file.to_owned(), line: start })
    };
    let events = line("events:")?.split_whitespace().map(str::to_owned);
    let counts = line("totals:")?.split_whitespace().map(|count| count.parse().unwrap_or(0.0));
    Ok(events.zip(counts).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn totals_belong_to_the_events_by_their_place() {
        let text = "version: 1\nevents: Ir Dr\nsummary: 9 9\nfn=a\n1 2\n\ntotals: 10 4\n";
        assert_eq!(totals(text, "x").unwrap(), [("Ir".to_owned(), 10.0), ("Dr".to_owned(), 4.0)]);
        let error = totals("events: Ir\n", "counts.7").unwrap_err();
        assert_eq!(
            error.to_string(),
            "counts.7 of callgrind has no line `totals:`: was the subject killed?"
        );
    }

    #[test]
    fn the_counts_of_all_processes_are_added() {
        let callgrind = Callgrind::new(ResultFolder::create().unwrap());
        assert!(callgrind.read().is_err(), "nothing was run");
        for (name, ir) in [("counts.1", 10), ("counts.2", 5)] {
            let middle = "0 1\n".repeat(10_000);
            let text = format!("events: Ir D1mr D1mw\n{middle}totals: {ir} 1 2\n");
            std::fs::write(callgrind.folder.root().join(name), text).unwrap();
        }
        assert_eq!(callgrind.read().unwrap(), [15.0, 0.0, 6.0, 0.0, 0.0].map(Some).to_vec());
        callgrind.prepare().unwrap();
        assert!(callgrind.read().is_err());
    }
}
