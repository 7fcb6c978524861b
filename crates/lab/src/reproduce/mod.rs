//! Published experiments about noise, repeated on this machine.
//!
//! An article ([`Article`]) is a list of experiments, an experiment a list of configurations that are run in turns
//! and in random order, so that a machine that drifts does not favour one. What cannot be had here is left out with
//! the reason that the machine gives for it, and never replaced by something that looks like it.

mod article;
mod articles;
mod bench;
mod condition;
mod contradictions;
mod figures;
mod machine;

use std::collections::BTreeMap;
use std::time::Duration;

use becalm_model::wire::{
    ArticleDocument, ExperimentDocument, FigureDocument, LoadDocument, REPRODUCE_SCHEMA,
    ReproduceDocument, ReproducedRow, Words,
};
use becalm_model::{CounterLimit, MachineFacts, SessionLimit};
use becalm_runner::monotonic_raw;
use becalm_stats::Sample;
use becalm_stats::center::median;

pub use article::Article;
use article::{CounterFigure, CounterTable, Experiment, Figure, FigureUnit, Row, Setup, Stated};
pub use articles::ARTICLES;
pub use bench::{Bench, ReproduceError};
use bench::{Failure, RunValues};
use condition::Condition;
use figures::{average, figures, relate, relative_error};
pub use machine::{Machine, MachineError, Permission};

/// How much is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effort {
    /// As much as the article's experiment needs, but no further round is started after so long.
    Full(Duration),
    /// Just enough to see that everything runs.
    Quick,
}

/// Runs of each configuration that are made however long they take: with fewer there is no spread between runs.
const FEWEST_RUNS: usize = 2;

/// How far the work is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReproduceProgress<'a> {
    /// Title of the experiment.
    pub experiment: &'a str,
    /// Runs that are done.
    pub done: usize,
    /// Runs of the experiment.
    pub of: usize,
}

