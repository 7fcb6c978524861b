//! From ratios of spreads to the smallest set of mitigations that is nearly as good as the best.

use super::analysis::{Ratio, SAME_SPREAD, Verdict};
use super::design::{Configuration, StackOrder};
use super::mitigation::excludes;

/// A member of a stack stays when the spread without it is larger than with it by this factor.
pub(super) const NEEDED: f64 = 1.1;

/// Returns the mitigations to be stacked: those that were tried alone and do no demonstrated harm.
/// `singly` are the configurations of the first stage with their ratios; those without one, about
/// which nothing is known, come last. `costly` are those that take long to set up.
pub(super) fn stack_order(
    singly: &[(Configuration, Option<Ratio>)],
    costly: &[usize],
) -> StackOrder {
    let mut tried: Vec<(usize, Option<Ratio>)> = singly
        .iter()
        .filter_map(|(configuration, ratio)| match configuration.members.as_slice() {
            [member] => Some((*member, *ratio)),
            _ => None,
        })
        .filter(|(_, ratio)| verdict(*ratio) != Some(Verdict::Harms))
        .collect();
    let estimate = |ratio: Option<Ratio>| ratio.map_or(f64::INFINITY, |one| one.ratio.estimate);
    tried.sort_by(|one, other| estimate(one.1).total_cmp(&estimate(other.1)));
    let mut order = StackOrder::default();
    for (member, ratio) in tried {
        if costly.contains(&member) {
            order.costly.push(member);
        } else if !order.best_first.iter().any(|&earlier| excludes(earlier, member)) {
            order.best_first.push(member);
            // Sorted by estimates, whose intervals differ: one that helps counts all before it.
            if verdict(ratio) == Some(Verdict::Helps) {
                order.helpful = order.best_first.len();
            }
        }
    }
    order
}

fn verdict(ratio: Option<Ratio>) -> Option<Verdict> {
    ratio.map(|ratio| Verdict::of(&ratio))
}

/// Returns the smallest stack whose spread is within [`SAME_SPREAD`] of the best one's, among those
/// that demonstrably help. `None` if none does.
///
/// `stacks` are configurations with their ratios to one baseline, from smaller to larger sets.
pub(super) fn smallest_within_reach(
    stacks: &[(Configuration, Option<Ratio>)],
) -> Option<&Configuration> {
    let helpful: Vec<(&Configuration, f64)> = stacks
        .iter()
        .filter_map(|(stack, ratio)| {
            let ratio = (*ratio)?;
            (Verdict::of(&ratio) == Verdict::Helps).then_some((stack, ratio.ratio.estimate))
        })
        .collect();
    let best = helpful.iter().map(|(_, estimate)| *estimate).min_by(f64::total_cmp)?;
    helpful
        .into_iter()
        .filter(|(_, estimate)| *estimate <= SAME_SPREAD * best)
        .min_by_key(|(stack, _)| stack.members.len())
        .map(|(stack, _)| stack)
}

/// Returns the members of a stack that are needed: leaving them out made the spread larger by more
/// than [`NEEDED`]. At least one stays, the first; and those about which nothing is known.
///
/// `ratios` has, for each member, the spread without it over the spread of the whole stack.
pub(super) fn needed(stack: &[usize], ratios: &[Option<Ratio>]) -> Vec<usize> {
    let is_needed = |ratio: &Option<Ratio>| ratio.is_none_or(|one| one.ratio.estimate > NEEDED);
    let mut kept: Vec<usize> = stack
        .iter()
        .zip(ratios)
        .filter(|(_, ratio)| is_needed(ratio))
        .map(|(&member, _)| member)
        .collect();
    if kept.is_empty() {
        kept.extend(stack.first());
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ablate::design::{StackOrder, cumulatively, names, singly};
    use crate::ablate::mitigation::find;
    use becalm_stats::Interval;

    fn indices(names: &[&str]) -> Vec<usize> {
        names.iter().map(|name| find(name).unwrap()).collect()
    }

    /// A ratio with an interval of ten percent to either side, which is tested by it.
    fn ratio(estimate: f64) -> Ratio {
        let ratio = Interval { estimate, low: estimate / 1.1, high: estimate * 1.1 };
        let is_other_than_one = !ratio.contains(1.0);
        Ratio { ratio, confidence: 0.95, adjusted_p: 0.01, is_other_than_one }
    }

    fn with(
        configurations: Vec<Configuration>,
        ratios: &[f64],
    ) -> Vec<(Configuration, Option<Ratio>)> {
        configurations.into_iter().zip(ratios.iter().map(|&one| Some(ratio(one)))).collect()
    }

    #[test]
    fn what_does_harm_is_not_stacked_and_of_two_that_exclude_each_other_the_better_is() {
        let tried = indices(&["pin", "pin-first", "fifo", "aslr", "thp"]);
        let singly = with(singly(&tried), &[1.0, 1.0, 0.9, 0.7, 0.5, 1.0, 1.6]);
        let order = stack_order(&singly, &[]);
        assert_eq!(names(&order.best_first), ["fifo", "pin-first", "aslr"]);
        assert_eq!(order.helpful, 2);
    }

    #[test]
    fn what_could_not_be_judged_comes_last() {
        let mut singly = with(singly(&indices(&["pin", "aslr"])), &[1.0, 1.0, 0.2, 0.9]);
        singly[2].1 = None;
        assert_eq!(names(&stack_order(&singly, &[]).best_first), ["aslr", "pin"]);
    }

    #[test]
    fn what_takes_long_to_set_up_is_kept_apart() {
        let tried = indices(&["pin", "isolation", "fifo"]);
        let singly = with(singly(&tried), &[1.0, 1.0, 0.9, 0.1, 0.5]);
        let order = stack_order(&singly, &indices(&["isolation"]));
        assert_eq!(names(&order.best_first), ["fifo", "pin"]);
        assert_eq!(names(&order.costly), ["isolation"]);
    }

    #[track_caller]
    fn check_smallest(ratios: &[f64], expected: &str) {
        let best_first = indices(&["fifo", "pin", "aslr", "mlock"]);
        let order = StackOrder { best_first, ..StackOrder::default() };
        let stacks = with(cumulatively(&order, 9), ratios);
        let found = smallest_within_reach(&stacks).map(Configuration::name);
        assert_eq!(found.unwrap_or_default(), expected);
    }

    #[test]
    fn the_smallest_set_within_reach_of_the_best_is_chosen() {
        check_smallest(&[1.0, 0.5, 0.30, 0.28, 0.25], "fifo + pin");
        check_smallest(&[1.0, 0.30, 0.30, 0.28, 0.25], "fifo");
        check_smallest(&[1.0, 0.95, 0.95, 0.95, 0.2], "fifo + pin + aslr + mlock");
    }

    #[test]
    fn where_nothing_helps_nothing_is_chosen() {
        check_smallest(&[1.0, 0.95, 1.05, 1.0, 1.5], "");
    }

    #[test]
    fn members_that_can_be_left_out_are() {
        let stack = indices(&["fifo", "pin", "aslr"]);
        let check = |ratios: [Option<Ratio>; 3], expected: &[&str]| {
            assert_eq!(names(&needed(&stack, &ratios)), expected);
        };
        check([3.0, 1.05, 1.2].map(|one| Some(ratio(one))), &["fifo", "aslr"]);
        check([1.0, 0.9, 1.0].map(|one| Some(ratio(one))), &["fifo"]);
        check([Some(ratio(1.0)), None, Some(ratio(1.0))], &["pin"]);
    }
}
