//! The sentences about the subjects and the course of a session.

use becalm_model::load::{Distrust, Failed};
use becalm_model::{ConditionName, Difference, SessionNote, counted, is_are};

use crate::quantity::percent;

/// How much more often a session errs if it continued after spending its error.
const SPENT: &str = "false alarms can be up to twice as frequent as stated";

/// How many files are named.
const FEW: usize = 5;

/// Returns the sentence of a note of a session.
pub(super) fn sentence(note: &SessionNote) -> String {
    use SessionNote as N;
    match note {
        N::Revision { name, commit, title, built_by } => {
            revision(name, commit, title, built_by.as_deref())
        }
        N::WorkingTreeUnchanged => "the working tree has no change: `.` is HEAD".to_owned(),
        N::UntrackedFiles { files, such_as } => format!(
            "{} not tracked by git {} not part of the build, such as {such_as}",
            counted(*files, "file"),
            is_are(*files),
        ),
        N::UncommittedChanges { path, more } => {
            let more = if *more > 0 { format!(" and {more} more") } else { String::new() };
            format!(
                "the working tree has uncommitted changes ({path}{more}), which were not measured; --rev . is the \
                 working tree as it is"
            )
        }
        N::IdenticalBuilds { program, revisions, differing } => format!(
            "identical binaries: {program} is the same, byte for byte, in {}; {}. Nothing was measured: a program \
             cannot be faster or slower than itself",
            revisions.join(" and "),
            differing_files(differing)
        ),
        N::LayoutsAlike { built } => format!(
            "all {built} builds are the same program: the build command ignores its {{link_seed}}, so there is one \
             layout"
        ),
        N::Layouts { built, different, too_few } => format!(
            "{built} layouts were built, and the {different} different ones of them are run; rounds of the same \
             layout count as one observation{}",
            if *too_few { ", and so few observations decide nothing" } else { "" }
        ),
        N::SameCommand { subjects: [a, b] } => format!(
            "`{a}` and `{b}` are the same command, so this is an A/A comparison: any difference comes from the \
             machine (--aa shows what it can resolve)"
        ),
        N::SameProgram { programs: [a, b] } => format!(
            "{a} and {b} are the same, byte for byte: unless they look at their own name, this is an A/A comparison"
        ),
        N::ProgramChanged { path } => format!(
            "{path} was changed after the saved session began: unless only its timestamp changed, the earlier runs \
             are of another program"
        ),
        N::FewBeyondQuantile { metric: m, beyond, needed, seconds } => few_beyond(m, *beyond, *needed, *seconds),
        N::RequestsFailed { subject, scheduled, errors } => requests_failed(subject, *scheduled, errors),
        N::LoadsRepeated { loads, runs, reason } => repeated(*loads, *runs, reason),
        N::OneSided { benchmark, with, without } => {
            let (with, without) = (quoted(with), quoted(without));
            format!("the benchmark {benchmark} is in {with} and not in {without}")
        }
        N::LeftOut { failure } => format!("{failure}; the suite continued without it"),
        N::Settled { rounds, waited: 0, .. } => format!(
            "--settle did not have to wait before any of {}: the machine was as at the start.",
            counted(*rounds, "round")
        ),
        N::Settled { rounds, waited, seconds, longest } => format!(
            "--settle waited before {waited} of {}, {seconds:.2} s in total, {longest:.2} s at most.",
            counted(*rounds, "round")
        ),
        N::BusyMachine { waited, stolen, others, siblings } => {
            busy(*waited, *stolen, *others, *siblings)
        }
        N::Crowded { subject, cpus } => format!(
            "{subject} has more threads that want to run than its {}, and they push each other off: its times depend \
             on which of them the scheduler lets wait",
            counted(*cpus, "CPU")
        ),
        N::ContinuedAfterItsEnd { rounds } => format!(
            "continued after its planned end at round {rounds}, when all of its error was spent: {SPENT}"
        ),
        N::ContinuedByAnotherPlan { rounds } => format!(
            "continued with another plan after round {rounds}, when part of its error was spent on looks: {SPENT}"
        ),
        N::OtherConditions { rounds, differing } => {
            let differing: Vec<String> = differing.iter().map(difference).collect();
            let these = if *rounds == 1 { "round was" } else { &format!("{rounds} rounds were") };
            format!("the first {these} measured with {}", differing.join(", "))
        }
        N::SettingDrifted { target, from, to } => format!(
            "{target} was {from} at the start and {to} at the end: another program changed it during the session."
        ),
        N::SettingsDrifted { settings, target, by_becalm } => {
            let others = if *by_becalm { "becalm tunes this machine" } else { "program changed them" };
            let count = counted(*settings, "setting");
            format!(
                "{count} differed between the start and the end of the session, {target} among them: another {others}. \
                 The saved record lists them under `drifted`."
            )
        }
        N::FromLog => {
            "read from the log of a session, which contains every finished run, but not whether the session was finished"
                .to_owned()
        }
        N::Elsewhere { host, processor, clock_ahead } => {
            let processor = if processor.is_empty() { "" } else { &format!(": {processor}") };
            format!("measured on {host}{processor}{}", clock_ahead.map(by_clock).unwrap_or_default())
        }
        N::OfComparison { built } => format!("{built}, from a comparison of revisions"),
    }
}

