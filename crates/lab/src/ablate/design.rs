//! Which configurations are run, in which order.
//!
//! An experiment has stages, each made of blocks; in a block every configuration of the stage runs
//! once, in random order ([`becalm_stats::schedule`]), so that drift of the machine hits all of them
//! alike and each can be held against the reference of its own block.
//!
//! 1. *Singly*: each mitigation alone.
//! 2. *Cumulatively*: those that do no harm, one on top of the other, the best first. Ordering by
//!    the first stage and testing on fresh runs keeps the tests of the second stage honest.
//! 3. *Without*: the chosen stack, and the same without each of its members, which finds those that
//!    are superfluous.
//! 4. *Fewer*: the members of the stack, one more at a time, those first that matter most.
//! 5. *Again*: the untuned machine against the recommendation, once more. The best of many is
//!    flattered by the noise that made it the best; only fresh runs tell what it is worth.

use std::time::Duration;

use becalm_model::ablate::Stage;
use becalm_stats::schedule;

use super::mitigation::{MITIGATIONS, excludes};

/// One way to run the subject.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Configuration {
    /// What it is.
    pub kind: Kind,
    /// Mitigations at work, as indices into [`MITIGATIONS`].
    pub members: Vec<usize>,
}

/// What a configuration is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The machine as it is.
    Baseline,
    /// The baseline once more, which shows how large a ratio is made by chance alone.
    Control,
    /// One mitigation.
    Single,
    /// Several, the last of which this step added.
    Stack,
    /// Those that help, and one that takes long to set up.
    Branch,
    /// All of the chosen stack.
    Whole,
    /// The chosen stack without this mitigation.
    Without(usize),
    /// What is recommended.
    Recommended,
    /// What would have been recommended, had it not turned out worse.
    TooFew,
    /// What seemed to help, and did not when it was measured again.
    Unconfirmed,
}

/// Returns the share of the whole time by which a stage has to be over. Stages that end early leave their time to the
/// later ones.
pub fn ends_at(stage: Stage) -> f64 {
    match stage {
        Stage::Singly => 0.4,
        Stage::Cumulatively => 0.7,
        Stage::Without => 0.8,
        Stage::Fewer => 0.9,
        Stage::Again => 1.0,
    }
}

/// Returns the most blocks that a stage is worth.
pub fn most_blocks(stage: Stage) -> u32 {
    match stage {
        Stage::Singly | Stage::Cumulatively | Stage::Fewer | Stage::Again => 40,
        Stage::Without => 16,
    }
}

impl Configuration {
    /// The machine as it is.
    pub fn baseline() -> Self {
        Self { kind: Kind::Baseline, members: Vec::new() }
    }

    /// Returns its name, unique within a stage.
    pub fn name(&self) -> String {
        match self.kind {
            Kind::Baseline => "baseline".to_owned(),
            Kind::Control => "baseline again".to_owned(),
            Kind::Single
            | Kind::Stack
            | Kind::Branch
            | Kind::Recommended
            | Kind::TooFew
            | Kind::Unconfirmed
            | Kind::Whole => names(&self.members).join(" + "),
            Kind::Without(member) => format!("without {}", MITIGATIONS[member].name),
        }
    }

    /// Returns a name short enough for a table in which the rows before it are seen too.
    pub fn label(&self) -> String {
        match (self.kind, self.members.as_slice()) {
            (Kind::Stack, [_, .., added]) => format!("+ {}", MITIGATIONS[*added].name),
            (Kind::Whole, _) => "all of them".to_owned(),
            (Kind::Recommended, _) => "recommended".to_owned(),
            (Kind::TooFew, _) => "fewer".to_owned(),
            (Kind::Unconfirmed, _) => "not confirmed".to_owned(),
            _ => self.name(),
        }
    }
}

/// Returns the names of mitigations.
pub fn names(members: &[usize]) -> Vec<&'static str> {
    members.iter().map(|&member| MITIGATIONS[member].name).collect()
}

/// Returns the first stage: the baseline, the baseline again, and each mitigation alone.
pub fn singly(possible: &[usize]) -> Vec<Configuration> {
    let control = Configuration { kind: Kind::Control, members: Vec::new() };
    let single = |&member: &usize| Configuration { kind: Kind::Single, members: vec![member] };
    [Configuration::baseline(), control].into_iter().chain(possible.iter().map(single)).collect()
}

