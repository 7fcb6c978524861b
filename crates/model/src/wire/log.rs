//! The log that grows while a session runs: one JSON object a line, so that every finished run is
//! on disk whatever happens next. A cut-off last line is normal after a crash and is left out.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::LOG_SCHEMA;
use super::checked::RunCheck;
use super::document::{Document, RunDocument};
use super::read::{Names, record, run};
use super::read_error::ReadError;
use super::version::{VersionError, check_readable};
use crate::{Metric, Record, Run};

/// First line: the record as far as it is known before the first run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LogHeader {
    /// `becalm/log/4`.
    pub log: String,
    /// The record without runs and conclusions.
    pub document: Document,
}

/// A further line: one run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LogRun {
    /// Index of the subject in the header's document.
    pub subject: usize,
    /// The run.
    pub run: RunDocument,
}

/// A further line, since version 2: a round before it was disturbed and is made again. It stands for
/// itself, because it is decided when the runs of the round are in the log already.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LogDiscard {
    /// The number of the round, which is none of the warm-up.
    pub discarded_round: u32,
}

/// A further line, since version 3: a metric that the runs after it have, because a harness has shown a
/// benchmark that was not known before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LogMetric {
    /// The metric.
    pub metric: Metric,
}

/// How a line with a metric begins.
const METRIC: &str = "{\"metric\"";

/// How a line with a discarded round begins.
const DISCARD: &str = "{\"discarded_round\"";

/// Why a log cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum LogError {
    /// The first line is not a header.
    #[error("line 1 is not the header of a becalm log: {0}")]
    Header(serde_json::Error),
    /// The header is of another version.
    #[error(transparent)]
    Version(#[from] VersionError),
    /// The header or a run cannot be part of a document.
    #[error("{0}")]
    Document(#[from] ReadError),
    /// A line in the middle is damaged.
    #[error("line {line} is not a run: {source}")]
    Line {
        /// Line number, from 1.
        line: usize,
        /// What is wrong with it.
        source: serde_json::Error,
    },
    /// A run of a subject that the header does not have.
    #[error("line {line} refers to subject {subject}, but there are only {subjects}")]
    Subject {
        /// Line number, from 1.
        line: usize,
        /// Subject index found.
        subject: usize,
        /// Number of subjects in the header.
        subjects: usize,
    },
}

#[derive(Deserialize)]
struct OnlyLog {
    log: String,
}

/// Reads a log into a record without conclusions.
pub fn read_log(text: &str) -> Result<Record, LogError> {
    let mut lines = text.split_inclusive('\n').enumerate();
    let first = lines.next().map_or("", |(_, line)| line);
    // The version is checked first: a newer log may not have this shape at all.
    let OnlyLog { log } = serde_json::from_str(first).map_err(LogError::Header)?;
    check_readable(&log, &[LOG_SCHEMA])?;
    let header: LogHeader = serde_json::from_str(first).map_err(LogError::Header)?;
    let mut whole = record(header.document)?;
    let mut names = Names::of(&whole.metrics);
    let mut check = RunCheck::of(whole.kind);
    for (index, line) in lines {
        let number = index + 1;
        if line.starts_with(DISCARD) {
            let Some(LogDiscard { discarded_round }) = parse(number, line)? else { break };
            let of_round = |run: &&mut Run| !run.warmup && run.round == discarded_round;
            whole.runs.iter_mut().filter(of_round).for_each(|run| run.discarded = true);
            continue;
        }
        if line.starts_with(METRIC) {
            let Some(LogMetric { metric: found }) = parse(number, line)? else { break };
            names.add(&found.name);
            whole.metrics.push(found);
            continue;
        }
        let Some(parsed) = parse::<LogRun>(number, line)? else { break };
        if parsed.subject >= whole.subjects.len() {
            return Err(LogError::Subject {
                line: number,
                subject: parsed.subject,
                subjects: whole.subjects.len(),
            });
        }
        check.check(parsed.subject, &whole.subjects[parsed.subject].name, &parsed.run)?;
        whole.runs.push(run(&names, parsed.subject, parsed.run));
    }
    Ok(whole)
}

/// Reads a line; `None` for a last one that was cut off.
fn parse<'a, T: Deserialize<'a>>(number: usize, line: &'a str) -> Result<Option<T>, LogError> {
    match serde_json::from_str(line) {
        Ok(parsed) => Ok(Some(parsed)),
        // Only the last line can be cut off, and then it has no line end.
        Err(_) if !line.ends_with('\n') => Ok(None),
        Err(source) => Err(LogError::Line { line: number, source }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = r#"{"log":"becalm/log/1","document":{"schema":"becalm/run/1","confidence":0.95,"metrics":[{"name":"wall_time","unit":"s"}],"subjects":[{"name":"A","command":["./a"],"runs":[]}]}}"#;
    const RUN: &str = r#"{"subject":0,"run":{"round":0,"wall_time":0.5}}"#;

    #[test]
    fn a_log_with_a_cut_off_last_line_reads_up_to_it() {
        let second = RUN.replace(r#""round":0"#, r#""round":1"#);
        let record = read_log(&format!("{HEADER}\n{RUN}\n{second}\n{{\"subject\":0,\"ru")).unwrap();
        assert_eq!(record.values(0, 0), [0.5, 0.5]);
    }

    #[test]
    fn a_discarded_round_is_marked_where_its_runs_stand() {
        let run = |round: u32| RUN.replace(r#""round":0"#, &format!(r#""round":{round}"#));
        let warmup = RUN.replace(r#""round":0"#, r#""round":0,"warmup":true"#);
        let discard = serde_json::to_string(&LogDiscard { discarded_round: 0 }).unwrap();
        assert!(discard.starts_with(DISCARD));
        let header = HEADER.replace("log/1", "log/2");
        let text = format!("{header}\n{warmup}\n{}\n{discard}\n{}\n", run(0), run(1));
        let record = read_log(&text).unwrap();
        let discarded: Vec<bool> = record.runs.iter().map(|run| run.discarded).collect();
        assert_eq!(discarded, [false, true, false]);
        assert_eq!((record.rounds(), record.discarded_rounds()), (1, 1));
        let cut = format!("{header}\n{}\n{}", run(0), &discard[..20]);
        assert_eq!(read_log(&cut).unwrap().discarded_rounds(), 0);
    }

    #[test]
    fn damage_in_the_middle_names_its_line() {
        let error = read_log(&format!("{HEADER}\nrubbish\n{RUN}\n")).unwrap_err();
        assert!(error.to_string().starts_with("line 2 is not a run"), "{error}");
        let error = read_log(&format!("{HEADER}\n{}\n", RUN.replace(":0,", ":3,"))).unwrap_err();
        assert_eq!(error.to_string(), "line 2 refers to subject 3, but there are only 1");
        let error = read_log(&format!("{HEADER}\n{RUN}\n{RUN}\n")).unwrap_err();
        assert!(error.to_string().starts_with("`A` has two runs of round 0"), "{error}");
    }

    #[test]
    fn a_newer_log_is_refused_with_its_number() {
        let error = read_log(r#"{"log":"becalm/log/9","shape":"new"}"#).unwrap_err();
        assert!(error.to_string().contains("log version 9 was written by a newer"), "{error}");
    }

    #[test]
    fn something_else_is_not_a_log() {
        assert!(matches!(read_log(""), Err(LogError::Header(_))));
        assert!(matches!(read_log("{}"), Err(LogError::Header(_))));
    }
}
