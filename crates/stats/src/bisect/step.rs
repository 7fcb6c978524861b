//! Which commit to measure next, for how many rounds, and when there is an answer.

use super::posterior::Posterior;
use crate::decide::paired::Level;
use crate::whole::count;

/// What is known of a commit beside its level.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// It was not tried.
    Unknown,
    /// It is built, so that measuring it again costs its rounds alone.
    Built,
    /// It cannot be built or run.
    Skipped,
    /// It was measured as often as makes sense.
    Exhausted,
}

/// Neighbouring commits that cannot be told apart, with their probability.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Group {
    /// Its first commit.
    pub from: usize,
    /// Its last commit.
    pub to: usize,
    /// Probability that the first of the new level is among them.
    pub probability: f64,
}

/// How far from the median of the posterior a commit may lie that is built already: what there is to learn
/// from it, the entropy of a quarter, is still four fifths of the most.
const NEAR: f64 = 0.25;

/// A commit that is so surely of one level is measured no more.
const SURE: f64 = 1e-3;

/// Returns the commit to measure next: that at the median of the posterior, where both answers are equally
/// likely, or one near it that is built. `None` when no commit can tell anything more. `states` are those of
/// commits `0..=n`.
pub fn next_commit(posterior: &Posterior, states: &[State]) -> Option<usize> {
    let n = posterior.first.len();
    let distance = |commit: usize| (posterior.is_new(commit) - 0.5).abs();
    let useful = |wanted: State| {
        (1..n)
            .filter(|&commit| states[commit] == wanted && distance(commit) < 0.5 - SURE)
            .min_by(|&a, &b| distance(a).total_cmp(&distance(b)))
    };
    let (built, unknown) = (useful(State::Built), useful(State::Unknown));
    match (built, unknown) {
        (Some(built), Some(unknown)) => {
            let is_near = distance(built) <= NEAR || distance(built) <= distance(unknown);
            Some(if is_near { built } else { unknown })
        }
        (built, unknown) => built.or(unknown),
    }
}

/// Returns the groups that skipped commits leave: whether a commit that cannot be measured is the first of
/// the new level, or the one after it, nothing can tell.
pub fn groups(posterior: &Posterior, states: &[State]) -> Vec<Group> {
    let n = posterior.first.len();
    let mut groups = Vec::new();
    let mut from = 1;
    for (commit, &state) in states.iter().enumerate().take(n + 1).skip(1) {
        if commit == n || state != State::Skipped {
            let probability = posterior.first[from - 1..commit].iter().sum();
            groups.push(Group { from, to: commit, probability });
            from = commit + 1;
        }
    }
    groups
}

/// Returns the group that has at least the probability `confidence`.
pub fn found(posterior: &Posterior, states: &[State], confidence: f64) -> Option<Group> {
    groups(posterior, states).into_iter().find(|group| group.probability >= confidence)
}

/// Rounds in which the ends are compared at least: the change that is searched for has to be known well.
pub const ROUNDS_OF_ENDS: u32 = 24;

/// Fewest rounds of a step: fewer leave too much doubt about the noise.
const FEWEST: u32 = 8;

/// Most rounds of a step.
const MOST: u32 = 40;

/// A step is long enough for this: the change is so many standard errors of its level.
const ERRORS_APART: f64 = 3.0;

/// Returns the rounds of a step, from the level of the bad end and the rounds that it took: enough to tell
/// the two levels apart most of the time.
pub fn rounds_of_step(bad: &Level, rounds: u32) -> u32 {
    let needed = f64::from(rounds) * (ERRORS_APART * bad.error / bad.centre).powi(2);
    count(needed.ceil()).clamp(FEWEST, MOST)
}

/// Steps after which a commit is measured no more: it will never tell.
const MOST_STEPS: u32 = 12;

/// Returns the rounds after which a commit is measured no more, where each step has so many.
pub fn most_rounds_of_commit(rounds_of_step: u32) -> u32 {
    MOST_STEPS.saturating_mul(rounds_of_step)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn posterior(first: &[f64]) -> Posterior {
        Posterior { first: first.to_vec(), change: 0.03, deviation: 0.001 }
    }

    #[test]
    fn the_median_is_measured_or_what_is_built_near_it() {
        let flat = posterior(&[0.125; 8]);
        let mut states = [State::Unknown; 9];
        assert_eq!(next_commit(&flat, &states), Some(4));
        states[6] = State::Built;
        assert_eq!(next_commit(&flat, &states), Some(6));
        states[6] = State::Unknown;
        states[7] = State::Built;
        assert_eq!(next_commit(&flat, &states), Some(4));
        states[4] = State::Skipped;
        assert!([3, 5].contains(&next_commit(&flat, &states).unwrap()));
    }

    #[test]
    fn nothing_is_measured_that_cannot_tell_more() {
        let sure = posterior(&[0.0, 0.0, 1.0, 0.0]);
        assert_eq!(next_commit(&sure, &[State::Unknown; 5]), None);
        let flat = posterior(&[0.25; 4]);
        let states = [State::Built, State::Skipped, State::Exhausted, State::Skipped, State::Built];
        assert_eq!(next_commit(&flat, &states), None);
    }

    #[test]
    fn skipped_commits_belong_to_the_next_that_can_be_measured() {
        let states = [
            State::Built,
            State::Unknown,
            State::Skipped,
            State::Skipped,
            State::Built,
            State::Built,
        ];
        let posterior = posterior(&[0.02, 0.3, 0.4, 0.26, 0.02]);
        let group = found(&posterior, &states, 0.95).unwrap();
        assert_eq!((group.from, group.to), (2, 4));
        assert!((group.probability - 0.96).abs() < 1e-12);
        assert_eq!(found(&posterior, &[State::Unknown; 6], 0.95), None);
    }

    #[test]
    fn a_step_is_as_long_as_the_change_is_small() {
        let level = |error| Level { centre: 0.03, error, df: 10.0 };
        assert_eq!(rounds_of_step(&level(0.001), 24), FEWEST);
        assert_eq!(rounds_of_step(&level(0.0058), 24), 9);
        assert_eq!(rounds_of_step(&level(0.02), 24), MOST);
    }
}