/// Mitigations in the order in which they are stacked.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StackOrder {
    /// The best first.
    pub best_first: Vec<usize>,
    /// How many of them demonstrably help alone.
    pub helpful: usize,
    /// Those that take long to set up, and do no demonstrated harm.
    pub costly: Vec<usize>,
}

/// Returns the second stage: the baseline, and one mitigation more in every step, at most `steps`
/// of them. Of two that exclude each other only the first takes part.
///
/// What takes long to set up would be set up in every further step. It gets one step of its own, on
/// top of what helps alone.
pub fn cumulatively(order: &StackOrder, steps: usize) -> Vec<Configuration> {
    let mut stage = vec![Configuration::baseline()];
    let mut members: Vec<usize> = Vec::new();
    let mut foundation: Vec<usize> = Vec::new();
    for (place, &next) in order.best_first.iter().enumerate() {
        if members.iter().any(|&member| excludes(member, next)) {
            continue;
        }
        members.push(next);
        if place < order.helpful {
            foundation.clone_from(&members);
        }
        if members.len() <= steps {
            stage.push(Configuration { kind: Kind::Stack, members: members.clone() });
        }
    }
    for &costly in &order.costly {
        let mut members = foundation.clone();
        members.retain(|&member| !excludes(member, costly));
        members.push(costly);
        stage.push(Configuration { kind: Kind::Branch, members });
    }
    stage
}

/// Returns the third stage: the whole stack, and the stack without each member.
pub fn without(stack: &[usize]) -> Vec<Configuration> {
    let whole = Configuration { kind: Kind::Whole, members: stack.to_vec() };
    let less = |&left_out: &usize| Configuration {
        kind: Kind::Without(left_out),
        members: stack.iter().copied().filter(|&member| member != left_out).collect(),
    };
    std::iter::once(whole).chain(stack.iter().map(less)).collect()
}

/// The sets of the fourth stage beside the whole stack are at most so many.
const MOST_FEWER: usize = 6;

/// Returns the fourth stage: the whole stack, and its members that matter most, one more at a time.
/// `by_weight` are all members, the most important first.
pub fn fewer(stack: &[usize], by_weight: &[usize]) -> Vec<Configuration> {
    let whole = Configuration { kind: Kind::Whole, members: stack.to_vec() };
    let smaller = (1..stack.len()).take(MOST_FEWER);
    let sets = smaller
        .map(|size| Configuration { kind: Kind::Stack, members: by_weight[..size].to_vec() });
    std::iter::once(whole).chain(sets).collect()
}

/// Returns the last stage: the baseline, what is to be recommended, and the stack that it was
/// thinned from where that is another.
pub fn again(recommended: &[usize], stack: &[usize]) -> Vec<Configuration> {
    let one = |kind, members: &[usize]| Configuration { kind, members: members.to_vec() };
    let mut last = vec![Configuration::baseline(), one(Kind::Recommended, recommended)];
    if recommended != stack {
        last.push(one(Kind::Whole, stack));
    }
    last
}

/// In one of so many blocks of the first two stages a mitigation takes part that takes long to set
/// up.
pub const COSTLY_EVERY: u32 = 3;

/// Says whether a configuration takes part in a block. One with members of `costly` would take most
/// of the time of the first two stages, and does so in every third block only.
pub fn takes_part(stage: Stage, one: &Configuration, block: u32, costly: &[usize]) -> bool {
    matches!(stage, Stage::Without | Stage::Fewer | Stage::Again)
        || block.is_multiple_of(COSTLY_EVERY)
        || !one.members.iter().any(|member| costly.contains(member))
}

/// Returns the order of a block: indices of the configurations of its stage.
pub fn order(seed: u64, stage: Stage, block: u32, configurations: usize) -> Vec<usize> {
    // Each stage has an order of its own, which does not depend on how long the others took.
    let seed = seed ^ (stage as u64 + 1).wrapping_mul(0xA076_1D64_78BD_642F);
    schedule::order(seed, block, configurations)
}

/// Most blocks of the last stage where it has to show what the others could not: each makes its one test sharper.
pub const MOST_TO_CONFIRM: u32 = 120;

