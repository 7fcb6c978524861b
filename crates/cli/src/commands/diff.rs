//! `becalm diff`: saved or imported results that were measured separately, and what one file holds.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use becalm_model::wire::diff_document;
use becalm_model::{Age, Compared, DiffNote, Metric, Note, Record, RecordKind};
use becalm_report::{Sides, WORDS, diff_text, middles, note_sentence};
use becalm_runner::conclude::{Pairing, compare_all_separate, compare_in_turns};

use becalm_session::MetricsError;

use crate::error::CommandError;
use crate::exit::Exit;
use crate::flags::confidence;
use crate::records;
use crate::ui::Ui;

use crate::flags::compare::margin;

/// Smallest relative change that matters, if neither flag nor suite sets one.
const DEFAULT_MARGIN: f64 = 0.01;

/// Compare two results that were measured separately
///
/// They may be saved records or files of other tools. Because they were measured at different times, the interval
/// does not cover drift of the machine between them; `becalm compare` measures both in turns.
///
/// The unit of comparison is the process: if a process has many values, their median counts.
/// Results from different processors are refused. If you give one file, its other subjects are
/// compared with its first: over the rounds if becalm measured them in turns, and on the metrics
/// that decided there.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The baseline: what `run`, `compare` or `import` saved, or a file or folder of another tool
    old: PathBuf,
    /// The candidate
    new: Option<PathBuf>,
    /// Metric to compare: its name, or a measure of benchmarks such as `B/op` [default: the main
    /// metric of each benchmark, else the wall time; with --backend callgrind the instructions and
    /// other counts]
    #[arg(long)]
    metric: Option<String>,
    /// Smallest relative change that matters; 0 tests for any difference [default: the margin of
    /// the candidate's suite, else 1%]
    #[arg(long, value_name = "SHARE", value_parser = margin)]
    margin: Option<f64>,
    /// Confidence of all verdicts together
    #[arg(long, value_name = "SHARE", value_parser = confidence, default_value = "95%")]
    confidence: f64,
    /// Compare even if the processors differ
    #[arg(long)]
    across_machines: bool,
    /// Print the comparisons as JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args, ui: &Ui) -> Result<Exit, CommandError> {
    refuse_labels(&args.old, args.new.as_deref())?;
    let (old, mut new) = if let Some(new) = &args.new {
        read_both(&args.old, new)?
    } else {
        let old = records::read_measured(&args.old)?;
        (old.clone(), old)
    };
    // The command line goes before the suite.
    if args.margin.is_some() {
        new.suite.clear();
    }
    let margin = args.margin.unwrap_or(DEFAULT_MARGIN);
    if !args.across_machines {
        refuse_other_machine(&old, &new)?;
    }
    let subjects = subjects(&old, &new, args.new.is_none());
    if subjects.is_empty() {
        return Err(no_pair(args.new.is_none()));
    }
    let metrics = metrics(args, &old, &new)?;
    let sides = sides(&old, args.new.is_none());
    let comparisons = match sides {
        Sides::InTurns => compare_in_turns(&new, &metrics, args.confidence, margin),
        Sides::Apart => {
            let pairings = pairings((&old, &new), &metrics, &subjects);
            compare_all_separate(&old, &new, &pairings, args.confidence, margin)
        }
    };
    let mut notes = one_sided(&old, &new, args.new.is_none());
    notes.extend(other_quantities(&old, &new));
    if args.json {
        let terms = (args.confidence, margin);
        let middles = middles(&old, &new, &comparisons);
        let comparisons: Vec<_> = comparisons.into_iter().zip(middles).collect();
        ui.print_json(&diff_document(&old, &new, &comparisons, terms, &notes, &WORDS))?;
    } else {
        let terms = (margin, args.confidence);
        ui.print(&diff_text((&old, &new), sides, &comparisons, terms, &notes, ui.style()))?;
    }
    Ok(Exit::Done)
}

/// Refuses `old=old.txt`, by which benchstat names a column.
fn refuse_labels(old: &Path, new: Option<&Path>) -> Result<(), CommandError> {
    let unlabelled = |path: &Path| {
        let text = path.to_str().filter(|_| !path.exists())?;
        text.split_once('=')
            .map(|(_, file)| file.to_owned())
            .filter(|file| Path::new(file).exists())
    };
    let both = || [Some(old), new].into_iter().flatten();
    let Some(labelled) = both().find(|path| unlabelled(path).is_some()) else { return Ok(()) };
    let files = both().map(|path| unlabelled(path).unwrap_or_else(|| path.display().to_string()));
    let files: Vec<String> = files.map(|file| shell_words::quote(&file).into_owned()).collect();
    Err(CommandError::usage(format!("there is no file {}", labelled.display()))
        .hint(format!("becalm takes files without labels: becalm diff {}", files.join(" "))))
}

