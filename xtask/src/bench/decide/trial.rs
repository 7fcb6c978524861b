//! One trial: every tool compares the same two programs.

use std::process::{Command, Output};
use std::time::Instant;

use anyhow::{Context, Result, bail};
use becalm_calibrate::decisions::{Call, Case, RULES};
use becalm_stats::center::mean;
use becalm_stats::{Rng, Sample};
use serde_json::Value;

use super::super::stage::{Stage, Who};

/// What one reading of one tool says.
pub(in crate::bench) struct Answer {
    /// Tool and how its result is read.
    pub(in crate::bench) rule: String,
    pub(in crate::bench) call: Call,
    /// The tool's own word, or `error`.
    pub(in crate::bench) verdict: String,
    pub(in crate::bench) metric: String,
    pub(in crate::bench) estimate: Option<f64>,
    pub(in crate::bench) low: Option<f64>,
    pub(in crate::bench) high: Option<f64>,
    pub(in crate::bench) rounds: u64,
    /// Rounds that were made again.
    pub(in crate::bench) discarded: u64,
    pub(in crate::bench) seconds: f64,
}

/// A way to ask.
#[derive(Debug, Clone, Copy)]
enum Asked {
    /// Becalm with as many executions as hyperfine, asked for any difference.
    Rounds(Who),
    /// The same of the becalm of `--against`.
    Other(Who),
    /// The same, with the pace of the core left alone.
    Unpaced(Who),
    /// Becalm with its own margin and stop rule, for the time to a decision.
    UntilDecided(Who),
    /// Hyperfine, read in several ways.
    Hyperfine,
}

/// Arguments for 34 executions: a warm-up round and 16 more of two programs.
const FIXED: [&str; 4] = ["--margin", "0", "--rounds", "16"];

/// The same without samples of the pace.
const UNPACED: [&str; 6] = ["--margin", "0", "--rounds", "16", "--pace", "off"];

/// Arguments for the time to a decision.
const SEQUENTIAL: [&str; 2] = ["--max-time", "2s"];

/// Asks every tool, in random order.
pub(super) fn ask_all(stage: &Stage, case: Case, rng: &mut Rng) -> Result<Vec<Answer>> {
    let mut order: Vec<Asked> = Who::all()
        .iter()
        .flat_map(|&who| {
            [Asked::Rounds(who), Asked::Other(who), Asked::Unpaced(who), Asked::UntilDecided(who)]
        })
        .chain([Asked::Hyperfine])
        .filter(|asked| stage.has_other_becalm() || !matches!(asked, Asked::Other(_)))
        .collect();
    let tables = order.clone();
    // The time to a decision takes longest and varies least: one trial in four is enough for it.
    let until_decided = rng.below(4) == 0;
    order.retain(|asked| until_decided || !matches!(asked, Asked::UntilDecided(_)));
    rng.shuffle(&mut order);
    let programs = programs(stage, case);
    let candidate_first = rng.coin();
    let mut answers = Vec::new();
    for asked in order {
        let rule = asked.rule();
        let mut ask = |command, arguments: &[&str]| {
            answers.push(ask_becalm(command, &programs, arguments, rule.clone()));
        };
        match asked {
            Asked::Rounds(who) => ask(stage.becalm(who), &FIXED),
            Asked::Other(who) => ask(stage.other_becalm(who), &FIXED),
            Asked::Unpaced(who) => ask(stage.becalm(who), &UNPACED),
            Asked::UntilDecided(who) => ask(stage.becalm(who), &SEQUENTIAL),
            Asked::Hyperfine => {
                answers.extend(ask_hyperfine(stage, &programs, candidate_first)?);
            }
        }
    }
    // Rows in the order of the tables, whichever came first this time; hyperfine's are read by several rules.
    answers.sort_by_key(|answer| {
        tables.iter().position(|asked| asked.rule() == answer.rule).unwrap_or(tables.len())
    });
    Ok(answers)
}

