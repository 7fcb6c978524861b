//! What stands beside the verdict: how much was measured, what it could have shown, what went
//! wrong, and what to do next. Text and HTML have the same sentences.

use becalm_model::{Comparison, DisturbedRun, Note, Record, Verdict};

use crate::disturbed;
use crate::labels::Labels;
use crate::moment::roughly;
use crate::notes::{interruption, sentence};
use crate::outcomes;
use crate::quantity::{confidence, count, percent};
use crate::sentence::Claim;
use crate::shown;

/// Why there is no interval at any number of rounds.
const NO_LOOK: &str =
    "the session ended before its first look, or earlier looks have used up its error";

/// Makes the claim of one comparison of a record.
pub(crate) fn claim<'a>(
    record: &'a Record,
    labels: &'a Labels,
    metric: &'a becalm_model::Metric,
    comparison: &'a Comparison,
) -> Claim<'a> {
    Claim {
        baseline: labels.get(comparison.baseline),
        candidate: labels.get(comparison.candidate),
        metric,
        comparison,
        unit: unit(record),
        reason: (comparison.ratio.is_none() && comparison.confidence >= 1.0).then_some(NO_LOOK),
        confidence: shown::confidence(record),
        margin: record.margin,
        aa: record.aa,
    }
}

/// Returns the comparisons that decide; all of them when none is marked.
pub(crate) fn deciding(record: &Record) -> Vec<&Comparison> {
    let primary: Vec<&Comparison> = record.comparisons.iter().filter(|c| c.primary).collect();
    if primary.is_empty() { shown::comparisons(record) } else { primary }
}

/// Says how much was measured and what it could have shown.
pub(crate) fn measured(record: &Record, disturbed: &[DisturbedRun]) -> Vec<String> {
    if record.is_of_one_program() {
        return record.notes.iter().map(sentence).collect();
    }
    let mut remarks: Vec<String> = rounds(record).into_iter().collect();
    remarks.extend(against_the_medians(record));
    let warmups = record.runs.iter().filter(|run| run.warmup).count();
    let warmups = if warmups > 0 {
        format!("; {} before them", count(warmups, "warm-up run"))
    } else {
        String::new()
    };
    remarks.push(format!("Runs: {}{warmups}.", disturbed::summary(record, disturbed, None)));
    remarks.extend(outcomes::remark(record));
    let confidences = deciding(record).into_iter().map(|c| c.confidence);
    if let Some(widest) =
        confidences.filter(|&c| c > record.confidence + 5e-5 && c < 1.0).reduce(f64::max)
    {
        remarks.push(format!(
            "Each interval has a confidence of {}, so that all looks and comparisons together \
             have {}.",
            confidence(widest),
            confidence(record.confidence)
        ));
    }
    remarks
}

/// Medians that differ by less look the same.
const SEEN: f64 = 0.01;

/// Says why the change of a comparison has another sign than the difference of the medians beside it.
pub(crate) fn against_the_medians(record: &Record) -> Option<String> {
    let contradicts = |one: &Comparison| {
        let of = |subject: usize| {
            shown::sample(record, subject, one.metric)
                .map(|sample| becalm_stats::center::median(&sample))
                .filter(|median| *median > 0.0)
        };
        let medians = of(one.candidate).zip(of(one.baseline)).map(|(new, old)| new / old - 1.0);
        let change = one.ratio.map(|ratio| ratio.estimate - 1.0);
        medians.zip(change).is_some_and(|(medians, change)| {
            medians.abs() >= SEEN && medians.is_sign_positive() != change.is_sign_positive()
        })
    };
    let shown = shown::comparisons(record);
    let mut names: Vec<String> = Vec::new();
    for one in shown.into_iter().filter(|one| contradicts(one)) {
        let name = shown::metric_at(record, one.metric).name;
        if !names.contains(&name) {
            names.push(name);
        }
    }
    (!names.is_empty()).then(|| {
        format!(
            "{}: the change has another sign than the difference of the medians. It comes from the ratios inside the \
             rounds, which exclude drift; the medians are those of all runs, and include it.",
            names.join(", ")
        )
    })
}

