//! Shape of what `becalm ci --json` prints and `becalm ci --save` keeps for `becalm ci --post`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::CI_SCHEMA;
use super::version::{VersionError, check_readable};
use super::worded::{Worded, Words, worded};
use crate::ci::{
    CiCommit, CiLine, CiNoise, CiReport, CiResult, CiRule, Conclusion, Standing, is_ci_id,
};
use crate::metric::{Direction, Unit};
use crate::note::{Interruption, Note};
use crate::verdict::{RatioInterval, Verdict};

/// What a job of continuous integration found out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CiDocument {
    /// `becalm/ci/1`.
    pub schema: String,
    /// Which job.
    pub id: String,
    /// `identical`, `regressed`, `improved`, `undecided`, `unchanged` or `failed`; follows from the rest.
    pub conclusion: String,
    /// What was compared with.
    pub base: CiCommitDocument,
    /// What was measured.
    pub head: CiCommitDocument,
    /// The commit that gets the status.
    pub commit: Option<String>,
    /// Number of the pull or merge request.
    pub change: Option<u64>,
    /// Confidence asked for.
    pub confidence: f64,
    /// Smallest relative change that matters.
    pub margin: f64,
    /// By how much something may get worse, as a share.
    pub allow: f64,
    /// Whether what stays undecided fails too.
    pub strict: bool,
    /// Why nothing was measured, where it was not.
    pub message: Option<CiMessage>,
    /// Rounds that were measured.
    pub rounds: u32,
    /// What was measured, worst first.
    pub benchmarks: Vec<CiBenchmarkDocument>,
    /// The machine, in words.
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
    /// It could not.
    Failed(Worded<Interruption>),
}

/// A commit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CiCommitDocument {
    /// The full id.
    pub id: String,
    /// The first line of the message.
    pub title: String,
}

/// One metric of one benchmark.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CiBenchmarkDocument {
    /// The benchmark.
    pub name: String,
    /// The metric.
    pub metric: String,
    /// Unit of the values; empty for plain counts.
    pub unit: String,
    /// `lower` or `higher` is better.
    pub direction: String,
    /// Median of the base.
    pub base: Option<f64>,
    /// Median of the head.
    pub head: Option<f64>,
    /// Head / base; `null` where there is none.
    pub ratio: Option<f64>,
    /// Lower end of its interval.
    pub ratio_low: Option<f64>,
    /// Upper end of its interval; `null` where it has none.
    pub ratio_high: Option<f64>,
    /// `faster`, `slower`, `equivalent` or `inconclusive`.
    pub verdict: String,
    /// What that means here: `regression`, `doubtful`, `inconclusive`, `tolerated`, `improvement` or
    /// `equivalent`; follows from the rest.
    pub standing: String,
    /// The base against itself.
    pub noise: CiNoiseDocument,
    /// How many more rounds a decision would need, where that can be told.
    pub rounds_needed: Option<u64>,
}

/// The base against itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CiNoiseDocument {
    /// Ratio of the base to itself; `null` where there is none.
    pub ratio: Option<f64>,
    /// Lower end of its interval.
    pub ratio_low: Option<f64>,
    /// Upper end of its interval; `null` where it has none.
    pub ratio_high: Option<f64>,
    /// What would have been said of it.
    pub verdict: String,
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
        "the unit {0:?} is none that is posted: at most 40 letters, digits, spaces and any of /%._-^*()°"
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
    let commit = |one: &CiCommit| CiCommitDocument { id: one.id.clone(), title: one.title.clone() };
    CiDocument {
        schema: CI_SCHEMA.to_owned(),
        id: report.id.clone(),
        conclusion: report.conclusion.word().to_owned(),
        base: commit(&report.base),
        head: commit(&report.head),
        commit: report.commit.clone(),
        change: report.change,
        confidence: report.rule.confidence,
        margin: report.rule.margin,
        allow: report.rule.allow,
        strict: report.rule.strict,
        message,
        rounds,
        benchmarks: report
            .lines()
            .iter()
            .map(|line| CiBenchmarkDocument {
                name: line.name.clone(),
                metric: line.metric.clone(),
                unit: line.unit.to_string(),
                direction: direction_word(line.direction).to_owned(),
                base: line.base,
                head: line.head,
                ratio: line.ratio.map(|ratio| ratio.estimate),
                ratio_low: line.ratio.map(|ratio| ratio.low),
                ratio_high: line.ratio.map(|ratio| ratio.high).filter(|high| high.is_finite()),
                verdict: line.verdict.word().to_owned(),
                standing: line.standing.word().to_owned(),
                noise: CiNoiseDocument {
                    ratio: line.noise.ratio.map(|ratio| ratio.estimate),
                    ratio_low: line.noise.ratio.map(|ratio| ratio.low),
                    ratio_high: line
                        .noise
                        .ratio
                        .map(|ratio| ratio.high)
                        .filter(|high| high.is_finite()),
                    verdict: line.noise.verdict.word().to_owned(),
                },
                rounds_needed: line.rounds_needed,
            })
            .collect(),
        machine: report.machine.clone(),
        reproduce: report.reproduce.clone(),
        notes: worded(&report.notes, words.note),
        version: report.version.clone(),
    }
}

