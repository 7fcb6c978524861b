//! The sentences about what a gate or a job of continuous integration judged.

use becalm_model::history::short_commit;
use becalm_model::{Earlier, GateAdvice, GateNote, GateReason, Side, counted};

use super::interruption;
use crate::changes::too_few;

/// Returns the sentence of a note of a gate.
pub(super) fn sentence(note: &GateNote) -> String {
    use GateNote as N;
    match note {
        N::LookedAt { series, branch } => {
            format!("{series} series of the branch {branch} were examined.")
        }
        N::TooFewValues { few, of } => too_few(few, *of),
        N::NothingCounts { branch } => {
            format!("No value of the branch {branch} counts, so nothing was judged.")
        }
        N::OfOtherBranch { values, branch, judged } => format!(
            "Not counted: {} of these benchmarks on the branch {branch}, not {judged}; `--branch \
             {branch}` counts them.",
            counted(*values, "earlier value")
        ),
        N::OfOtherMachine { values, differ } => {
            let known = |value: &Option<String>| value.clone().unwrap_or("unknown".to_owned());
            let differ: Vec<String> = differ
                .iter()
                .map(|one| {
                    format!("{}: {}, here {}", one.fact, known(&one.there), known(&one.here))
                })
                .collect();
            format!(
                "Not counted: {} of these benchmarks on another machine ({}); [history] split in \
                 becalm.toml chooses the facts that separate machines.",
                counted(*values, "earlier value"),
                differ.join("; ")
            )
        }
        N::OfOtherUnit { values, unit, measured } => format!(
            "Not counted: {} of these benchmarks in {unit}, not {measured}; units are never compared.",
            counted(*values, "earlier value")
        ),
        N::BranchWithHistory { branch, instead_of } => format!(
            "The history has no results of the branch {instead_of}, so those of {branch} are \
             used; --branch chooses another."
        ),
        N::OffBranch { branch, lost, newer, merged, changed } => {
            let hints = [
                " (`git fetch` gets them, if they are still on it)",
                " (`--side-branches` counts them)",
                " (`--changed-trees` counts them)",
            ];
            not_counted(branch, [*lost, *newer, *merged, *changed], hints)
        }
        N::ShallowClone { branch } => format!(
            "This clone is shallow, so entries of commits that {branch} lost or merged cannot be \
             recognised, and count; `git fetch --unshallow` gets the other commits."
        ),
        N::OnlyBranch { branch } => format!(
            "git names no main branch here, so the only branch of this clone, {branch}, counts as \
             that; --branch, or [history] branch in becalm.toml, chooses another."
        ),
        N::PendingPass { changes } => format!(
            "{} for the worse {} not confirmed yet and may vanish; `changes = \"pending\"` in \
             [gate] of becalm.toml makes {} count.",
            counted(*changes, "change"),
            if *changes == 1 { "is" } else { "are" },
            if *changes == 1 { "it" } else { "them" },
        ),
        N::BrokenOff { file, because } => {
            format!("Interrupted: {file}: {}.", interruption(because))
        }
        N::NotWhole { file, failure } => {
            format!("Interrupted: {file}: {failure}; the suite continued without it.")
        }
        N::SideCutOff { side, runs, of } => {
            let side = match side {
                Side::Base => "base",
                Side::Head => "head",
            };
            format!("{side}: {}, so no result of it can pass", cut_off(*runs, *of))
        }
        N::CheckedOutMeasured { commit } => format!(
            "becalm measured what the job has checked out, such as a merge of {0}, and not {0} itself",
            short_commit(commit)
        ),
        N::OtherCommitMeasured { commit, measured } => format!(
            "the job is for {}, but {} was measured and gets the status",
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
        R::NotDecided { rounds: Some(1) } => "undecided; 1 more round would decide".to_owned(),
        R::NotDecided { rounds: Some(rounds) } => {
            format!("undecided; {rounds} more rounds would decide")
        }
        R::NotDecided { rounds: None } => "undecided".to_owned(),
        R::ValuesOfCutOff => {
            "runs were cut off at the timeout, so the values cannot show that all is well"
                .to_owned()
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
        R::NoNumbers => "the history contains values that are not numbers".to_owned(),
        R::NoWorse { than: Earlier::Level } => "no worse than the level allows".to_owned(),
        R::NoWorse { than: Earlier::Best } => "no worse than the accepted level".to_owned(),
        R::ExactlyWorse { by } => {
            format!("exactly {} worse than the accepted level", percent(*by))
        }
        R::WorseAroundZero => {
            "worse than the level allows, which has no ratio around zero; set a limit to decide"
                .to_owned()
        }
        R::OfItsLevel { resolves } => {
            format!("usual for its level; this series resolves {}", percent(*resolves))
        }
        R::WorseThanLevel { at_least, newest: 1 } => {
            format!("at least {} worse than its level allows", percent(*at_least))
        }
        R::WorseThanLevel { at_least, newest } => format!(
            "the last {newest} values together are at least {} worse than the level before",
            percent(*at_least)
        ),
        R::RatherBeyond { about, at_least, newest } => {
            let of = of_the_last(*newest);
            format!("{of}about {} worse, at least {}", percent(*about), percent(*at_least))
        }
        R::Accepted => "the only value of a level that was accepted".to_owned(),
        R::StillWorse { at_least, newest, since } => {
            let since = since.as_deref().map_or_else(
                || format!("for {}", counted(*newest, "value")),
                |id| format!("since {} ({})", short_commit(id), counted(*newest, "value")),
            );
            format!("worse {since}, at least {} by now", percent(at_least.max(0.0)))
        }
        R::Unresolved { at_most, newest, values, runs } => {
            unresolved(*at_most, *newest, *values, *runs)
        }
        R::Unstable { range, since, entry } => {
            let since = since
                .as_deref()
                .map_or_else(|| format!("entry {entry}"), |id| short_commit(id).to_owned());
            let by = range.map_or(String::new(), |range| {
                format!(": its levels differ by up to {}", percent(range))
            });
            format!("the series is unstable since {since}{by}")
        }
        R::CutOff { runs, of } => cut_off(*runs, *of),
        R::BrokenOff => "the measurement was interrupted".to_owned(),
        R::Doubted { reason: passes, because } => {
            format!("{}, but {}", self::reason(passes), self::reason(because))
        }
    }
}

fn of_the_last(newest: usize) -> String {
    if newest > 1 { format!("the last {newest} values together: ") } else { String::new() }
}

fn unresolved(
    at_most: Option<f64>,
    newest: usize,
    values: Option<u64>,
    runs: Option<u64>,
) -> String {
    let of = of_the_last(newest);
    let at_most = at_most.map_or_else(
        || "how much worse it may be is unknown".to_owned(),
        |at_most| format!("up to {} worse", percent(at_most)),
    );
    let more = |values: u64| match values {
        1 => "1 more value".to_owned(),
        _ => format!("{values} more values"),
    };
    let settled = match (values, runs) {
        (None, None) => "this history cannot decide at such a margin".to_owned(),
        (Some(values), None) => format!("about {} of this commit would decide", more(values)),
        (None, Some(runs)) => format!("a value of about {runs} runs would decide"),
        (Some(values), Some(runs)) => {
            format!("about {} of this commit, or one of {runs} runs, would decide", more(values))
        }
    };
    format!("{of}{at_most}; {settled}")
}

fn cut_off(runs: usize, of: usize) -> String {
    let were = if runs == 1 { "was" } else { "were" };
    format!("{runs} of {} {were} cut off at the timeout", counted(of, "run"))
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
        A::MeasureAgain => "Measure again, and let the measurement finish.".to_owned(),
        A::MeasureLonger => {
            "Measure for longer (`becalm compare --max-time`), or allow a larger margin.".to_owned()
        }
        A::FindCommitOrAllow { base, head, benchmark } => format!(
            "{}, or let {benchmark} be slower with a larger margin in [gate] of becalm.toml.",
            find(base, head)
        ),
        A::FindCommitOrAcknowledge { base, head, change } => format!(
            "{}; if you want the change, accept it with `becalm changes acknowledge {change}`.",
            find(base, head)
        ),
        A::AddRunsOrCompare { base, head } => format!(
            "Add runs with `becalm history add`, or decide now with {}, which needs no history.",
            both(base, head)
        ),
        A::CompareOrAcknowledge { base, head, change } => {
            let accept = match change {
                Some(change) => format!("accept it with `becalm changes acknowledge {change}`"),
                None => "add it with `becalm history add` and accept it with `becalm changes \
                         acknowledge`"
                    .to_owned(),
            };
            format!("Confirm it with {}; if you want it, {accept}.", both(base, head))
        }
        A::Compare { base, head } => {
            format!("Confirm it with {}, which measures both sides in turns.", both(base, head))
        }
        A::SteadyOrCompare { base, head } => format!(
            "Look for the reason with `becalm check` and `becalm hist`, or decide now with {}, which needs no history.",
            both(base, head)
        ),
        A::FitLimit { benchmark } => {
            format!("Make {benchmark} fit its limit, or change the limit in becalm.toml.")
        }
    }
}

/// Says which entries of a branch do not count: how many of lost commits, of newer ones, of merged branches and of changed
/// trees. Behind the latter three are hints how they would.
pub(crate) fn not_counted(
    branch: &str,
    [lost, newer, merged, changed]: [usize; 4],
    [newer_hint, merged_hint, changed_hint]: [&str; 3],
) -> String {
    let entries = |count: usize| {
        format!("{} {}", counted(count, "entry"), if count == 1 { "is" } else { "are" })
    };
    let lost = (lost > 0)
        .then(|| format!("{} of commits that {branch} lost when it was rewritten", entries(lost)));
    let newer = (newer > 0).then(|| {
        format!("{} of commits that are newer than {branch} here{newer_hint}", entries(newer))
    });
    let merged = (merged > 0).then(|| {
        format!("{} of branches that were merged into {branch}{merged_hint}", entries(merged))
    });
    let changed = (changed > 0).then(|| {
        format!(
            "{} of a working tree with changes that no commit has{changed_hint}",
            entries(changed)
        )
    });
    let all: Vec<String> = lost.into_iter().chain(newer).chain(merged).chain(changed).collect();
    format!("Not counted: {}.", all.join("; "))
}
