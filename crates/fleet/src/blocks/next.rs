//! What is done next: which machines, which blocks, and when it is over. It sees values alone.

use becalm_model::wire::{Canary, FleetState, LeftOutFor};

use super::state::{End, Member, Plan, State, Try};
use crate::slurm::Node;

/// How often a machine's blocks may be tried in vain.
const MOST_IN_VAIN: usize = 3;

/// Something to do.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Step {
    /// Take this machine in.
    Add(String),
    /// Give this machine no further blocks.
    LeaveOut(String, LeftOutFor),
    /// Start this block of the machine.
    Submit(String, u32),
    /// Ask the try at this place to end.
    End(usize),
}

/// Returns what to do now, given how the nodes are; nothing if all goes well.
pub(crate) fn steps(plan: &Plan, state: &State, nodes: &[Node]) -> Vec<Step> {
    if state.is_cancelled {
        return endings(state, |_| true);
    }
    let left_out: Vec<Step> =
        in_use(state).filter_map(|member| leave_out(member, plan, state, nodes)).collect();
    if !left_out.is_empty() {
        return left_out;
    }
    let is_left_out = |one: &Try| state.member(&one.node).is_none_or(|it| it.left_out.is_some());
    let mut steps = endings(state, is_left_out);
    let missing = missing(plan, state);
    steps.extend(spare(state, nodes).take(missing).map(|node| Step::Add(node.name.clone())));
    for member in in_use(state) {
        let has = |block: u32| {
            state
                .tries_of(&member.node)
                .any(|one| one.block == block && (one.end.is_none() || one.is_measured()))
        };
        let lacks = (1..=plan.blocks).filter(|&block| !has(block));
        steps.extend(lacks.map(|block| Step::Submit(member.node.clone(), block)));
    }
    steps
}

/// Says how far it has come.
pub(crate) fn progress(plan: &Plan, state: &State, nodes: &[Node]) -> FleetState {
    if state.in_flight().next().is_some() {
        return FleetState::Unfinished;
    }
    if state.is_cancelled {
        return FleetState::Cancelled;
    }
    if !steps(plan, state, nodes).is_empty() {
        return FleetState::Unfinished;
    }
    let whole = in_use(state).count();
    if whole >= plan.machines as usize { FleetState::Complete } else { FleetState::Short }
}

fn in_use(state: &State) -> impl Iterator<Item = &Member> {
    state.members.iter().filter(|member| member.left_out.is_none())
}

/// Returns how many machines more are to be taken in. One on which the session fails is not replaced: it would fail on the
/// next one, too.
fn missing(plan: &Plan, state: &State) -> usize {
    let failed = |member: &&Member| matches!(member.left_out, Some(LeftOutFor::Failed(_)));
    let failed = state.members.iter().filter(failed).count();
    (plan.machines as usize).saturating_sub(in_use(state).count() + failed)
}

/// Returns the nodes that could be taken in.
fn spare<'a>(state: &'a State, nodes: &'a [Node]) -> impl Iterator<Item = &'a Node> {
    nodes.iter().filter(|node| node.is_usable() && state.member(&node.name).is_none())
}

fn leave_out(member: &Member, plan: &Plan, state: &State, nodes: &[Node]) -> Option<Step> {
    let tries = || state.tries_of(&member.node);
    let step = |why| Some(Step::LeaveOut(member.node.clone(), why));
    let off = tries().filter_map(|one| one.canary).find(Canary::is_off);
    if let Some((change, limit)) = off.and_then(|canary| Some((canary.change?, canary.limit?))) {
        return step(LeftOutFor::Canary { change, limit });
    }
    let failed = tries().find_map(|one| match &one.end {
        Some(End::Failed(why)) if !one.is_asked_to_end => Some(why.clone()),
        _ => None,
    });
    if let Some(why) = failed {
        return step(LeftOutFor::Failed(why));
    }
    let in_vain = tries().filter(|one| one.is_in_vain()).count();
    if in_vain >= MOST_IN_VAIN {
        let times = u32::try_from(in_vain).unwrap_or(u32::MAX);
        return step(LeftOutFor::Tries(times));
    }
    // What takes no jobs may come back: without another machine, its jobs wait for that.
    let is_whole =
        (1..=plan.blocks).all(|block| tries().any(|one| one.block == block && one.is_measured()));
    let node = nodes.iter().find(|node| node.name == member.node && !node.is_usable());
    match node {
        Some(node) if !is_whole && spare(state, nodes).next().is_some() => {
            step(LeftOutFor::Node(node.state.clone()))
        }
        _ => None,
    }
}

