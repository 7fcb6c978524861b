//! `--metric` and `--metric-json`: what to record beside the usual, and what decides.

use becalm_model::terms::{Counters, Primary};
use becalm_model::with_causes;
use becalm_runner::{Extractor, MetricSpecError};

use super::flags::{BackendFlag, CountersFlag, MeasureFlags};
use crate::error::CommandError;

/// What the metric flags ask for.
#[derive(Debug)]
pub(crate) struct Wanted {
    /// Metrics read from the output.
    pub(crate) extractors: Vec<Extractor>,
    /// Which metrics decide.
    pub(crate) primary: Primary,
}

/// Reads the metric flags. Metrics that the user defines decide, unless metrics are also named.
pub(crate) fn wanted(flags: &MeasureFlags) -> Result<Wanted, CommandError> {
    let refused = |error: MetricSpecError| CommandError::usage(with_causes(&error));
    let mut extractors: Vec<Extractor> = Vec::new();
    let mut names = Vec::new();
    let mut automatic = false;
    for text in &flags.metric {
        if text == "auto" {
            automatic = true;
        } else if text.contains('=') {
            extractors.push(Extractor::from_regex(text).map_err(refused)?);
        } else if !names.contains(text) {
            names.push(text.clone());
        }
    }
    for text in &flags.metric_json {
        extractors.push(Extractor::from_json_pointer(text).map_err(refused)?);
    }
    for (index, extractor) in extractors.iter().enumerate() {
        let name = &extractor.metric().name;
        if becalm_model::metric::is_builtin(name) {
            return Err(CommandError::usage(format!(
                "the metric `{name}` is recorded anyway; choose another name for what is printed"
            )));
        }
        if extractors[..index].iter().any(|other| other.metric().name == *name) {
            return Err(CommandError::usage(format!("the metric `{name}` is defined twice")));
        }
    }
    let is_read =
        !extractors.is_empty() || flags.iterations.is_some() || flags.expect_output.is_some();
    match flags.output.as_str() {
        "inherit" if flags.exports.json && !is_read => {
            return Err(CommandError::usage(
                "--output inherit would mix what the subjects print with the JSON on standard \
                 output",
            ));
        }
        // With `inherit`, what they say on standard error is still shown.
        "null" | "inherit" => {}
        file if is_read => {
            return Err(CommandError::usage(format!(
                "--output {file} cannot be had together with --metric, --metric-json, --iterations \
                 or --expect-output, which read the output"
            )));
        }
        _ => {}
    }
    if flags.harness.is_some() {
        return of_harness(flags, extractors, names);
    }
    let timed = names.iter().find(|name| {
        becalm_model::metric::ALWAYS.contains(&name.as_str())
            && flags.backend == BackendFlag::Callgrind
    });
    if let Some(name) = timed {
        return Err(simulated(name));
    }
    if flags.backend == BackendFlag::Callgrind && names.is_empty() && extractors.is_empty() {
        names.push(becalm_model::metric::INSTRUCTIONS.to_owned());
    }
    let primary = if automatic && names.is_empty() {
        Primary::Auto
    } else if !names.is_empty() {
        Primary::Named(names)
    } else if extractors.is_empty() {
        Primary::Auto
    } else {
        Primary::Named(extractors.iter().map(|e| e.metric().name.clone()).collect())
    };
    Ok(Wanted { extractors, primary })
}

/// Refuses a metric that is the simulator's.
pub(crate) fn simulated(name: &str) -> CommandError {
    CommandError::usage(format!(
        "with --backend callgrind {name} is the simulation's and not the program's"
    ))
    .hint("instructions and simulated_... are counted")
}

/// Says whether every metric that decides is exact.
pub(crate) fn decide_exactly(flags: &MeasureFlags) -> Result<bool, CommandError> {
    let Wanted { extractors, primary } = wanted(flags)?;
    let Primary::Named(names) = primary else { return Ok(false) };
    let is_exact = |name: &String| {
        let read = extractors.iter().map(Extractor::metric).find(|one| one.name == *name);
        read.map_or(flags.backend == BackendFlag::Callgrind, |metric| metric.exact)
    };
    Ok(names.iter().all(is_exact))
}

/// With a harness its benchmarks decide, by the measures that are named.
fn of_harness(
    flags: &MeasureFlags,
    extractors: Vec<Extractor>,
    measures: Vec<String>,
) -> Result<Wanted, CommandError> {
    if !extractors.is_empty() || flags.iterations.is_some() || flags.expect_output.is_some() {
        return Err(CommandError::usage(
            "--harness reads what the benchmarks give, so --metric NAME=..., --metric-json, --iterations and \
             --expect-output have nothing to read",
        ));
    }
    if flags.output != "null" {
        return Err(CommandError::usage("--output cannot be had together with --harness")
            .hint("run the program by itself to see what it prints"));
    }
    Ok(Wanted { extractors, primary: Primary::Benchmarks(measures) })
}

/// Refuses a deciding metric that no run records.
pub(crate) fn check_recorded(
    primary: &Primary,
    recorded: &[becalm_model::Metric],
) -> Result<(), CommandError> {
    let Primary::Named(names) = primary else { return Ok(()) };
    for name in names {
        if !recorded.iter().any(|metric| metric.name == *name) {
            let known: Vec<&str> = recorded.iter().map(|metric| metric.name.as_str()).collect();
            return Err(CommandError::usage(format!("no metric `{name}` is recorded here")).hint(
                format!("recorded are {}; NAME=REGEX reads one from the output", known.join(", ")),
            ));
        }
    }
    Ok(())
}

/// Returns which counters to open.
pub(crate) fn counters(flag: CountersFlag) -> Counters {
    match flag {
        CountersFlag::All => Counters::All,
        CountersFlag::Software => Counters::Software,
        CountersFlag::None => Counters::None,
    }
}
