//! `becalm diff`: two saved records that were measured separately.

use std::path::PathBuf;

use becalm_model::{Comparison, Record, metric, parse_share};
use becalm_report::diff_text;
use becalm_runner::conclude::compare_separate;

use crate::error::CommandError;
use crate::exit::Exit;
use crate::files;
use crate::ui::Ui;

/// Compare two saved results, measured separately, so that drift between them cannot be excluded
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The baseline
    old: PathBuf,

    /// The candidate
    new: PathBuf,

    /// Metric to compare
    #[arg(long, default_value = metric::WALL_TIME)]
    metric: String,

    /// Smallest relative change that matters; 0 asks for a difference only
    #[arg(long, value_name = "SHARE", value_parser = parse_share, default_value = "1%")]
    margin: f64,

    /// Confidence of the intervals
    #[arg(long, value_name = "SHARE", value_parser = parse_share, default_value = "95%")]
    confidence: f64,
}

pub(crate) fn run(args: &Args, ui: &Ui) -> Result<Exit, CommandError> {
    let (old, new) = (files::read_record(&args.old)?, files::read_record(&args.new)?);
    for (path, record) in [(&args.old, &old), (&args.new, &new)] {
        if record.metric_index(&args.metric).is_none() {
            let known: Vec<&str> =
                record.metrics.iter().map(|metric| metric.name.as_str()).collect();
            return Err(CommandError::usage(format!(
                "{} has no metric `{}`; it has {}",
                path.display(),
                args.metric,
                known.join(", ")
            )));
        }
    }
    let pairs = matching_subjects(&old, &new);
    if pairs.is_empty() {
        return Err(CommandError::usage("the two files have no subject in common").hint(
            "subjects are matched by name; a file with one subject matches any other with one",
        ));
    }
    // Bonferroni: each of the comparisons gets its share of the error.
    let confidence = 1.0 - (1.0 - args.confidence) / pairs.len() as f64;
    let comparisons: Vec<Comparison> = pairs
        .into_iter()
        .filter_map(|(a, b)| {
            compare_separate((&old, a), (&new, b), &args.metric, confidence, args.margin)
        })
        .collect();
    ui.print(&diff_text(&old, &new, &comparisons, ui.style()))?;
    Ok(Exit::Done)
}

fn matching_subjects(old: &Record, new: &Record) -> Vec<(usize, usize)> {
    if old.subjects.len() == 1 && new.subjects.len() == 1 {
        return vec![(0, 0)];
    }
    let by_name = |name: &str| new.subjects.iter().position(|subject| subject.name == name);
    old.subjects
        .iter()
        .enumerate()
        .filter_map(|(index, subject)| Some((index, by_name(&subject.name)?)))
        .collect()
}