/// Reads a document, whose writer need not be trusted: what follows from its values is worked out anew, by `conclude`.
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
    let lines = document.benchmarks.into_iter().map(line).collect::<Result<Vec<_>, _>>()?;
    let share = |field, value: f64| {
        let good = (0.0..1.0).contains(&value);
        if good { Ok(value) } else { Err(refused(field, &value.to_string())) }
    };
    let mut result = match (document.message, document.conclusion.as_str()) {
        (Some(CiMessage::Identical(why)), "identical") => CiResult::Identical(why.value()),
        // A report of an earlier version has a sentence alone.
        (Some(CiMessage::Identical(why)), _) => CiResult::Failed(why.text().to_owned().into()),
        (Some(CiMessage::Failed(why)), _) => CiResult::Failed(why.value()),
        (None, _) => CiResult::Measured { lines, rounds: document.rounds },
    };
    let is_id =
        |id: &str| (7..=64).contains(&id.len()) && id.bytes().all(|b| b.is_ascii_hexdigit());
    let commit = |field, one: CiCommitDocument| {
        // Nothing was measured where it is empty.
        let good = one.id.is_empty() || is_id(&one.id);
        if good {
            Ok(CiCommit { id: one.id, title: one.title })
        } else {
            Err(refused(field, &one.id))
        }
    };
    if let Some(id) = document.commit.as_deref().filter(|id| !is_id(id)) {
        return Err(refused("commit", id));
    }
    if !is_ci_id(&document.id) {
        return Err(refused("id", &document.id));
    }
    if !is_version(&document.version) {
        return Err(refused("version", &document.version));
    }
    let rule = CiRule {
        confidence: share("confidence", document.confidence)?,
        margin: share("margin", document.margin)?,
        allow: share("allow", document.allow)?,
        strict: document.strict,
    };
    Ok(CiReport {
        id: document.id,
        base: commit("base", document.base)?,
        head: commit("head", document.head)?,
        commit: document.commit,
        change: document.change,
        conclusion: conclude(&mut result, &rule),
        rule,
        result,
        machine: document.machine,
        reproduce: document.reproduce,
        notes: document.notes.into_iter().map(Worded::value).collect(),
        version: document.version,
    })
}

fn line(one: CiBenchmarkDocument) -> Result<CiLine, CiReadError> {
    let verdict = |text: &str| Verdict::from_word(text).ok_or_else(|| refused("verdict", text));
    let direction = match one.direction.as_str() {
        "lower" => Direction::Lower,
        "higher" => Direction::Higher,
        other => return Err(refused("direction", other)),
    };
    let finite = |value: Option<f64>| value.filter(|value| value.is_finite());
    Ok(CiLine {
        name: one.name,
        metric: one.metric,
        unit: unit(&one.unit)?,
        direction,
        base: finite(one.base),
        head: finite(one.head),
        ratio: interval(one.ratio, one.ratio_low, one.ratio_high)?,
        verdict: verdict(&one.verdict)?,
        // Whoever reads it judges it.
        standing: Standing::Inconclusive,
        noise: CiNoise {
            ratio: interval(one.noise.ratio, one.noise.ratio_low, one.noise.ratio_high)?,
            verdict: verdict(&one.noise.verdict)?,
        },
        rounds_needed: one.rounds_needed,
    })
}

/// Reads a unit. Users name their own, so that there is no list; what could be a mention, a link or markup is none.
fn unit(text: &str) -> Result<Unit, CiReadError> {
    let fits = |c: char| c.is_alphanumeric() || " /%._-^*()°".contains(c);
    if text.chars().count() <= LONGEST_WORD && text.chars().all(fits) {
        Ok(Unit::from_name(text))
    } else {
        Err(CiReadError::Unit(shortened(text)))
    }
}

fn is_version(text: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b".+-".contains(&byte);
    (1..=LONGEST_WORD).contains(&text.len()) && text.bytes().all(fits)
}

fn interval(
    estimate: Option<f64>,
    low: Option<f64>,
    high: Option<f64>,
) -> Result<Option<RatioInterval>, CiReadError> {
    let Some(estimate) = estimate else { return Ok(None) };
    let (low, high) = (low.unwrap_or(0.0), high.unwrap_or(f64::INFINITY));
    if estimate > 0.0 && estimate.is_finite() && (0.0..=estimate).contains(&low) && high >= estimate
    {
        return Ok(Some(RatioInterval { estimate, low, high }));
    }
    Err(refused("ratio", &format!("{estimate} ({low} .. {high})")))
}

fn direction_word(direction: Direction) -> &'static str {
    match direction {
        Direction::Lower => "lower",
        Direction::Higher => "higher",
    }
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
    use crate::note::GateNote;

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
        assert!(with("/benchmarks/0/verdict", "fine".into()).starts_with("verdict is fine"));
        assert!(with("/commit", "../../user".into()).starts_with("commit is ../../user"));
        assert!(with("/allow", 7.0.into()).starts_with("allow is 7"));
        assert!(with("/version", "1 @all".into()).starts_with("version is 1 @all"));
        for unit in ["@all", "[a](//x)", "http://x", "#1", "<b>", "a\nb", &"s".repeat(41)] {
            let told = with("/benchmarks/0/unit", unit.into());
            assert!(told.contains("is none that is posted"), "{told}");
        }
    }

    #[test]
    fn units_of_every_kind_are_posted() {
        for unit in ["", "B/op", "%", "req/s", "p99-ns", "µs", "°C", "m^2", "MB/s (read)"] {
            assert_eq!(super::unit(unit).unwrap().to_string(), unit);
        }
    }
}
