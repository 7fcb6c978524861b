//! From ratios of spreads to the smallest set of mitigations that is nearly as good as the best.

use becalm_model::ablate::MitigationVerdict;

use super::analysis::{Ratio, SAME_SPREAD};
use super::design::{Configuration, StackOrder};
use super::mitigation::excludes;

/// A set does as well as another if its spread is larger by at most this factor.
pub(super) const AS_GOOD: f64 = 1.1;

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
        .filter(|(_, ratio)| verdict(*ratio) != Some(MitigationVerdict::Harms))
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
            if verdict(ratio) == Some(MitigationVerdict::Helps) {
                order.helpful = order.best_first.len();
            }
        }
    }
    order
}

fn verdict(ratio: Option<Ratio>) -> Option<MitigationVerdict> {
    ratio.map(|ratio| ratio.verdict())
}

/// Returns the smallest stack that does as well as the best one ([`AS_GOOD`]), among those that
/// demonstrably help. `None` if none does.
///
/// `stacks` are configurations with their ratios to one baseline, from smaller to larger sets.
pub(super) fn smallest_within_reach(
    stacks: &[(Configuration, Option<Ratio>)],
) -> Option<&Configuration> {
    let helpful: Vec<(&Configuration, f64)> = stacks
        .iter()
        .filter_map(|(stack, ratio)| {
            let ratio = (*ratio)?;
            (ratio.verdict() == MitigationVerdict::Helps).then_some((stack, ratio.ratio.estimate))
        })
        .collect();
    smallest(helpful)
}

/// Returns the smallest stack that seems to do as well as the best one, where that seems to be quieter than the baseline
/// by more than [`SAME_SPREAD`]; `stacks` as for [`smallest_within_reach`]. Nothing is demonstrated by it.
pub(super) fn promising(stacks: &[(Configuration, Option<Ratio>)]) -> Option<&Configuration> {
    let quieter = stacks.iter().filter_map(|(stack, ratio)| {
        let estimate = ratio.as_ref()?.ratio.estimate;
        (estimate < 1.0 / SAME_SPREAD).then_some((stack, estimate))
    });
    smallest(quieter.collect())
}

/// Returns the smallest of these that is within [`AS_GOOD`] of the best.
fn smallest(stacks: Vec<(&Configuration, f64)>) -> Option<&Configuration> {
    let best = stacks.iter().map(|(_, estimate)| *estimate).min_by(f64::total_cmp)?;
    stacks
        .into_iter()
        .filter(|(_, estimate)| *estimate <= AS_GOOD * best)
        .min_by_key(|(stack, _)| stack.members.len())
        .map(|(stack, _)| stack)
}

/// Returns the members of a stack, those first without which the spread is larger by more.
///
/// There are two views of a member, and the larger one counts. `steps` has the spread with it and
/// those before it over that with those before it alone; of two that do the same the first has the
/// step. `without` has the spread without it over that of the whole stack; of two that only help
/// together both are missed. A member about which nothing is known comes first.
pub(super) fn by_weight(
    stack: &[usize],
    steps: &[Option<Ratio>],
    without: &[Option<Ratio>],
) -> Vec<usize> {
    let estimate = |ratios: &[Option<Ratio>], place: usize| {
        ratios.get(place).copied().flatten().map(|one| one.ratio.estimate)
    };
    let weight = |place: usize| match (estimate(steps, place), estimate(without, place)) {
        (None, None) => f64::INFINITY,
        (step, without) => step.map_or(0.0, |step| 1.0 / step).max(without.unwrap_or(0.0)),
    };
    let mut places: Vec<usize> = (0..stack.len()).collect();
    // Stable: of equal ones the one that did more alone.
    places.sort_by(|&one, &other| weight(other).total_cmp(&weight(one)));
    places.into_iter().map(|place| stack[place]).collect()
}

/// Returns the smallest set whose spread is within [`AS_GOOD`] of the whole stack's. `sets` are
/// configurations with their ratios to the whole stack, which comes first and has none.
pub(super) fn smallest_as_good(sets: &[(Configuration, Option<Ratio>)]) -> Option<&[usize]> {
    let ((whole, _), smaller) = sets.split_first()?;
    let is_as_good = |ratio: &Option<Ratio>| ratio.is_some_and(|one| one.ratio.estimate <= AS_GOOD);
    let found = smaller
        .iter()
        .filter(|(_, ratio)| is_as_good(ratio))
        .map(|(set, _)| set.members.as_slice())
        .min_by_key(|members| members.len());
    Some(found.unwrap_or(&whole.members))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ablate::design::{StackOrder, cumulatively, fewer, names, singly};
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
        check_smallest(&[1.0, 0.5, 0.30, 0.29, 0.28], "fifo + pin");
        check_smallest(&[1.0, 0.30, 0.30, 0.28, 0.29], "fifo");
        check_smallest(&[1.0, 0.95, 0.95, 0.95, 0.2], "fifo + pin + aslr + mlock");
    }

    #[test]
    fn where_nothing_helps_nothing_is_chosen() {
        check_smallest(&[1.0, 0.95, 1.05, 1.0, 1.5], "");
    }

    #[test]
    fn the_weight_of_a_member_is_its_step_or_what_is_missed_without_it() {
        let stack = indices(&["fifo", "isolation", "warm-up", "aslr"]);
        let ratios = |values: [f64; 4]| values.map(|one| Some(ratio(one)));
        // The first two do the same.
        let order =
            by_weight(&stack, &ratios([0.05, 1.0, 0.4, 1.01]), &ratios([1.0, 1.02, 2.4, 0.9]));
        assert_eq!(names(&order), ["fifo", "warm-up", "isolation", "aslr"]);
        // The last two help only together.
        let order = by_weight(&stack, &ratios([0.9, 1.0, 1.0, 0.3]), &ratios([1.0, 1.0, 3.2, 3.3]));
        assert_eq!(names(&order), ["aslr", "warm-up", "fifo", "isolation"]);
        let mut steps = ratios([0.5; 4]);
        steps[3] = None;
        assert_eq!(names(&by_weight(&stack, &steps, &[]))[0], "aslr");
    }

    #[test]
    fn the_smallest_set_that_does_as_well_is_taken() {
        let stack = indices(&["fifo", "pin", "aslr"]);
        let check = |ratios: [Option<f64>; 2], expected: &[&str]| {
            let ratios = std::iter::once(None).chain(ratios).map(|one| one.map(ratio));
            let sets: Vec<_> = fewer(&stack, &stack).into_iter().zip(ratios).collect();
            assert_eq!(names(smallest_as_good(&sets).unwrap()), expected);
        };
        check([Some(1.05), Some(1.0)], &["fifo"]);
        check([Some(1.5), Some(1.0)], &["fifo", "pin"]);
        check([Some(1.5), Some(1.2)], &["fifo", "pin", "aslr"]);
        check([None, Some(0.9)], &["fifo", "pin"]);
        check([None, None], &["fifo", "pin", "aslr"]);
    }
}
