//! What is known of the commits of a search, from what was built and measured so far.

use becalm_model::wire::{BisectDocument, BisectRoundDocument};
use becalm_runner::conclude::observations;
use becalm_stats::bisect::{BuildReading, Group, Level, State};
use becalm_stats::decide::paired::level_of;

use super::step;

/// Steps in which the commits on both sides of the answer are measured at least, the last in another build.
const STEPS_OF_EDGE: usize = 2;

/// A level this many standard errors from that of the good end is another one.
const CLEAR: f64 = 3.0;

/// Returns a commit that has to be measured before the answer is accepted: one at its edge that was
/// measured in one build alone, or the next one with another program. What a file happens to have,
/// such as its place in memory, is the same in all runs of a step, and differs in another build; if
/// the compiler has once placed code worse, the next program is as fast as before.
pub(super) fn unconfirmed(
    document: &BisectDocument,
    group: Group,
    states: &[State],
) -> Option<usize> {
    if document.exact.is_some() {
        return None;
    }
    let edge = |commit: &usize| *commit > 0 && *commit < document.bad();
    let is_skipped = |commit| document.skipped.iter().any(|one| one.commit == commit);
    let old = (0..group.from).rev().find(|&commit| !is_skipped(commit))?;
    let is_known = |commit| document.built.iter().any(|one| one.commit == commit);
    let at_edge = [old, group.to].into_iter().filter(edge).find(|&commit| {
        let steps =
            document.steps.iter().filter(|step| have_one_program(document, step.commit, commit));
        steps.count() < STEPS_OF_EDGE && !have_one_program(document, 0, commit)
    });
    let next = || {
        (group.to + 1..document.bad())
            .filter(|&commit| !is_skipped(commit))
            .find(|&commit| !is_known(commit) || !have_one_program(document, group.to, commit))
            .filter(|&commit| states[commit] != State::Exhausted && !is_clear(document, commit))
    };
    at_edge.or_else(next)
}

/// Says whether the rounds of a commit alone show that it differs from the good end.
fn is_clear(document: &BisectDocument, commit: usize) -> bool {
    let readings = readings(document);
    let reading = readings.iter().find(|one| one.commits.contains(&commit));
    reading.is_some_and(|one| one.level.centre.abs() > CLEAR * one.level.error)
}

/// Says whether two commits that were built have the same program.
fn have_one_program(document: &BisectDocument, a: usize, b: usize) -> bool {
    let program = |commit| {
        let built = document.built.iter().find(|one| one.commit == commit);
        built.and_then(|one| one.program.as_ref())
    };
    a == b || program(a).is_some() && program(a) == program(b)
}

/// Says whether another commit that was built has the same program.
pub(super) fn is_same_as_another(document: &BisectDocument, commit: usize) -> bool {
    let built = &document.built;
    let program = built.iter().find(|one| one.commit == commit).map(|one| &one.program);
    let Some(Some(program)) = program else { return false };
    built.iter().any(|one| one.commit != commit && one.program.as_ref() == Some(program))
}

/// Returns what was read of every build; commits with the same program are one.
pub(super) fn readings(document: &BisectDocument) -> Vec<BuildReading> {
    let mut groups: Vec<(Option<&String>, Vec<usize>)> = Vec::new();
    for one in &document.built {
        let program = one.program.as_ref();
        match groups.iter_mut().find(|(known, _)| program.is_some() && *known == program) {
            Some((_, commits)) => commits.push(one.commit),
            None => groups.push((program, vec![one.commit])),
        }
    }
    let level = |commits: &[usize]| {
        if commits.contains(&0) {
            return Some(Level { centre: 0.0, error: 0.0, df: 10.0 });
        }
        let rounds: Vec<_> = document
            .steps
            .iter()
            .filter(|step| commits.contains(&step.commit))
            .flat_map(|step| step.rounds.iter().map(step::paired))
            .collect();
        match (document.exact, rounds.last()) {
            // What is exact needs no ratio: a value is so far on the way from the one end to the other.
            (Some([good, bad]), Some(last)) => {
                let centre = (last.candidate - good) / (bad - good);
                Some(Level { centre, error: 0.0, df: 10.0 })
            }
            _ => level_of(&observations(&rounds)),
        }
    };
    groups
        .into_iter()
        .filter_map(|(_, commits)| Some(BuildReading { level: level(&commits)?, commits }))
        .collect()
}

/// Returns how far each commit is. One that has `most` rounds is not measured again.
pub(super) fn states(
    document: &BisectDocument,
    most: usize,
    is_built: impl Fn(usize) -> bool,
) -> Vec<State> {
    let rounds_of = |commit: usize| -> usize {
        let of_commit = document.steps.iter().filter(|step| step.commit == commit);
        of_commit.map(|step| step.rounds.len()).sum()
    };
    let skipped = |commit| document.skipped.iter().any(|one| one.commit == commit);
    (0..=document.bad())
        .map(|commit| {
            if skipped(commit) {
                State::Skipped
            } else if rounds_of(commit) >= most {
                State::Exhausted
            } else if is_built(commit) {
                State::Built
            } else {
                State::Unknown
            }
        })
        .collect()
}

/// Returns the values of the ends, if they are the same in all rounds.
#[expect(clippy::float_cmp, reason = "exact values are equal to the last bit or differ")]
pub(super) fn exact_values(rounds: &[BisectRoundDocument]) -> Option<[f64; 2]> {
    let [good, bad] = rounds.first().map(|first| [first.good, first.commit])?;
    rounds.iter().all(|one| one.good == good && one.commit == bad).then_some([good, bad])
}