impl Asked {
    /// Returns the name in tables.
    fn rule(self) -> String {
        match self {
            Self::Rounds(who) => format!("becalm, {}", who.name()),
            Self::Other(who) => format!("the other becalm, {}", who.name()),
            Self::Unpaced(who) => format!("becalm, {}, --pace off", who.name()),
            Self::UntilDecided(who) => format!("becalm, {}, own stop", who.name()),
            Self::Hyperfine => "hyperfine".to_owned(),
        }
    }
}

/// Returns the command lines of baseline and candidate.
fn programs(stage: &Stage, case: Case) -> [String; 2] {
    let program = stage.path("program/becalm");
    let line =
        |amount: u64| format!("{} workload {} --amount {amount}", program.display(), case.workload);
    [line(case.amount), line(case.amount * u64::from(case.ratio) / 1000)]
}

/// Lets becalm compare two programs.
pub(in crate::bench) fn ask_becalm(
    mut command: Command,
    programs: &[String; 2],
    arguments: &[&str],
    rule: String,
) -> Answer {
    command.arg("compare").args(programs).args(arguments).args(["--json", "--quiet"]);
    let (output, seconds) = timed(&mut command);
    let mut answer = Answer {
        rule,
        call: Call::Neither,
        verdict: "error".to_owned(),
        metric: String::new(),
        estimate: None,
        low: None,
        high: None,
        rounds: 0,
        discarded: 0,
        seconds,
    };
    // One failure must not end a session of hours; it is counted among the verdicts.
    if let Err(error) = output.and_then(|output| read_becalm(&output, &mut answer)) {
        println!("{}: {error:#}", answer.rule);
    }
    answer
}

/// Reads the primary comparison of becalm's record.
fn read_becalm(output: &Output, answer: &mut Answer) -> Result<()> {
    if !matches!(output.status.code(), Some(0 | 3)) {
        bail!("{}: {}", output.status, String::from_utf8_lossy(&output.stderr).trim());
    }
    let record: Value = serde_json::from_slice(&output.stdout).context("no JSON")?;
    let comparisons = record["comparisons"].as_array().context("no comparisons")?;
    let primary = comparisons.iter().find(|comparison| comparison["primary"] == true);
    let primary = primary.context("no primary comparison")?;
    let text = |name: &str| primary[name].as_str().unwrap_or_default().to_owned();
    answer.verdict = text("verdict");
    answer.metric = text("metric");
    answer.estimate = primary["ratio"].as_f64();
    answer.low = primary["ratio_low"].as_f64();
    answer.high = primary["ratio_high"].as_f64();
    answer.rounds = primary["rounds"].as_u64().unwrap_or(0);
    answer.discarded = discarded(&record);
    answer.call = if record["margin"] == 0.0 {
        let (low, high) = (answer.low.unwrap_or(0.0), answer.high.unwrap_or(f64::INFINITY));
        Call::of_interval(low, high, 1.0)
    } else {
        // With a margin, `equivalent` may exclude 1 and is no call.
        Call::from_word(&answer.verdict)
    };
    Ok(())
}

/// Counts the rounds that were discarded.
fn discarded(record: &Value) -> u64 {
    let runs = |subject: &Value| subject["runs"].as_array().cloned().unwrap_or_default();
    let first = record["subjects"].as_array().and_then(|subjects| subjects.first());
    first
        .map_or(0, |first| runs(first).iter().filter(|run| run["discarded"] == true).count() as u64)
}