/// Repeats all experiments of an article.
pub fn reproduce(
    article: &Article,
    bench: &Bench<'_>,
    facts: &MachineFacts,
    effort: Effort,
    words: &Words,
    tell: &mut dyn FnMut(&ReproduceProgress<'_>),
) -> Result<ReproduceDocument, ReproduceError> {
    let mut documents = Vec::new();
    let mut interrupted = None;
    let experiments = (article.experiments)(&bench.size());
    let (start, all) = (monotonic_raw(), experiments.len());
    for (number, mut experiment) in (1..).zip(experiments) {
        let end = match effort {
            // What one experiment leaves of its share goes to the later ones.
            Effort::Full(budget) => Some(start + budget.mul_f64(f64::from(number) / all as f64)),
            Effort::Quick => {
                experiment.setups = experiment.setups.iter().map(Setup::quick).collect();
                None
            }
        };
        let results = match measure(&experiment, bench, end, tell) {
            // In the middle of looking what can be had: nothing of it was measured.
            Err(ReproduceError::Interrupted(signal)) => {
                interrupted = Some(signal);
                break;
            }
            Err(error) => return Err(error),
            Ok((results, signal)) => {
                interrupted = signal;
                results
            }
        };
        if interrupted.is_some() && results.iter().all(|result| result.runs.is_empty()) {
            break;
        }
        let mut times = table(&experiment, &results);
        // So few and so short runs have no direction.
        let compares = effort != Effort::Quick;
        if compares {
            times.contradictions = contradictions::of_rows(&times.figures, &times.rows);
        }
        documents.push(times);
        for counters in &experiment.counters {
            let mut table = counter_table(&experiment, counters, &results, bench, words);
            if compares {
                table.contradictions = contradictions::of_columns(&table.figures, &table.rows);
            }
            documents.push(table);
        }
        if interrupted.is_some() {
            break;
        }
    }
    Ok(ReproduceDocument {
        schema: REPRODUCE_SCHEMA.to_owned(),
        article: ArticleDocument {
            name: article.name.to_owned(),
            author: article.author.to_owned(),
            title: article.title.to_owned(),
            year: article.year,
            machine: article.machine.to_owned(),
        },
        quick: effort == Effort::Quick,
        interrupted: interrupted.map(|signal| format!("stopped by signal {signal}")),
        machine: facts.facts.clone(),
        experiments: documents,
    })
}

/// What happened to a setup.
#[derive(Debug, Default)]
struct Outcome {
    runs: Vec<RunValues>,
    /// Why there are no runs, or no more.
    left_out: Option<String>,
    /// Conditions of earlier rows that could not be had, with the reason.
    without: Vec<(Condition, String)>,
    /// SMT was to be off, and none is to be seen.
    shows_no_smt: bool,
}

/// Measures all setups of an experiment in turns, up to a signal. What has enough runs by then is kept.
fn measure(
    experiment: &Experiment,
    bench: &Bench<'_>,
    end: Option<Duration>,
    tell: &mut dyn FnMut(&ReproduceProgress<'_>),
) -> Result<(Vec<Outcome>, Option<i32>), ReproduceError> {
    let mut conditions = Vec::new();
    let mut outcomes: Vec<Outcome> = Vec::new();
    for setup in &experiment.setups {
        let (had, outcome) = look(setup, bench)?;
        conditions.push(had);
        outcomes.push(outcome);
    }
    let planned = |(setup, outcome): (&Setup, &Outcome)| {
        if outcome.left_out.is_some() { 0 } else { setup.runs }
    };
    let of = experiment.setups.iter().zip(&outcomes).map(planned).sum();
    let rounds = experiment.setups.iter().map(|setup| setup.runs).max().unwrap_or(0);
    let mut done = 0;
    for round in 0..rounds {
        if round >= FEWEST_RUNS && end.is_some_and(|end| end <= monotonic_raw()) {
            break_off(&mut outcomes, experiment, "the time was up (--budget)");
            break;
        }
        let mut order: Vec<usize> = (0..experiment.setups.len()).collect();
        bench.shuffle(&mut order);
        for index in order {
            let (setup, outcome) = (&experiment.setups[index], &mut outcomes[index]);
            if outcome.left_out.is_some() || round >= setup.runs {
                continue;
            }
            tell(&ReproduceProgress { experiment: &experiment.title, done, of });
            done += 1;
            match bench.run(setup, &conditions[index]) {
                Ok(values) => outcome.runs.push(values),
                Err(Failure::LeftOut(why)) => outcome.left_out = Some(why),
                Err(Failure::Stop(ReproduceError::Interrupted(signal))) => {
                    break_off(&mut outcomes, experiment, "a signal stopped becalm");
                    return Ok((outcomes, Some(signal)));
                }
                Err(Failure::Stop(error)) => return Err(error),
            }
        }
    }
    Ok((outcomes, None))
}

/// Says why setups have fewer runs than was planned. Too few to have a spread are none.
fn break_off(outcomes: &mut [Outcome], experiment: &Experiment, why: &str) {
    for (outcome, setup) in outcomes.iter_mut().zip(&experiment.setups) {
        if outcome.runs.len() < setup.runs && outcome.left_out.is_none() {
            outcome.left_out = Some(why.to_owned());
            if outcome.runs.len() < FEWEST_RUNS {
                outcome.runs.clear();
            }
        }
    }
}

/// Says which conditions of a setup can be had.
fn look(setup: &Setup, bench: &Bench<'_>) -> Result<(Vec<Condition>, Outcome), ReproduceError> {
    let (mut had, mut outcome) = (Vec::new(), Outcome::default());
    for &condition in &setup.needed {
        match bench.obstacle(condition, setup)? {
            None => had.push(condition),
            Some(why) => outcome.left_out = outcome.left_out.or(Some(why)),
        }
    }
    for &condition in &setup.wanted {
        match bench.obstacle(condition, setup)? {
            None => had.push(condition),
            // What was to be switched off is not there.
            Some(_) if condition == Condition::SmtOff && bench.has_no_smt() => {
                outcome.shows_no_smt = true;
            }
            Some(why) => outcome.without.push((condition, why)),
        }
    }
    Ok((had, outcome))
}

/// Makes the table of the times.
fn table(experiment: &Experiment, outcomes: &[Outcome]) -> ExperimentDocument {
    let rows = || experiment.rows.iter();
    let mut article: Vec<BTreeMap<Figure, f64>> = rows()
        .map(|row| row.article.iter().map(|(figure, stated)| (*figure, stated.value)).collect())
        .collect();
    let mut here: Vec<BTreeMap<Figure, f64>> = rows()
        .map(|row| {
            let runs = runs(row, &outcomes[row.setup], experiment.in_ticks);
            figures(&experiment.figures, experiment.values, &runs).unwrap_or_default()
        })
        .collect();
    if experiment.figures.contains(&Figure::RelativeCv) {
        relate(&mut article);
        relate(&mut here);
    }
    let named = |figures: BTreeMap<Figure, f64>| {
        figures.into_iter().map(|(figure, value)| (figure.name().to_owned(), value)).collect()
    };
    let reproduced = rows().zip(article).zip(here).map(|((row, article), here)| {
        let outcome = &outcomes[row.setup];
        ReproducedRow {
            name: row.name.clone(),
            article: named(article),
            stated: row
                .article
                .iter()
                .filter_map(|(figure, stated)| {
                    Some((figure.name().to_owned(), stated.text.clone()?))
                })
                .collect(),
            left_out: outcome.left_out.clone().filter(|_| outcome.runs.is_empty()),
            here: named(here),
            notes: notes(outcome, &experiment.setups[row.setup]),
            runs: runs(row, outcome, false),
        }
    });
    ExperimentDocument {
        title: experiment.title.clone(),
        method: experiment.method.clone(),
        figures: experiment
            .figures
            .iter()
            .map(|figure| FigureDocument {
                name: figure.name().to_owned(),
                title: figure.title().to_owned(),
                unit: match figure.unit() {
                    FigureUnit::Time if experiment.in_ticks => "ticks",
                    FigureUnit::Time => "s",
                    FigureUnit::Share => "share",
                    FigureUnit::Times => "times",
                }
                .to_owned(),
            })
            .collect(),
        counters: false,
        rows: reproduced.collect(),
        histogram: experiment.histogram,
        load: load(outcomes),
        contradictions: Vec::new(),
    }
}

/// Returns what else the machine did during the runs.
fn load(outcomes: &[Outcome]) -> Option<LoadDocument> {
    let all = |share: fn(&RunValues) -> Option<f64>| {
        let runs = outcomes.iter().flat_map(|outcome| &outcome.runs);
        Sample::new(runs.filter_map(share).collect()).ok()
    };
    let others = all(|run| run.others)?;
    Some(LoadDocument {
        others: median(&others),
        most: others.maximum(),
        stolen: all(|run| run.stolen).map_or(0.0, |stolen| median(&stolen)),
    })
}

/// Returns the values of a row's task, run by run.
fn runs(row: &Row, outcome: &Outcome, in_ticks: bool) -> Vec<Vec<f64>> {
    let values = |run: &RunValues| -> Option<Vec<f64>> {
        let factor = if in_ticks { run.ticks_per_second } else { 1.0 };
        Some(run.tasks.get(row.task)?.iter().map(|value| value * factor).collect())
    };
    outcome.runs.iter().filter_map(values).collect()
}

fn notes(outcome: &Outcome, setup: &Setup) -> Vec<String> {
    let mut notes: Vec<String> = outcome
        .without
        .iter()
        .map(|(condition, why)| format!("without {}: {why}", condition.words()))
        .collect();
    if outcome.shows_no_smt && setup.tasks.is_some_and(|tasks| tasks > 1) {
        notes.push(
            "no SMT is visible here, but under a hypervisor CPUs may still share a core of the host"
                .to_owned(),
        );
    }
    if let (Some(why), 1..) = (&outcome.left_out, outcome.runs.len()) {
        notes.push(format!("only {} of {} runs: {why}", outcome.runs.len(), setup.runs));
    }
    notes
}

/// Makes the table of how much the counters differ from run to run.
fn counter_table(
    experiment: &Experiment,
    table: &CounterTable,
    outcomes: &[Outcome],
    bench: &Bench<'_>,
    words: &Words,
) -> ExperimentDocument {
    let name_of = |setup| {
        let row = experiment.rows.iter().find(|row| row.setup == setup);
        row.map(|row| row.name.clone()).unwrap_or_default()
    };
    let shown = |setup: usize, index: Option<usize>| {
        let values: Vec<f64> =
            outcomes[setup].runs.iter().filter_map(|run| *run.counters.get(index?)?).collect();
        match table.figure {
            CounterFigure::Spread => relative_error(&values),
            CounterFigure::Mean => average(&values),
        }
    };
    let rows = table.counters.iter().map(|&(name, before, after)| {
        let index = bench.counter(name);
        let here: BTreeMap<String, f64> = [("before", table.before), ("after", table.after)]
            .into_iter()
            .filter_map(|(column, setup)| Some((column.to_owned(), shown(setup, index)?)))
            .collect();
        let is_of_it = |limit: &&CounterLimit| {
            limit.counters.is_empty() || limit.counters.iter().any(|one| one == name)
        };
        let missing = || match bench.counter_limits.iter().find(is_of_it).cloned() {
            Some(CounterLimit { because, .. }) => {
                let limit = CounterLimit { counters: Vec::new(), because };
                (words.limit)(&SessionLimit::Counters(limit).into())
            }
            None => "this counter is not available here".to_owned(),
        };
        let stated = [("before", before), ("after", after)];
        let value =
            |(column, text): (&str, &str)| Some((column.to_owned(), Stated::read(text)?.value));
        ReproducedRow {
            name: name.to_owned(),
            article: stated.into_iter().filter_map(value).collect(),
            stated: stated.map(|(column, text)| (column.to_owned(), text.to_owned())).into(),
            left_out: here.is_empty().then(missing),
            here,
            notes: Vec::new(),
            runs: Vec::new(),
        }
    });
    let figure = |name: &str, title: String| FigureDocument {
        name: name.to_owned(),
        title,
        unit: match table.figure {
            CounterFigure::Spread => "share",
            CounterFigure::Mean => "count",
        }
        .to_owned(),
    };
    let (title, method) = match table.figure {
        CounterFigure::Spread => (
            "Counters from run to run",
            "Standard error of the mean over the mean, as perf stat prints it",
        ),
        CounterFigure::Mean => ("Counters", "Mean over the runs"),
    };
    ExperimentDocument {
        title: title.to_owned(),
        method: method.to_owned(),
        figures: vec![
            figure("before", name_of(table.before)),
            figure("after", name_of(table.after)),
        ],
        counters: true,
        rows: rows.collect(),
        histogram: false,
        load: None,
        contradictions: Vec::new(),
    }
}