fn few_beyond(metric: &str, beyond: u64, needed: u64, seconds: f64) -> String {
    format!(
        "a run has {} beyond {metric}; with fewer than {needed}, single requests decide where it lies: send the load \
         for {} s, raise its rate, or decide on a lower quantile with --metric",
        counted(becalm_model::place(beyond as f64), "request"),
        seconds.ceil(),
    )
}

/// Says how requests failed, in as many ways as a reader wants to know.
fn requests_failed(subject: &str, scheduled: u64, errors: &[Failed]) -> String {
    const SHOWN: usize = 3;
    let failed = errors.iter().fold(0_u64, |sum, one| sum.saturating_add(one.count));
    let mut ways: Vec<String> =
        errors.iter().take(SHOWN).map(|one| format!("{} ({})", one.what(), one.count)).collect();
    if errors.len() > SHOWN {
        ways.push("other failures".to_owned());
    }
    format!(
        "{failed} of {scheduled} requests to `{subject}` had no expected answer: {}",
        ways.join(", ")
    )
}

fn repeated(loads: usize, runs: usize, reason: &Distrust) -> String {
    let were = if loads == 1 { "was" } else { "were" };
    format!(
        "{} {were} invalid and repeated, in addition to the {} that {} used: {}",
        counted(loads, "load"),
        counted(runs, "run"),
        is_are(runs),
        reason.in_words(),
    )
}

/// Says which commit a revision is, and what built it.
fn revision(name: &str, commit: &str, title: &str, built_by: Option<&str>) -> String {
    let is = if name == commit { String::new() } else { format!(" is {commit}") };
    let by = built_by.map_or("not built".to_owned(), |command| format!("built by `{command}`"));
    format!("{name}{is}, \"{title}\", {by}")
}

/// Says by which clock times are, if that is so many seconds ahead of another.
fn by_clock(ahead: i64) -> String {
    let how = if ahead > 0 { "ahead of" } else { "behind" };
    format!("; times in the record are those of its clock, {} s {how} the clock here", ahead.abs())
}

/// Says what others took from the subjects in all runs, as shares of the time.
fn busy(
    waited: Option<f64>,
    stolen: Option<f64>,
    others: Option<f64>,
    siblings: Option<f64>,
) -> String {
    let parts = [
        (waited, "the subjects waited for a CPU"),
        (others, "other programs used their CPUs"),
        (siblings, "others used the other halves of their cores"),
        (stolen, "the hypervisor took their CPUs"),
    ];
    let parts: Vec<String> = parts
        .into_iter()
        .filter_map(|(share, what)| Some(format!("{what} {} of the time", percent(share?))))
        .collect();
    format!(
        "the machine was busy throughout: {}. This affects all runs alike, so it disturbs no single one and is part \
         of every result",
        parts.join(", ")
    )
}

fn quoted(names: &[String]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

fn differing_files(files: &[String]) -> String {
    match files {
        [] => "the revisions have the same files".to_owned(),
        files if files.len() <= FEW => format!("the revisions differ in {}", files.join(", ")),
        files => format!("the revisions differ in {} files", files.len()),
    }
}

fn difference(one: &Difference) -> String {
    let what = match one.what {
        ConditionName::Scheduler => "scheduling class",
        ConditionName::Cpus => "CPUs",
        ConditionName::Nice => "niceness",
        ConditionName::Aslr => "ASLR",
    };
    format!("{what} {} instead of {}", one.then, one.now)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_are_told_with_their_seconds() {
        let of = |waited| {
            sentence(&SessionNote::Settled { rounds: 8, waited, seconds: 1.25, longest: 0.5 })
        };
        assert_eq!(
            of(0),
            "--settle did not have to wait before any of 8 rounds: the machine was as at the start."
        );
        assert_eq!(of(7), "--settle waited before 7 of 8 rounds, 1.25 s in total, 0.50 s at most.");
    }

    #[test]
    fn who_has_a_benchmark_and_who_has_not_is_named() {
        let note = SessionNote::OneSided {
            benchmark: "sort".to_owned(),
            with: vec!["A".to_owned(), "C".to_owned()],
            without: vec!["B".to_owned()],
        };
        assert_eq!(sentence(&note), "the benchmark sort is in `A`, `C` and not in `B`");
    }

    #[test]
    fn another_clock_is_named_where_it_matters() {
        let of = |clock_ahead, processor: &str| {
            let (host, processor) = ("bench".to_owned(), processor.to_owned());
            sentence(&SessionNote::Elsewhere { host, processor, clock_ahead })
        };
        assert_eq!(of(None, ""), "measured on bench");
        assert_eq!(
            of(Some(-90), "Xeon"),
            "measured on bench: Xeon; times in the record are those of its clock, 90 s behind the clock here"
        );
    }

    #[test]
    fn many_files_that_differ_are_counted() {
        let of = |files: usize| differing_files(&vec!["a.c".to_owned(); files]);
        assert_eq!(of(0), "the revisions have the same files");
        assert_eq!(of(2), "the revisions differ in a.c, a.c");
        assert_eq!(of(6), "the revisions differ in 6 files");
    }
}