/// Reads both files, side by side: they may have a hundred thousand benchmarks each.
fn read_both(old: &Path, new: &Path) -> Result<(Record, Record), CommandError> {
    records::read_stdin_once([old, new])?;
    let (old, new) = std::thread::scope(|scope| {
        let new = scope.spawn(|| records::read_measured(new));
        let old = records::read_measured(old);
        (old, new.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    });
    Ok((old?, new?))
}

/// Says how the compared results were measured. Other tools measure one subject after the other.
fn sides(old: &Record, is_one_file: bool) -> Sides {
    if is_one_file && old.kind != RecordKind::Import { Sides::InTurns } else { Sides::Apart }
}

/// Returns which metric of which subjects is compared, metric by metric, if both sides have it.
fn pairings(
    (old, new): (&Record, &Record),
    metrics: &[String],
    subjects: &[(usize, usize)],
) -> Vec<Pairing> {
    let wanted = places(metrics.iter().map(String::as_str));
    let mut found: Vec<(usize, usize)> = Vec::new();
    for (place, &(baseline, candidate)) in subjects.iter().enumerate() {
        let of = |record: &Record, subject: usize| -> HashSet<usize> {
            let there = record.metrics_of(record.measured(subject));
            let names = there.into_iter().map(|at| record.metrics[at].name.as_str());
            names.filter_map(|name| wanted.get(name).copied()).collect()
        };
        let (before, after) = (of(old, baseline), of(new, candidate));
        found.extend(before.intersection(&after).map(|&metric| (metric, place)));
    }
    found.sort_unstable();
    let pairing = |(metric, place): (usize, usize)| {
        let (baseline, candidate) = subjects[place];
        Pairing { baseline, candidate, metric: metrics[metric].clone() }
    };
    found.into_iter().map(pairing).collect()
}

fn no_pair(is_one_file: bool) -> CommandError {
    if is_one_file {
        return CommandError::usage(
            "the file has only one subject, so there is nothing to compare it with",
        )
        .hint("give both files: becalm diff OLD NEW");
    }
    CommandError::usage("the two files have no subject in common")
        .hint("subjects are matched by name; two files with one subject each always match")
}

/// Facts that must be equal for two results to be comparable.
const SAME: [&str; 2] = ["cpu_model", "architecture"];

fn refuse_other_machine(old: &Record, new: &Record) -> Result<(), CommandError> {
    for key in SAME {
        let (before, after) = (old.machine.facts.get(key), new.machine.facts.get(key));
        if let (Some(before), Some(after)) = (before, after)
            && before != after
        {
            return Err(CommandError::usage(format!(
                "the results were measured on different machines: {key} is {before} in the old \
                 one and {after} in the new one"
            ))
            .hint(
                "--across-machines compares them anyway; the difference then says nothing about \
                 the program",
            ));
        }
    }
    Ok(())
}

/// Returns which subjects belong together.
fn subjects(old: &Record, new: &Record, is_one_file: bool) -> Vec<(usize, usize)> {
    if is_one_file {
        return (1..old.subjects.len()).map(|candidate| (0, candidate)).collect();
    }
    if old.subjects.len() == 1 && new.subjects.len() == 1 {
        return vec![(0, 0)];
    }
    let by_name = places(new.subjects.iter().map(|subject| subject.name.as_str()));
    old.subjects
        .iter()
        .enumerate()
        .filter_map(|(index, subject)| Some((index, *by_name.get(subject.name.as_str())?)))
        .collect()
}

/// Returns the place of each name, the first one of several.
fn places<'a>(
    names: impl DoubleEndedIterator<Item = &'a str> + ExactSizeIterator,
) -> HashMap<&'a str, usize> {
    names.enumerate().rev().map(|(at, name)| (name, at)).collect()
}

/// Returns the metrics that two records have under the same name, as each has them.
fn in_both<'a>(old: &'a Record, new: &'a Record) -> impl Iterator<Item = [&'a Metric; 2]> {
    let in_new = places(new.metrics.iter().map(|metric| metric.name.as_str()));
    let pair = move |one: &'a Metric| Some([one, &new.metrics[*in_new.get(one.name.as_str())?]]);
    old.metrics.iter().filter_map(pair)
}

