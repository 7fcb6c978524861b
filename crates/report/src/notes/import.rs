//! The sentences about files of other tools.

use becalm_model::{ImportFact, ImportNote, counted};

/// Returns the sentence of a note about imported files.
pub(super) fn sentence(note: &ImportNote) -> String {
    use ImportNote as N;
    match note {
        N::Pooled { subject, counts_as } => {
            format!("the files have one subject each: `{subject}` counts as `{counts_as}`")
        }
        N::CommandsDiffer { subject } => format!(
            "the files have one subject each: `{subject}` counts as one, although its command differs"
        ),
        N::ParametersDiffer { subject } => format!(
            "the files have one subject each: `{subject}` counts as one, although its parameters differ"
        ),
        N::QuantitiesDiffer { metric, one, another } => {
            format!(
                "{metric} is in one file [{one}] and in another [{another}]: these are kept separately"
            )
        }
        N::MetricLeftOut { metric } => format!(
            "{metric} is skipped: the first file does not have it for its processes; put a file \
             that has it first"
        ),
        N::StatisticsDiffer { metric, one, another } => {
            let [one, another] =
                [one, another].map(|one| one.as_deref().unwrap_or("single values"));
            format!("the files differ in what they contain of {metric}: {one} and {another}")
        }
        N::FactsDiffer { fact, one, another } => {
            format!("the files differ in {fact}: {one} and {another}")
        }
        N::Failed { benchmark, why } => format!("`{benchmark}` failed{}", because(why.as_deref())),
        N::NotRun { benchmark, why } => {
            format!("`{benchmark}` was not run{}", because(why.as_deref()))
        }
        N::NoResults { benchmark } => format!("`{benchmark}` has no results and is skipped"),
        N::Crashed { benchmark } => {
            format!("{benchmark} crashed at least once, and then has no times")
        }
        N::StandsIn { statistic, of_every } => {
            let some = if *of_every { "" } else { " of some benchmarks" };
            format!("the file has no single values{some}: the {statistic} takes their place")
        }
        N::FewerValues { benchmark, values, rounds } => {
            format!("`{benchmark}` has {} from {rounds} rounds", counted(*values, "value"))
        }
        N::Batches { benchmark, units } => {
            format!("the values of `{benchmark}` are times of iterations of {units} units each")
        }
        N::NotExactAfterAll { metric } => {
            format!("the file says that {metric} is exact, but its values differ")
        }
        N::ThresholdCrossed { expression, metric } => {
            format!("k6's threshold `{expression}` of {metric} was crossed")
        }
        N::CopyLeftOut { baseline } => {
            format!("`{baseline}` is skipped where it is a copy of `new`")
        }
        N::Calibrations { processes } => format!(
            "processes that only calibrated the number of loops count as warm-up: {processes}"
        ),
        N::Known { what } => known(*what).to_owned(),
    }
}

fn because(why: Option<&str>) -> String {
    why.map_or(String::new(), |why| format!(": {why}"))
}

fn known(what: ImportFact) -> &'static str {
    use ImportFact as F;
    match what {
        F::NoNumbers => "some values in the file are NaN or infinite: they are skipped",
        F::TooLarge => "values that are too large in seconds or bytes to be numbers are skipped",
        F::NoUnits => {
            "the file gives neither units nor the better direction: less is assumed to be better"
        }
        F::DirectionsGuessed => {
            "the file does not give the better direction: it is guessed from the unit (the \
             formats customSmallerIsBetter and customBiggerIsBetter give it)"
        }
        F::CountersGuessed => {
            "the file does not give the better direction of the program's own counters: more is \
             assumed to be better for rates, less for all others"
        }
        F::ProcessesUnknown => {
            "the file does not say which process each value comes from: they count as one process"
        }
        F::Debugger => "a debugger was attached",
        F::NotOptimised => "the benchmarks were built without optimisation",
        F::DebugLibrary => "the benchmark library was built for debugging",
        F::AsvSamples => "ASV merges the samples of all processes of a benchmark",
        F::AsvTracked => {
            "ASV does not give the better direction of tracked values: less is assumed to be \
             better"
        }
        F::AsvTables => "a table of parameters is cut off and was skipped",
        F::CriterionSlope => {
            "criterion prints its slope, or the mean with flat sampling: it is shown here as the \
             mean"
        }
        F::CriterionNames => "benchmarks without a benchmark.json are named after their folder",
        F::HyperfineOrder => {
            "hyperfine makes all runs of one command before those of the next, so drift of the \
             machine between them looks like a difference"
        }
        F::HyperfineMemory => {
            "hyperfine up to 1.20 reports as max_rss of a command the largest of all commands so \
             far"
        }
        F::JmhNoForks => "benchmarks with no forks ran inside JMH's own process, one after another",
        F::JmhSamples => {
            "in mode `sample`, the value of an iteration is the mean of the calls timed in it"
        }
        F::LatencyFromSending => {
            "latencies count from when each request was sent: what requests waited before that, because the server was \
             slow, is not in them"
        }
        F::LatencyFromDue => "latencies count from when each request was due",
        F::LatencyByTag => {
            "`response` counts from when each request was due, `service` from when it was sent, and `lag` lies between; \
             requests without the expected answer are not in them"
        }
        F::LatencyFilledIn => {
            "latencies count from when each request was sent, and the tool adds values that it did not measure for \
             those above its expected interval"
        }
        F::LatencyStartUnknown => {
            "the file does not say whether latencies count from when each request was sent or from when it was due"
        }
        F::K6Aggregates => {
            "k6 gives only aggregates of a whole test, and no direction: more is assumed to be \
             better for counters and rates, unless their names suggest failure"
        }
    }
}
