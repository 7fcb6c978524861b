//! Shape of what `becalm ci --json` prints and `becalm ci --save` keeps for `becalm ci --post`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::CI_SCHEMA;
use super::version::{VersionError, check_readable};
use super::worded::{Worded, Words, worded};
use crate::ci::{CiCommit, CiLine, CiReport, CiResult, CiRule, Conclusion, is_ci_id};
use crate::note::{Interruption, Note};
use crate::verdict::RatioInterval;

/// The result of a job of continuous integration.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CiDocument {
    /// `becalm/ci/1`.
    pub schema: String,
    /// Which job.
    pub id: String,
    /// The conclusion; follows from the rest.
    pub conclusion: Conclusion,
    /// What was compared with.
    pub base: CiCommit,
    /// What was measured.
    pub head: CiCommit,
    /// The commit that gets the status.
    pub commit: Option<String>,
    /// Number of the pull or merge request.
    pub change: Option<u64>,
    /// What the gate allows.
    #[serde(flatten)]
    pub rule: CiRule,
    /// Why nothing was measured, where it was not.
    pub message: Option<CiMessage>,
    /// Rounds that were measured.
    pub rounds: u32,
    /// What was measured, worst first.
    pub benchmarks: Vec<CiLine>,
    /// The machine in a few words.
    pub machine: String,
    /// The command line that does the same elsewhere, word by word.
    pub reproduce: Vec<String>,
    /// What the reader has to know.
    pub notes: Vec<Worded<Note>>,
    /// Version of becalm that measured.
    pub version: String,
}

/// Why a job measured nothing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum CiMessage {
    /// Base and head are the same.
    Identical(Worded<Note>),
    /// The measurement failed.
    Failed(Worded<Interruption>),
}

/// Why a document could not be read.
#[derive(Debug, thiserror::Error)]
pub enum CiReadError {
    /// Not the expected JSON.
    #[error("not a document of `becalm ci`: {0}")]
    Json(#[from] serde_json::Error),
    /// Of something else, or of a newer becalm.
    #[error(transparent)]
    Version(#[from] VersionError),
    /// A value that no becalm writes.
    #[error("{field} is {value}, which no becalm writes")]
    Value {
        /// The field.
        field: &'static str,
        /// Its value, shortened.
        value: String,
    },
    /// A unit that could be more than a unit where it is shown.
    #[error(
        "the unit {0:?} cannot be posted: at most 40 letters, digits, spaces and any of \
         /%._-^*()° are allowed"
    )]
    Unit(String),
}

/// Longest unit or version that is taken from a file.
const LONGEST_WORD: usize = 40;

/// Returns the document of a report.
pub fn ci_document(report: &CiReport, words: &Words) -> CiDocument {
    let (message, rounds) = match &report.result {
        CiResult::Measured { rounds, .. } => (None, *rounds),
        CiResult::Identical(why) => (Some(CiMessage::Identical(Worded::of(why, words.note))), 0),
        CiResult::Failed(why) => (Some(CiMessage::Failed(Worded::of(why, words.interruption))), 0),
    };
    CiDocument {
        schema: CI_SCHEMA.to_owned(),
        id: report.id.clone(),
        conclusion: report.conclusion,
        base: report.base.clone(),
        head: report.head.clone(),
        commit: report.commit.clone(),
        change: report.change,
        rule: report.rule,
        message,
        rounds,
        benchmarks: report.lines().to_vec(),
        machine: report.machine.clone(),
        reproduce: report.reproduce.clone(),
        notes: worded(&report.notes, words.note),
        version: report.version.clone(),
    }
}