/// Asks those tries to end that are in flight, and were not asked yet.
fn endings(state: &State, which: impl Fn(&Try) -> bool) -> Vec<Step> {
    let wanted = |&index: &usize| {
        let one = &state.tries[index];
        !one.is_asked_to_end && which(one)
    };
    state.in_flight().filter(wanted).map(Step::End).collect()
}

#[cfg(test)]
mod tests {
    use std::hash::{BuildHasher as _, BuildHasherDefault, DefaultHasher};

    use super::*;

    fn plan(machines: u32, blocks: u32) -> Plan {
        Plan {
            version: String::new(),
            name: "1".to_owned(),
            place: "slurm".to_owned(),
            arguments: Vec::new(),
            started_at: 0.0,
            machines,
            blocks,
            confidence: 0.95,
            margin: 0.01,
            aa: false,
            canary: None,
        }
    }

    fn node(name: &str, state: &str) -> Node {
        Node { name: name.to_owned(), state: state.to_owned() }
    }

    /// Does what the steps say, as a cluster that starts nothing yet.
    fn apply(state: &mut State, steps: Vec<Step>) {
        for step in steps {
            match step {
                Step::Add(node) => state.members.push(Member { node, left_out: None }),
                Step::LeaveOut(node, why) => {
                    let found = state.members.iter_mut().find(|member| member.node == node);
                    found.unwrap().left_out = Some(why);
                }
                Step::Submit(node, block) => state.tries.push(Try::new(&node, block)),
                Step::End(index) => state.tries[index].is_asked_to_end = true,
            }
        }
    }

    /// Takes steps until there are none.
    fn settle(plan: &Plan, state: &mut State, nodes: &[Node]) {
        for _ in 0..50 {
            let next = steps(plan, state, nodes);
            if next.is_empty() {
                return;
            }
            apply(state, next);
        }
        panic!("the steps do not come to an end: {state:#?}");
    }

    fn end(state: &mut State, index: usize, how: End) {
        state.tries[index].end = Some(how);
    }

    #[test]
    fn every_block_is_submitted_at_once_on_as_many_machines() {
        let (plan, nodes) = (plan(2, 2), [node("a", "idle"), node("b", "idle"), node("c", "idle")]);
        let mut state = State::default();
        settle(&plan, &mut state, &nodes);
        let submitted: Vec<(&str, u32)> =
            state.tries.iter().map(|one| (one.node.as_str(), one.block)).collect();
        assert_eq!(submitted, [("a", 1), ("a", 2), ("b", 1), ("b", 2)]);
        assert_eq!(progress(&plan, &state, &nodes), FleetState::Unfinished);
        (0..4).for_each(|index| end(&mut state, index, End::Measured));
        assert_eq!(progress(&plan, &state, &nodes), FleetState::Complete);
    }

    #[test]
    fn what_was_lost_is_tried_again_on_the_same_machine_and_then_on_another() {
        let (plan, nodes) = (plan(1, 1), [node("a", "idle"), node("b", "idle")]);
        let mut state = State::default();
        for times in 1..=3 {
            settle(&plan, &mut state, &nodes);
            assert_eq!(state.tries.len(), times);
            assert_eq!(state.tries[times - 1].node, "a");
            end(&mut state, times - 1, End::Lost("NODE_FAIL".to_owned()));
        }
        settle(&plan, &mut state, &nodes);
        assert_eq!(state.members[0].left_out, Some(LeftOutFor::Tries(3)));
        assert_eq!(state.tries[3].node, "b");
    }

    #[test]
    fn a_machine_whose_canary_is_off_is_set_aside_with_all_its_blocks() {
        let (plan, nodes) = (plan(1, 2), [node("a", "idle"), node("b", "idle")]);
        let mut state = State::default();
        settle(&plan, &mut state, &nodes);
        end(&mut state, 0, End::Measured);
        state.tries[1].canary =
            Some(Canary { value: 1.05, earlier: 5, change: Some(0.05), limit: Some(0.03) });
        settle(&plan, &mut state, &nodes);
        assert_eq!(
            state.members[0].left_out,
            Some(LeftOutFor::Canary { change: 0.05, limit: 0.03 })
        );
        assert!(state.tries[1].is_asked_to_end && !state.counts(&state.tries[0]));
        assert_eq!(state.tries[2].node, "b");
        // The job that was asked to end is nobody's failure.
        end(&mut state, 1, End::Stopped);
        (2..4).for_each(|index| end(&mut state, index, End::Measured));
        assert_eq!(progress(&plan, &state, &nodes), FleetState::Complete);
    }

