//! What is said of what a gate or a job of continuous integration judged.

use becalm_model::history::short_commit;
use becalm_model::{Earlier, GateAdvice, GateNote, GateReason, Side};

use super::interruption;

/// Returns the sentence of a note of a gate.
pub(super) fn sentence(note: &GateNote) -> String {
    use GateNote as N;
    match note {
        N::LookedAt { series, branch } => {
            format!("{series} series of the branch {branch} were looked at.")
        }
        N::OtherMachinesOnly => {
            "The history has these benchmarks on other machines only, which are never compared \
                                 with this one."
                .to_owned()
        }
        N::OtherBranchesOnly { branch, branches } => format!(
            "The history has these benchmarks on other branches only ({}), and none of the branch {branch}: \
             --branch names another.",
            branches.join(", ")
        ),
        N::BrokenOff { file, because } => format!("Broken off: {file}: {}.", interruption(because)),
        N::NotWhole { file, failure } => {
            format!("Broken off: {file}: {failure}; the suite went on without it.")
        }
        N::SideCutOff { side, runs, of } => {
            let side = match side {
                Side::Base => "base",
                Side::Head => "head",
            };
            format!("{side}: {}, so that nothing can be said for it", cut_off(*runs, *of))
        }
        N::CheckedOutMeasured { commit } => format!(
            "what was measured is not {} itself but what the job has checked out, such as the merge of it",
            short_commit(commit)
        ),
        N::OtherCommitMeasured { commit, measured } => format!(
            "the job is for {}, and {} was measured, which has the status",
            short_commit(commit),
            short_commit(measured)
        ),
        N::SameFiles => "base and head have the same files".to_owned(),
        N::OnlyDocumentation { path, more } => {
            let more = if *more > 0 { format!(" and {more} more") } else { String::new() };
            format!("only documentation differs: {path}{more}")
        }
    }
}

/// Says why a result of a gate is as it is.
pub(crate) fn reason(reason: &GateReason) -> String {
    use GateReason as R;
    match reason {
        R::Slower => "slower by more than the margin".to_owned(),
        R::PerhapsWithinMargin => "slower, perhaps within the margin".to_owned(),
        R::Compared { verdict } => verdict.to_string(),
        R::NotDecided { rounds: Some(1) } => "not decided; 1 more round would".to_owned(),
        R::NotDecided { rounds: Some(rounds) } => {
            format!("not decided; {rounds} more rounds would")
        }
        R::NotDecided { rounds: None } => "not decided".to_owned(),
        R::ValuesOfCutOff => {
            "runs were cut off at the timeout, so that the values say nothing good".to_owned()
        }
        R::WithinLimit => "within the limit".to_owned(),
        R::BeyondLimit => "beyond the limit".to_owned(),
        R::Change { confirmed, commit, entry } => {
            let state = if *confirmed { "confirmed" } else { "pending" };
            match commit {
                Some(id) => format!("{state} change at {}", short_commit(id)),
                None => format!("{state} change at entry {entry}"),
            }
        }
        R::TooFew { missing: 1 } => "too little history: 1 more run is missing".to_owned(),
        R::TooFew { missing } => format!("too little history: {missing} more runs are missing"),
        R::NoNumbers => "the history has values that are no numbers".to_owned(),
        R::NoWorse { than: Earlier::Level } => "no worse than the level may give".to_owned(),
        R::NoWorse { than: Earlier::LastValue } => "no worse than the last value".to_owned(),
        R::ExactlyWorse { by } => format!("exactly {} worse than the last value", percent(*by)),
        R::WorseAroundZero => {
            "worse than the level may give, which has no ratio around zero; a limit would decide"
                .to_owned()
        }
        R::OfItsLevel { resolves } => {
            format!("what its level may give; this series resolves {}", percent(*resolves))
        }
        R::WorseThanLevel { at_least, perhaps_within_margin } => {
            let perhaps =
                if *perhaps_within_margin { ", which may be within the margin" } else { "" };
            format!("at least {} worse than its level may give{perhaps}", percent(*at_least))
        }
        R::PerhapsNewLevel { at_least, newest } => format!(
            "at least {} worse than the level before the last {newest} {}, which are as bad: it may be a new level",
            percent(*at_least),
            if *newest == 1 { "run is" } else { "runs are" }
        ),
        R::CutOff { runs, of } => cut_off(*runs, *of),
        R::BrokenOff => "the measurement was broken off".to_owned(),
        R::Doubted { reason: passes, because } => {
            format!("{}, but {}", self::reason(passes), self::reason(because))
        }
    }
}

fn cut_off(runs: usize, of: usize) -> String {
    format!("{runs} of {of} runs were cut off at the timeout")
}

fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

/// Says what to do next.
pub(crate) fn advice(advice: &GateAdvice) -> String {
    use GateAdvice as A;
    let name = |commit: &Option<String>, unknown: &str| {
        commit.as_deref().map_or(unknown, short_commit).to_owned()
    };
    let both = |base, head| {
        let (base, head) = (name(base, "GOOD"), name(head, "HEAD"));
        format!("`becalm compare --rev {base} --rev {head} -- COMMAND`")
    };
    let find = |base, head| {
        let (base, head) = (name(base, "GOOD"), name(head, "HEAD"));
        format!("Find the commit with `becalm bisect --good {base} --bad {head} -- COMMAND`")
    };
    match advice {
        A::MeasureAgain => "Measure again, to the end.".to_owned(),
        A::MeasureLonger => {
            "Measure for longer (`becalm compare --max-time`), or allow a larger margin.".to_owned()
        }
        A::FindCommitOrAllow { base, head, benchmark } => format!(
            "{}, or let {benchmark} be slower with a larger margin in [gate] of becalm.toml.",
            find(base, head)
        ),
        A::FindCommitOrAcknowledge { base, head, change } => format!(
            "{}; if the change is wanted, say so with `becalm changes acknowledge {change}`.",
            find(base, head)
        ),
        A::AddRunsOrCompare { base, head } => format!(
            "Add runs with `becalm history add`, or decide now with {}, which needs no history.",
            both(base, head)
        ),
        A::Compare { base, head } => {
            format!("Make sure with {}, which measures both sides interleaved.", both(base, head))
        }
        A::FitLimit { benchmark } => {
            format!("Make {benchmark} fit its limit, or change the limit in becalm.toml.")
        }
    }
}