/// Says whether another block of a stage begins, of which `blocks` of at most `most` are done and the longest took
/// `longest`, when `used` of `whole` is over.
pub fn goes_on(
    stage: Stage,
    (blocks, most): (u32, u32),
    longest: Duration,
    used: Duration,
    whole: Duration,
) -> bool {
    let end = whole.mul_f64(ends_at(stage));
    blocks < most && used + longest <= end
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ablate::mitigation::find;

    fn labels(configurations: &[Configuration]) -> String {
        configurations.iter().map(Configuration::label).collect::<Vec<_>>().join(", ")
    }

    fn indices(names: &[&str]) -> Vec<usize> {
        names.iter().map(|name| find(name).unwrap()).collect()
    }

    #[test]
    fn the_stages_have_the_configurations_that_they_are_named_after() {
        let some = indices(&["fifo", "pin", "pin-first", "aslr"]);
        assert_eq!(labels(&singly(&some)), "baseline, baseline again, fifo, pin, pin-first, aslr");
        let order = StackOrder { best_first: some, ..StackOrder::default() };
        let all = cumulatively(&order, 9);
        assert_eq!(labels(&all), "baseline, fifo, + pin, + aslr");
        assert_eq!(all[3].name(), "fifo + pin + aslr");
        assert_eq!(labels(&cumulatively(&order, 2)), "baseline, fifo, + pin");
        let pair = indices(&["fifo", "aslr"]);
        assert_eq!(labels(&without(&pair)), "all of them, without fifo, without aslr");
        assert_eq!(without(&pair)[1].members, indices(&["aslr"]));
        let three = indices(&["mlock", "fifo", "aslr"]);
        assert_eq!(labels(&fewer(&three, &three)), "all of them, mlock, + fifo");
        assert_eq!(labels(&again(&pair, &pair)), "baseline, recommended");
        assert_eq!(labels(&again(&pair[..1], &pair)), "baseline, recommended, all of them");
        assert_eq!(again(&pair, &pair)[1].name(), "fifo + aslr");
    }

    #[test]
    fn what_takes_long_to_set_up_has_one_step_on_top_of_what_helps() {
        let order = StackOrder {
            best_first: indices(&["fifo", "pin-first", "aslr", "mlock"]),
            helpful: 2,
            costly: indices(&["isolation"]),
        };
        assert_eq!(
            labels(&cumulatively(&order, 9)),
            "baseline, fifo, + pin-first, + aslr, + mlock, fifo + isolation"
        );
        assert_eq!(labels(&cumulatively(&order, 1)), "baseline, fifo, fifo + isolation");
        let (cheap, costly) = (&singly(&indices(&["pin"]))[2], &singly(&order.costly)[2]);
        let blocks = |stage, one| {
            (0..4).filter(|&block| takes_part(stage, one, block, &order.costly)).collect::<Vec<_>>()
        };
        assert_eq!(blocks(Stage::Singly, cheap), [0, 1, 2, 3]);
        assert_eq!(blocks(Stage::Singly, costly), [0, 3]);
        assert_eq!(blocks(Stage::Cumulatively, costly), [0, 3]);
        assert_eq!(blocks(Stage::Again, costly), [0, 1, 2, 3]);
    }

    #[test]
    fn in_a_block_every_configuration_runs_once_in_an_order_from_the_seed() {
        for block in 0..20 {
            let mut sorted = order(7, Stage::Singly, block, 9);
            assert_eq!(sorted, order(7, Stage::Singly, block, 9));
            sorted.sort_unstable();
            assert_eq!(sorted, (0..9).collect::<Vec<_>>());
        }
        let orders = |seed, stage| (0..20).map(|b| order(seed, stage, b, 9)).collect::<Vec<_>>();
        assert_ne!(orders(7, Stage::Singly), orders(8, Stage::Singly));
        assert_ne!(orders(7, Stage::Singly), orders(7, Stage::Cumulatively));
    }

    #[test]
    fn a_stage_ends_before_its_next_block_would_take_time_of_the_next_stage() {
        #[track_caller]
        fn check(stage: Stage, blocks: u32, longest: u64, used: u64, expected: bool) {
            let seconds = Duration::from_secs;
            let most = most_blocks(stage);
            let found =
                goes_on(stage, (blocks, most), seconds(longest), seconds(used), seconds(100));
            assert_eq!(found, expected);
        }
        check(Stage::Singly, 3, 5, 35, true);
        check(Stage::Singly, 3, 6, 35, false);
        check(Stage::Cumulatively, 3, 6, 35, true);
        check(Stage::Singly, 40, 1, 10, false);
        check(Stage::Again, 39, 1, 99, true);
    }
}
