//! What is said of files of other tools.

use becalm_model::{ImportFact, ImportNote};

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
                "{metric} is in one file [{one}] and in another [{another}]: these are kept apart"
            )
        }
        N::MetricLeftOut { metric } => format!(
            "{metric} is left out: the first file does not have it of its processes; name one first that has it"
        ),
        N::StatisticsDiffer { metric, one, another } => {
            let [one, another] =
                [one, another].map(|one| one.as_deref().unwrap_or("single values"));
            format!("the files differ in what they have of {metric}: {one} and {another}")
        }
        N::FactsDiffer { fact, one, another } => {
            format!("the files differ in {fact}: {one} and {another}")
        }
        N::Failed { benchmark, why } => format!("`{benchmark}` failed{}", because(why.as_deref())),
        N::NotRun { benchmark, why } => {
            format!("`{benchmark}` was not run{}", because(why.as_deref()))
        }
        N::NoResults { benchmark } => format!("`{benchmark}` has no results and is left out"),
        N::Crashed { benchmark } => {
            format!("{benchmark} crashed at least once: it has no times then")
        }
        N::StandsIn { statistic, of_every } => {
            let some = if *of_every { "" } else { " of some benchmarks" };
            format!("the file has no single values{some}: what stands for them is the {statistic}")
        }
        N::FewerValues { benchmark, values, rounds } => {
            format!("`{benchmark}` has {values} values of {rounds} rounds")
        }
        N::Batches { benchmark, units } => {
            format!("the values of `{benchmark}` are of iterations of {units} units each")
        }
        N::NotExactAfterAll { metric } => {
            format!("the file says that {metric} is exact, but its values differ")
        }
        N::ThresholdCrossed { expression, metric } => {
            format!("k6's threshold `{expression}` of {metric} was crossed")
        }
        N::CopyLeftOut { baseline } => {
            format!("`{baseline}` is left out where it is a copy of `new`")
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
        F::NoNumbers => "some values in the file are NaN or infinite: they are left out",
        F::TooLarge => "values too large to be numbers in seconds or bytes are left out",
        F::NoUnits => "the file tells neither units nor which way is better: less is taken",
        F::DirectionsGuessed => {
            "the file does not tell which way is better: it is guessed by the unit (customSmallerIsBetter and \
             customBiggerIsBetter are formats that tell)"
        }
        F::CountersGuessed => {
            "the file does not tell which way the program's own counters get better: more is taken as better of \
             those that are rates, less of all others"
        }
        F::ProcessesUnknown => {
            "the file does not tell which values are of which process: they count as one process"
        }
        F::Debugger => "a debugger was attached",
        F::NotOptimised => "the benchmarks were built without optimisation",
        F::DebugLibrary => "the benchmark library was built for debugging",
        F::AsvSamples => "ASV puts the samples of all processes of a benchmark together",
        F::AsvTracked => "ASV does not tell which way tracked values get better: less is taken",
        F::AsvTables => "a table of parameters is cut off and was skipped",
        F::CriterionSlope => {
            "criterion prints its slope, or the mean with flat sampling: it stands here as the mean"
        }
        F::CriterionNames => {
            "where benchmark.json is missing, the folder's name is the benchmark's"
        }
        F::HyperfineOrder => {
            "hyperfine makes all runs of one command before those of the next, so drift of the machine between \
             them cannot be told from a difference"
        }
        F::HyperfineMemory => {
            "hyperfine up to 1.20 gives as max_rss of a command the largest of all commands so far"
        }
        F::JmhNoForks => "benchmarks with no forks ran inside JMH's own process, one after another",
        F::JmhSamples => {
            "in mode `sample`, the value of an iteration is the mean of the calls timed in it"
        }
        F::K6Aggregates => {
            "k6 gives only aggregates of a whole test, and no direction: more is taken as better of counters and \
             rates, unless their names speak of failure"
        }
    }
}