    #[test]
    fn a_drained_machine_is_replaced_only_if_there_is_another() {
        let plan = plan(1, 1);
        let mut state = State::default();
        settle(&plan, &mut state, &[node("a", "idle")]);
        let drained = [node("a", "drained")];
        assert_eq!(steps(&plan, &state, &drained), []);
        settle(&plan, &mut state, &[node("a", "drained"), node("b", "idle")]);
        assert_eq!(state.members[0].left_out, Some(LeftOutFor::Node("drained".to_owned())));
        assert!(state.tries[0].is_asked_to_end);
        assert_eq!(state.tries[1].node, "b");
    }

    #[test]
    fn a_session_that_fails_is_not_tried_on_all_machines() {
        let plan = plan(2, 1);
        let nodes: Vec<Node> = ["a", "b", "c", "d"].map(|name| node(name, "idle")).to_vec();
        let mut state = State::default();
        settle(&plan, &mut state, &nodes);
        (0..2).for_each(|index| end(&mut state, index, End::Failed("no file".to_owned())));
        settle(&plan, &mut state, &nodes);
        assert_eq!(state.tries.len(), 2);
        assert_eq!(progress(&plan, &state, &nodes), FleetState::Short);
    }

    #[test]
    fn a_cancelled_fleet_ends_its_jobs_and_starts_none() {
        let (plan, nodes) = (plan(2, 1), [node("a", "idle"), node("b", "idle")]);
        let mut state = State::default();
        settle(&plan, &mut state, &nodes);
        state.is_cancelled = true;
        assert_eq!(steps(&plan, &state, &nodes), [Step::End(0), Step::End(1)]);
        settle(&plan, &mut state, &nodes);
        end(&mut state, 0, End::Stopped);
        assert_eq!(progress(&plan, &state, &nodes), FleetState::Unfinished);
        end(&mut state, 1, End::Measured);
        assert_eq!(progress(&plan, &state, &nodes), FleetState::Cancelled);
    }

    /// A repeatable sequence of choices.
    struct Chance(u64);

    impl Chance {
        fn below(&mut self, most: usize) -> usize {
            self.0 += 1;
            let hash = BuildHasherDefault::<DefaultHasher>::default().hash_one(self.0);
            usize::try_from(hash % most as u64).unwrap()
        }
    }

    #[test]
    fn whatever_happens_no_block_is_doubled_and_none_is_forgotten() {
        for seed in 0..500 {
            let mut chance = Chance(seed << 20);
            let plan = plan(1 + u32::try_from(seed % 3).unwrap(), 2);
            let mut nodes: Vec<Node> =
                ["a", "b", "c", "d", "e"].map(|it| node(it, "idle")).to_vec();
            let mut state = State::default();
            for _ in 0..200 {
                let next = steps(&plan, &state, &nodes);
                apply(&mut state, next);
                let flying: Vec<usize> = state.in_flight().collect();
                if !flying.is_empty() {
                    let index = flying[chance.below(flying.len())];
                    let how = match chance.below(6) {
                        0 => End::Lost("NODE_FAIL".to_owned()),
                        1 => End::Stopped,
                        _ => End::Measured,
                    };
                    end(&mut state, index, how);
                }
                let index = chance.below(nodes.len());
                let word = if chance.below(4) == 0 { "drained" } else { "idle" };
                nodes[index].state = word.to_owned();
                for member in &state.members {
                    for block in 1..=plan.blocks {
                        let of_block = |one: &&Try| one.block == block;
                        let tries: Vec<&Try> =
                            state.tries_of(&member.node).filter(of_block).collect();
                        let live = tries.iter().filter(|one| one.end.is_none()).count();
                        let whole = tries.iter().filter(|one| one.is_measured()).count();
                        assert!(live + whole <= 1, "seed {seed}: {tries:#?}");
                    }
                }
                if progress(&plan, &state, &nodes) != FleetState::Unfinished {
                    break;
                }
            }
            let measured: Vec<&Try> = state.tries.iter().filter(|one| state.counts(one)).collect();
            match progress(&plan, &state, &nodes) {
                FleetState::Complete => assert!(measured.len() >= 2 * plan.machines as usize),
                FleetState::Short => assert_eq!(spare(&state, &nodes).count(), 0, "seed {seed}"),
                other => panic!("seed {seed} ends {other}: {state:#?}"),
            }
        }
    }
}