/// Reads a document again. `conclude` judges the lines anew by the rule, so that nobody can write a conclusion that the
/// numbers do not bear.
pub fn read_ci(
    text: &str,
    conclude: impl FnOnce(&mut CiResult, &CiRule) -> Conclusion,
) -> Result<CiReport, CiReadError> {
    #[derive(Deserialize)]
    struct Head {
        schema: String,
    }
    let head: Head = serde_json::from_str(text)?;
    check_readable(&head.schema, &[CI_SCHEMA])?;
    let document: CiDocument = serde_json::from_str(text)?;
    let CiRule { confidence, margin, allow, .. } = document.rule;
    for (field, value) in [("confidence", confidence), ("margin", margin), ("allow", allow)] {
        if !(0.0..1.0).contains(&value) {
            return Err(refused(field, &value.to_string()));
        }
    }
    let is_id =
        |id: &str| (7..=64).contains(&id.len()) && id.bytes().all(|b| b.is_ascii_hexdigit());
    for (field, id) in [("base", &document.base.id), ("head", &document.head.id)] {
        if !id.is_empty() && !is_id(id) {
            return Err(refused(field, id));
        }
    }
    if let Some(id) = document.commit.as_deref().filter(|id| !is_id(id)) {
        return Err(refused("commit", id));
    }
    if !is_ci_id(&document.id) {
        return Err(refused("id", &document.id));
    }
    if !is_version(&document.version) {
        return Err(refused("version", &document.version));
    }
    document.benchmarks.iter().try_for_each(check)?;
    let mut result = match (document.message, document.conclusion) {
        (Some(CiMessage::Identical(why)), Conclusion::Identical) => {
            CiResult::Identical(why.value())
        }
        // A report of an earlier version has a sentence alone.
        (Some(CiMessage::Identical(why)), _) => CiResult::Failed(why.text().to_owned().into()),
        (Some(CiMessage::Failed(why)), _) => CiResult::Failed(why.value()),
        (None, _) => CiResult::Measured { lines: document.benchmarks, rounds: document.rounds },
    };
    Ok(CiReport {
        conclusion: conclude(&mut result, &document.rule),
        result,
        id: document.id,
        base: document.base,
        head: document.head,
        commit: document.commit,
        change: document.change,
        rule: document.rule,
        machine: document.machine,
        reproduce: document.reproduce,
        notes: document.notes.into_iter().map(Worded::value).collect(),
        version: document.version,
    })
}

fn check(line: &CiLine) -> Result<(), CiReadError> {
    check_unit(&line.unit.to_string())?;
    [line.ratio, line.noise.ratio].into_iter().flatten().try_for_each(check_ratio)
}

fn check_unit(unit: &str) -> Result<(), CiReadError> {
    let fits = |c: char| c.is_alphanumeric() || " /%._-^*()°".contains(c);
    let good = unit.chars().count() <= LONGEST_WORD && unit.chars().all(fits);
    if good { Ok(()) } else { Err(CiReadError::Unit(shortened(unit))) }
}

fn check_ratio(RatioInterval { estimate, low, high }: RatioInterval) -> Result<(), CiReadError> {
    let good = estimate > 0.0 && (0.0..=estimate).contains(&low) && high >= estimate;
    if good { Ok(()) } else { Err(refused("ratio", &format!("{estimate} ({low} .. {high})"))) }
}

fn is_version(text: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b".+-".contains(&byte);
    (1..=LONGEST_WORD).contains(&text.len()) && text.bytes().all(fits)
}

fn refused(field: &'static str, value: &str) -> CiReadError {
    CiReadError::Value { field, value: shortened(value) }
}