/// Says how many rounds the verdict rests on, and what they could have shown.
pub(crate) fn rounds(record: &Record) -> Option<String> {
    let deciding = deciding(record);
    let rounds = deciding.iter().map(|c| (c.rounds, c.discarded_rounds));
    // With several comparisons the one with the fewest rounds is the weakest link.
    let (used, discarded) = rounds.min()?;
    let mut text = format!("{} used", count(used as usize, unit(record)));
    if discarded > 0 {
        text = format!("{text}, {discarded} discarded");
    }
    let floor = deciding
        .iter()
        .filter_map(|c| c.noise_floor)
        .filter(|floor| floor.is_finite())
        .fold(None, |most: Option<f64>, floor| Some(most.map_or(floor, |m| m.max(floor))));
    if let Some(floor) = floor {
        let floor = percent(floor);
        text = if record.aa {
            format!(
                "{text}. Noise floor: with this workload and as many rounds, the smallest \
                 detectable change on this machine is {floor}"
            )
        } else {
            let least = if deciding.len() > 1 { " (of the least certain comparison)" } else { "" };
            format!("{text}; smallest detectable change: {floor}{least}")
        };
    }
    Some(format!("{text}."))
}

/// Returns the unit that gives a comparison one ratio.
pub(crate) fn unit(record: &Record) -> &'static str {
    if has_layouts(record) { "layout" } else { "round" }
}

fn has_layouts(record: &Record) -> bool {
    record.runs.iter().any(|run| run.layout.is_some())
}

/// Says what would settle an undecided comparison.
pub(crate) fn next_steps(record: &Record, labels: &Labels) -> Vec<String> {
    let open: Vec<&Comparison> =
        deciding(record).into_iter().filter(|c| c.verdict == Verdict::Inconclusive).collect();
    let per_round = shown::seconds_per_round(record);
    let several = deciding(record).len() > 1;
    if !open.is_empty() && has_layouts(record) {
        return vec![
            "Next: measure more layouts (--layouts); more rounds of the same ones do not help."
                .to_owned(),
        ];
    }
    if open.len() > 2 {
        let rounds = open.iter().filter_map(|comparison| comparison.rounds_needed).max();
        return rounds.map(|rounds| all_open(open.len(), rounds, per_round)).into_iter().collect();
    }
    open.into_iter()
        .map(|comparison| {
            let about = if several {
                format!(
                    " {} against {}",
                    labels.get(comparison.candidate),
                    labels.get(comparison.baseline)
                )
            } else {
                String::new()
            };
            match comparison.rounds_needed {
                Some(rounds) => {
                    let time = per_round.map_or(String::new(), |seconds| {
                        format!(" ({})", roughly(seconds * rounds as f64))
                    });
                    format!("Next: about {}{time} should decide{about}.", more_rounds(rounds))
                }
                None => format!(
                    "Next: these rounds do not show how many more are needed{about}; `becalm \
                     compare --aa` shows the smallest change that this machine can resolve."
                ),
            }
        })
        .collect()
}

/// Says how many rounds would decide all open comparisons, if there are many.
fn all_open(open: usize, rounds: u64, per_round: Option<f64>) -> String {
    let time = per_round
        .map_or(String::new(), |seconds| format!(" ({})", roughly(seconds * rounds as f64)));
    let rounds = more_rounds(rounds);
    format!("Next: about {rounds}{time} should decide all {open} that are inconclusive.")
}

fn more_rounds(rounds: u64) -> String {
    count(usize::try_from(rounds).unwrap_or(usize::MAX), "more round")
}

/// Returns the notes of the record and of the comparisons shown, each once.
pub(crate) fn notes(record: &Record, labels: &Labels) -> Vec<String> {
    notes_that(record, labels, |_| true)
}

/// Returns the requested notes.
pub(crate) fn notes_that(
    record: &Record,
    labels: &Labels,
    is_wanted: impl Fn(&Note) -> bool,
) -> Vec<String> {
    let mut notes: Vec<String> = Vec::new();
    if let Some(why) = &record.interrupted {
        notes.push(format!("The session ended early: {}", interruption(why)));
    }
    notes.extend(record.notes.iter().filter(|note| is_wanted(note)).map(sentence));
    let shown = shown::comparisons(record);
    let several = shown.len() > 1;
    for comparison in shown {
        for note in comparison.notes.iter().filter(|note| is_wanted(note)) {
            // The same sentence about every metric is one remark; about one metric it needs a name.
            let everywhere = record.comparisons.iter().all(|other| other.notes.contains(note));
            let text = sentence(note);
            let note = if everywhere || !several {
                text
            } else {
                let metric = shown::metric_at(record, comparison.metric);
                format!("{}, {}: {text}", labels.get(comparison.candidate), metric.name)
            };
            if !notes.contains(&note) {
                notes.push(note);
            }
        }
    }
    notes
}