/// Returns the names of the metrics to compare, which both records have in the same unit and direction.
fn metrics(args: &Args, old: &Record, new: &Record) -> Result<Vec<String>, CommandError> {
    let decided: HashSet<usize> = (old.comparisons.iter())
        .filter(|comparison| comparison.primary)
        .map(|comparison| comparison.metric)
        .collect();
    let decided: HashSet<&str> = (decided.into_iter())
        .filter_map(|at| old.metrics.get(at).map(|metric| metric.name.as_str()))
        .collect();
    let wanted = |one: &Metric| match &args.metric {
        Some(name) => one.is_called(name),
        // What a session decided by is what its file is about.
        None if args.new.is_none() && !old.comparisons.is_empty() => {
            decided.contains(one.name.as_str())
        }
        None => one.is_main(),
    };
    // A time under a simulator says nothing of the program.
    let is_of_simulation =
        |a: &Metric, b: &Metric| old.is_of_simulation(a) || new.is_of_simulation(b);
    let both = |is_wanted: &dyn Fn(&Metric) -> bool| -> Vec<String> {
        in_both(old, new)
            .filter(|[a, b]| is_wanted(a) && a.is_same_quantity(b) && !is_of_simulation(a, b))
            .map(|[a, _]| a.name.clone())
            .collect()
    };
    let mut names = both(&wanted);
    let has_benchmarks = |record: &Record| record.metrics.iter().any(Metric::is_main);
    let are_benchmarks = has_benchmarks(old) || has_benchmarks(new);
    if names.is_empty() && args.metric.is_none() && !are_benchmarks {
        let usual = [old, new].map(Record::usual_metric);
        names = both(&|one| usual.contains(&one.name.as_str()));
    }
    if !are_benchmarks && names.is_empty() && args.metric.is_none() {
        names = both(&|_| true);
    }
    if !names.is_empty() {
        return Ok(names);
    }
    if let Some(name) = &args.metric
        && in_both(old, new).any(|[a, b]| a.name == *name && is_of_simulation(a, b))
    {
        return Err(MetricsError::Simulated(name.clone()).into());
    }
    let kind = if are_benchmarks { "benchmark" } else { "metric" };
    let known = |record: &Record| {
        const SHOWN: usize = 12;
        let is_such = |one: &&Metric| !are_benchmarks || args.metric.is_some() || one.is_main();
        let names: Vec<&str> =
            record.metrics.iter().filter(is_such).map(|one| one.name.as_str()).collect();
        if names.is_empty() {
            return format!("no {kind}");
        }
        let more = if names.len() > SHOWN { ", ..." } else { "" };
        format!("{}{more}", names[..names.len().min(SHOWN)].join(", "))
    };
    let what = args.metric.as_ref().map_or(kind.to_owned(), |name| format!("metric `{name}`"));
    let refused = CommandError::usage(format!(
        "the two files have no {what} in common: the old one has {}; the new one has {}",
        known(old),
        known(new)
    ));
    let are_statements = [old, new]
        .iter()
        .any(|record| record.arguments.first().is_some_and(|command| command == "timeit"));
    let refused = match (are_benchmarks, are_statements) {
        (true, true) => refused.hint(
            "benchmarks are matched by name; a statement is its own name, unless `becalm timeit --name NAME` gives \
             both the same",
        ),
        (true, false) => refused.hint("benchmarks are matched by name"),
        (false, _) => refused,
    };
    let quantities = other_quantities(old, new);
    Err(quantities.iter().map(note_sentence).fold(refused, CommandError::hint))
}

/// Lists the benchmarks and metrics that differ in unit or direction between the two.
fn other_quantities(old: &Record, new: &Record) -> Vec<Note> {
    let other = in_both(old, new).filter(|[before, after]| !before.is_same_quantity(after));
    let told = other.map(|[before, after]| {
        let (old, new) = (before.quantity(), after.quantity());
        DiffNote::OtherQuantity { metric: before.name.clone(), old, new }.into()
    });
    told.collect()
}

/// Lists the subjects and benchmarks that only one of the two has.
fn one_sided(old: &Record, new: &Record, is_one_file: bool) -> Vec<Note> {
    if is_one_file {
        return Vec::new();
    }
    let only = |what: Compared, here: &[String], there: &[String], file: Age| {
        let there: HashSet<&String> = there.iter().collect();
        let names: Vec<String> =
            here.iter().filter(|name| !there.contains(name)).cloned().collect();
        (!names.is_empty()).then(|| DiffNote::InOneFile { what, file, names }.into())
    };
    let benchmarks = |record: &'_ Record| -> Vec<String> {
        record.metrics.iter().filter(|one| one.is_main()).map(|one| one.name.clone()).collect()
    };
    let subjects = |record: &'_ Record| -> Vec<String> {
        // One subject matches any other.
        let one = old.subjects.len() == 1 && new.subjects.len() == 1;
        record.subjects.iter().filter(|_| !one).map(|subject| subject.name.clone()).collect()
    };
    let mut notes = Vec::new();
    for (what, [before, after]) in [
        (Compared::Benchmark, [benchmarks(old), benchmarks(new)]),
        (Compared::Subject, [subjects(old), subjects(new)]),
    ] {
        notes.extend(only(what, &before, &after, Age::Old));
        notes.extend(only(what, &after, &before, Age::New));
    }
    notes
}