fn shortened(text: &str) -> String {
    text.chars().take(60).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ci::{CiNoise, Standing};
    use crate::note::GateNote;
    use crate::{Direction, Unit, Verdict};

    fn report() -> CiReport {
        let ratio = RatioInterval { estimate: 1.05, low: 1.04, high: f64::INFINITY };
        let line = CiLine {
            name: "parse".to_owned(),
            metric: "wall_time".to_owned(),
            unit: Unit::Second,
            direction: Direction::Lower,
            base: Some(1.0),
            head: Some(1.05),
            ratio: Some(ratio),
            verdict: Verdict::Slower,
            standing: Standing::Doubtful,
            noise: CiNoise { ratio: None, verdict: Verdict::Inconclusive },
            rounds_needed: Some(4),
        };
        let commit = |id: &str| CiCommit { id: id.repeat(10), title: "a change".to_owned() };
        CiReport {
            id: "bench".to_owned(),
            base: commit("abcd"),
            head: commit("1234"),
            commit: Some("1234".repeat(10)),
            change: Some(7),
            rule: CiRule { confidence: 0.95, margin: 0.01, allow: 0.02, strict: true },
            result: CiResult::Measured { lines: vec![line], rounds: 12 },
            conclusion: Conclusion::Undecided,
            machine: "a CPU".to_owned(),
            reproduce: vec!["becalm".to_owned()],
            notes: vec![GateNote::SameFiles.into()],
            version: "0.1.0".to_owned(),
        }
    }

    /// In the place of the judge, who is not of this crate.
    fn conclude(result: &mut CiResult, _: &CiRule) -> Conclusion {
        match result {
            CiResult::Identical(_) => Conclusion::Identical,
            CiResult::Failed(_) => Conclusion::Failed,
            CiResult::Measured { lines, .. } => {
                for line in lines {
                    line.standing = Standing::Doubtful;
                }
                Conclusion::Undecided
            }
        }
    }

    #[test]
    fn a_report_survives_its_document() {
        for result in [
            report().result,
            CiResult::Identical(GateNote::SameFiles.into()),
            CiResult::Failed(Interruption::Failure { error: "no".to_owned() }),
        ] {
            let mut report = CiReport { result, ..report() };
            report.conclusion = conclude(&mut report.result, &report.rule);
            let text = serde_json::to_string(&ci_document(&report, &Words::NONE)).unwrap();
            assert_eq!(read_ci(&text, conclude).unwrap(), report);
        }
    }

    #[test]
    fn sentences_of_an_earlier_version_are_kept() {
        let mut document = serde_json::to_value(ci_document(&report(), &Words::NONE)).unwrap();
        document["notes"] = serde_json::json!(["a note"]);
        document["message"] = "why".into();
        let failed = read_ci(&document.to_string(), conclude).unwrap();
        assert_eq!(failed.notes, [Note::text("a note")]);
        assert_eq!(failed.result, CiResult::Failed("why".to_owned().into()));
        document["conclusion"] = "identical".into();
        let same = read_ci(&document.to_string(), conclude).unwrap();
        assert_eq!(same.result, CiResult::Identical(Note::text("why")));
    }

    #[test]
    fn values_that_nobody_wrote_are_refused() {
        let good = serde_json::to_value(ci_document(&report(), &Words::NONE)).unwrap();
        let with = |pointer: &str, value: serde_json::Value| {
            let mut document = good.clone();
            *document.pointer_mut(pointer).unwrap() = value;
            read_ci(&document.to_string(), conclude).map(|_| ()).unwrap_err().to_string()
        };
        assert!(with("/schema", "becalm/ci/2".into()).contains('2'));
        assert!(with("/schema", "becalm/run/1".into()).contains("becalm/run/1"));
        assert!(with("/benchmarks/0/ratio", (-1.0).into()).starts_with("ratio is -1"));
        assert!(with("/benchmarks/0/verdict", "fine".into()).contains("unknown variant `fine`"));
        assert!(with("/commit", "../../user".into()).starts_with("commit is ../../user"));
        assert!(with("/allow", 7.0.into()).starts_with("allow is 7"));
        assert!(with("/version", "1 @all".into()).starts_with("version is 1 @all"));
        for unit in ["@all", "[a](//x)", "http://x", "#1", "<b>", "a\nb", &"s".repeat(41)] {
            let told = with("/benchmarks/0/unit", unit.into());
            assert!(told.contains("cannot be posted"), "{told}");
        }
    }

    #[test]
    fn units_of_every_kind_are_posted() {
        for unit in ["", "B/op", "%", "req/s", "p99-ns", "µs", "°C", "m^2", "MB/s (read)"] {
            assert!(check_unit(unit).is_ok(), "{unit}");
        }
    }
}
