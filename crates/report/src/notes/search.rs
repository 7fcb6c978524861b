//! The sentences about a bisection, a plan, and compared files.

use becalm_model::history::short_commit;
use becalm_model::{Age, BisectNote, Compared, DiffNote, PlanNote, Stray};

use becalm_model::counted;

/// Returns the sentence of a note of a bisection.
pub(super) fn bisect(note: &BisectNote) -> String {
    use BisectNote as N;
    match note {
        N::SameEnds => {
            "identical binaries: the program of the ends is the same, byte for byte".to_owned()
        }
        N::EndsAlike { verdicts, rounds } => {
            let verdicts: Vec<String> =
                verdicts.iter().map(|(verdict, metric)| format!("{verdict} on {metric}")).collect();
            format!(
                "the ends do not differ enough for a search: {}; {}, `becalm compare --rev` \
                 with more may show a difference",
                verdicts.join(", "),
                counted(*rounds as usize, "round")
            )
        }
        N::EndsAlsoDiffer { metrics, followed } => format!(
            "the ends also differ in {}; the search follows {followed}, in which they differ most \
             clearly",
            metrics.join(", ")
        ),
        N::Follows { metric } => format!("decided on {metric}"),
        N::SeveralChanges { strays } => format!(
            "more than one change: the level of {} is neither that of the good end nor the one \
             beyond the change; the search looks for the first commit beyond half of the whole \
             change",
            strays.iter().map(stray).collect::<Vec<_>>().join(", ")
        ),
    }
}

fn stray(Stray { commit, level, exact }: &Stray) -> String {
    let commit = short_commit(commit);
    if *exact {
        format!("{commit} ({level})")
    } else {
        format!("{commit} ({:+.2} %)", 100.0 * level)
    }
}

/// Returns the sentence of what is not compared.
pub(super) fn diff(note: &DiffNote) -> String {
    match note {
        DiffNote::OtherQuantity { metric, old, new } => {
            format!("Not compared: {metric} is in the old file [{old}] and in the new one [{new}].")
        }
        DiffNote::InOneFile { what, file, names } => {
            let what = match what {
                Compared::Benchmark => "benchmark",
                Compared::Subject => "subject",
            };
            let file = match file {
                Age::Old => "old",
                Age::New => "new",
            };
            format!("Only in the {file} file, and not compared: {what} {}.", names.join(", "))
        }
    }
}

/// Returns the sentence of a note of a plan.
pub(super) fn plan(note: &PlanNote) -> String {
    match note {
        PlanNote::OtherSubjects { planned, others } => format!(
            "The plan is for {planned}; the record also has {}, which it ignores.",
            counted(*others, "other subject")
        ),
        PlanNote::TooFewIterations => {
            "Runs with so few iterations do not show whether they settle: all iterations count.".to_owned()
        }
        PlanNote::NeverSteady => "Some runs have no steady state (`becalm stats --steady`): the variance of \
                                  iterations holds for runs as long as those of the pilot, and more iterations may \
                                  not average it out."
            .to_owned(),
        PlanNote::Disturbed { runs, of, count: true } => format!(
            "disturbed runs: {runs} of {of}; they count, because this machine is like that."
        ),
        PlanNote::Disturbed { runs, of, count: false } => {
            format!("disturbed runs: {runs} of {of}; they do not count.")
        }
        PlanNote::CostInside => "The cost of one value inside a process is unknown. A run counts as one value, with \
             as many values inside it as in the pilot."
            .to_owned(),
        PlanNote::RoughPilot { of_highest } => format!(
            "A plan from {of_highest} repetitions of the highest level is only a rough one; a \
             pilot of at least 10 is better."
        ),
    }
}