fn ask_hyperfine(
    stage: &Stage,
    programs: &[String; 2],
    candidate_first: bool,
) -> Result<Vec<Answer>> {
    let export = stage.path("home/hyperfine.json");
    let mut command = stage.hyperfine(Who::User);
    command.args(["-N", "--warmup", "2", "--runs", "15", "--style", "none", "--export-json"]);
    command.arg(&export);
    let [baseline, candidate] = programs;
    command.args(if candidate_first { [candidate, baseline] } else { [baseline, candidate] });
    let (output, seconds) = timed(&mut command);
    let output = output?;
    if !output.status.success() {
        bail!("hyperfine: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    let text = std::fs::read_to_string(&export).context("hyperfine exported nothing")?;
    let [first, second] = read_hyperfine(&text)?;
    let (baseline, candidate) = if candidate_first { (second, first) } else { (first, second) };
    let estimate = mean(&candidate) / mean(&baseline);
    let answers = RULES.iter().map(|(name, rule)| {
        let call = rule(&baseline, &candidate);
        Answer {
            rule: (*name).to_owned(),
            call,
            verdict: call.word().to_owned(),
            metric: "wall_time".to_owned(),
            estimate: Some(estimate),
            low: None,
            high: None,
            rounds: baseline.len() as u64,
            discarded: 0,
            seconds,
        }
    });
    Ok(answers.collect())
}

/// Reads the times of both commands from what hyperfine exports.
fn read_hyperfine(text: &str) -> Result<[Sample; 2]> {
    let export: Value = serde_json::from_str(text).context("hyperfine exported no JSON")?;
    let times = |index: usize| {
        let times = export["results"][index]["times"].as_array().context("no times")?;
        let values = times.iter().filter_map(Value::as_f64).collect();
        Sample::new(values).context("times of hyperfine")
    };
    Ok([times(0)?, times(1)?])
}

fn timed(command: &mut Command) -> (Result<Output>, f64) {
    let start = Instant::now();
    let output = command
        .output()
        .with_context(|| format!("cannot start {}", command.get_program().to_string_lossy()));
    (output, start.elapsed().as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::process::ExitStatusExt;
    use std::process::ExitStatus;

    fn read(json: &str) -> Answer {
        let mut answer = Answer {
            rule: "becalm".to_owned(),
            call: Call::Neither,
            verdict: "error".to_owned(),
            metric: String::new(),
            estimate: None,
            low: None,
            high: None,
            rounds: 0,
            discarded: 0,
            seconds: 0.0,
        };
        let output =
            Output { status: ExitStatus::from_raw(0), stdout: json.into(), stderr: Vec::new() };
        read_becalm(&output, &mut answer).unwrap();
        answer
    }

    #[test]
    fn the_primary_comparison_is_read_and_an_interval_beyond_one_is_a_call() {
        let json = |margin: f64| {
            format!(
                r#"{{"margin": {margin}, "comparisons": [
                {{"metric": "wall_time", "verdict": "faster", "ratio_low": 0.1, "ratio_high": 0.2}},
                {{"primary": true, "metric": "cpu_time", "verdict": "equivalent", "rounds": 16,
                  "ratio": 1.005, "ratio_low": 1.002, "ratio_high": 1.008}}]}}"#
            )
        };
        let answer = read(&json(0.0));
        assert_eq!((answer.metric.as_str(), answer.rounds), ("cpu_time", 16));
        assert_eq!(answer.call, Call::Slower);
        assert_eq!(read(&json(0.01)).call, Call::Neither);
    }

    #[test]
    fn an_unbounded_interval_is_no_call() {
        let json = r#"{"margin": 0.0, "comparisons": [{"primary": true, "verdict": "inconclusive",
            "ratio": null, "ratio_low": null, "ratio_high": null}]}"#;
        assert_eq!(read(json).call, Call::Neither);
    }

    #[test]
    fn times_of_hyperfine_are_read_per_command() {
        let [a, b] =
            read_hyperfine(r#"{"results": [{"times": [1, 2]}, {"times": [3.5]}]}"#).unwrap();
        assert_eq!((a.values(), b.values()), ([1.0, 2.0].as_slice(), [3.5].as_slice()));
        assert!(read_hyperfine("{}").is_err());
    }
}
