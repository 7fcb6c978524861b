//! Which metrics are recorded beside the usual ones, and which decide.

use becalm_model::conditions::{Backend, Cache};
use becalm_model::load::MAIN_METRIC;
use becalm_model::terms::{Primary, RunTerms, Terms};
use becalm_runner::{Extractor, MetricSpecError};

use crate::servers::{self, ServerTermsError};

/// Why metrics are invalid.
#[derive(Debug, thiserror::Error)]
pub enum MetricsError {
    /// One cannot be read.
    #[error("{}", becalm_model::with_causes(.0))]
    Spec(#[from] MetricSpecError),
    /// The name belongs to one that is always recorded.
    #[error("the metric `{0}` is always recorded; choose another name for the one to read")]
    Builtin(String),
    /// Two have the same name.
    #[error("the metric `{0}` is defined twice")]
    Twice(String),
    /// The subjects' output would be mixed into the JSON.
    #[error("--output inherit would mix the subjects' output with the JSON on standard output")]
    MixedOutput,
    /// The output goes to a file and is read as well.
    #[error(
        "--output {0} cannot be combined with --metric, --metric-json, --iterations or \
         --expect-output, which read the output"
    )]
    OutputIsRead(String),
    /// It would be the simulator's.
    #[error("with --backend callgrind, {0} is that of the simulation and not of the program")]
    Simulated(String),
    /// A harness reports by itself.
    #[error(
        "--harness reads the results of the benchmarks, so --metric NAME=..., --metric-json, \
         --iterations and --expect-output have nothing to read"
    )]
    HarnessReads,
    /// A harness needs the output.
    #[error("--output cannot be combined with --harness")]
    HarnessOutput,
    /// They are of programs that end.
    #[error(transparent)]
    Servers(#[from] ServerTermsError),
    /// No run records what is to decide.
    #[error("no metric `{name}` is recorded here")]
    NotRecorded {
        /// What is to decide.
        name: String,
        /// What is recorded.
        known: Vec<String>,
    },
}

/// What is read and what decides.
#[derive(Debug)]
pub struct Metrics {
    /// Metrics read from the output.
    pub extractors: Vec<Extractor>,
    /// Which metrics decide.
    pub primary: Primary,
}

/// Reads the metrics of some terms. Those that the user defines decide, unless metrics are also named.
pub fn metrics(terms: &Terms) -> Result<Metrics, MetricsError> {
    let runs = &terms.runs;
    let mut extractors: Vec<Extractor> = Vec::new();
    let mut names = Vec::new();
    let mut automatic = false;
    for text in &terms.metrics {
        if text == "auto" {
            automatic = true;
        } else if text.contains('=') {
            extractors.push(Extractor::from_regex(text)?);
        } else if !names.contains(text) {
            names.push(text.clone());
        }
    }
    for text in &terms.metrics_json {
        extractors.push(Extractor::from_json_pointer(text)?);
    }
    for (index, extractor) in extractors.iter().enumerate() {
        let name = &extractor.metric().name;
        if becalm_model::metric::is_builtin(name) {
            return Err(MetricsError::Builtin(name.clone()));
        }
        if extractors[..index].iter().any(|other| other.metric().name == *name) {
            return Err(MetricsError::Twice(name.clone()));
        }
    }
    let is_read =
        !extractors.is_empty() || runs.iterations.is_some() || runs.expect_output.is_some();
    match runs.output.as_str() {
        "inherit" if terms.exports.print && !is_read => return Err(MetricsError::MixedOutput),
        // With `inherit`, what they say on standard error is still shown.
        "null" | "inherit" => {}
        file if is_read => {
            return Err(MetricsError::OutputIsRead(file.to_owned()));
        }
        _ => {}
    }
    if runs.load.is_some() {
        return of_servers(runs, extractors, names);
    }
    if runs.harness.is_some() {
        return of_harness(runs, extractors, names);
    }
    let timed = names.iter().find(|name| {
        becalm_model::metric::ALWAYS.contains(&name.as_str()) && runs.backend == Backend::Callgrind
    });
    if let Some(name) = timed {
        return Err(MetricsError::Simulated(name.clone()));
    }
    if runs.backend == Backend::Callgrind && names.is_empty() && extractors.is_empty() {
        names.push(becalm_model::metric::INSTRUCTIONS.to_owned());
    }
    if names.is_empty() && !automatic {
        names.extend(extractors.iter().map(|one| one.metric().name.clone()));
    }
    let primary = if names.is_empty() { Primary::Auto } else { Primary::Named(names) };
    Ok(Metrics { extractors, primary })
}

/// Returns the metrics that are named, in place of those that are read from the output.
pub(crate) fn named(terms: &Terms) -> Vec<String> {
    let is_name = |text: &&String| !text.contains('=') && *text != "auto";
    terms.metrics.iter().filter(is_name).cloned().collect()
}

/// With a load the main metric of loads decides, unless others are named.
fn of_servers(
    runs: &RunTerms,
    extractors: Vec<Extractor>,
    mut names: Vec<String>,
) -> Result<Metrics, MetricsError> {
    let refused = [
        (!extractors.is_empty(), "--metric NAME=..."),
        (runs.iterations.is_some(), "--iterations"),
        (runs.expect_output.is_some(), "--expect-output"),
        (runs.harness.is_some(), "--harness"),
        (runs.backend == Backend::Callgrind, "--backend callgrind"),
        (runs.cache == Cache::Warm, "--cache warm"),
    ];
    if let Some((_, flag)) = refused.into_iter().find(|(is_there, _)| *is_there) {
        return Err(ServerTermsError::NotForServers(flag).into());
    }
    let line = runs.load.as_deref().and_then(|load| servers::awaited_line(load.ready.as_deref()));
    if let Some(line) = line.filter(|_| runs.output != "null") {
        return Err(ServerTermsError::UnseenLine { line, output: runs.output.clone() }.into());
    }
    if names.is_empty() {
        names.push(MAIN_METRIC.to_owned());
    }
    Ok(Metrics { extractors, primary: Primary::Named(names) })
}

/// Says whether every metric that decides is exact.
pub fn decide_exactly(terms: &Terms) -> Result<bool, MetricsError> {
    let Metrics { extractors, primary } = metrics(terms)?;
    let Primary::Named(names) = primary else { return Ok(false) };
    let is_exact = |name: &String| {
        let read = extractors.iter().map(Extractor::metric).find(|one| one.name == *name);
        read.map_or(terms.runs.backend == Backend::Callgrind, |metric| metric.exact)
    };
    Ok(names.iter().all(is_exact))
}

/// With a harness its benchmarks decide, by the measures that are named.
fn of_harness(
    runs: &RunTerms,
    extractors: Vec<Extractor>,
    measures: Vec<String>,
) -> Result<Metrics, MetricsError> {
    if !extractors.is_empty() || runs.iterations.is_some() || runs.expect_output.is_some() {
        return Err(MetricsError::HarnessReads);
    }
    if runs.output != "null" {
        return Err(MetricsError::HarnessOutput);
    }
    Ok(Metrics { extractors, primary: Primary::Benchmarks(measures) })
}

/// Refuses a deciding metric that no run records.
pub(crate) fn check_recorded(
    primary: &Primary,
    recorded: &[becalm_model::Metric],
) -> Result<(), MetricsError> {
    let Primary::Named(names) = primary else { return Ok(()) };
    for name in names {
        if !recorded.iter().any(|metric| metric.name == *name) {
            let known = recorded.iter().map(|metric| metric.name.clone()).collect();
            return Err(MetricsError::NotRecorded { name: name.clone(), known });
        }
    }
    Ok(())
}
