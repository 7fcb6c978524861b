//! Several runs of one program together: do they agree?
//!
//! Barrett et al. (2017), section 4.3: runs of one class have that class; otherwise they are
//! inconsistent, in a good way when each is flat or a warm-up, and in a bad way when any slowed down
//! or never settled.

use super::{Class, Steady};

/// What several runs have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Agreement {
    /// All runs are of this class.
    Consistent(Class),
    /// Some are flat and some warm up.
    GoodInconsistent,
    /// They differ, and at least one slowed down or has no steady state.
    BadInconsistent,
}

/// Returns what the runs have in common; `None` for no runs.
pub fn agreement(runs: &[Steady]) -> Option<Agreement> {
    let first = runs.first()?.class;
    let is_good = |class| matches!(class, Class::Flat | Class::WarmUp);
    Some(if runs.iter().all(|run| run.class == first) {
        Agreement::Consistent(first)
    } else if runs.iter().all(|run| is_good(run.class)) {
        Agreement::GoodInconsistent
    } else {
        Agreement::BadInconsistent
    })
}

/// Returns how many iterations to leave out of every run, so that each is in its steady state: the
/// largest of what the runs needed. `None` when one of them has no steady state, or there is none.
pub fn warm_up(runs: &[Steady]) -> Option<usize> {
    runs.iter().map(|run| run.from).collect::<Option<Vec<_>>>()?.into_iter().max()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(class: Class, from: Option<usize>) -> Steady {
        Steady {
            class,
            from,
            segments: Vec::new(),
            outliers: Vec::new(),
            n: 100,
            level: 1.0,
            tolerance: 0.01,
            waited: None,
            block: None,
        }
    }

    #[track_caller]
    fn check(classes: &[Class], expected: Option<Agreement>) {
        let runs: Vec<Steady> = classes.iter().map(|&class| run(class, Some(0))).collect();
        assert_eq!(agreement(&runs), expected);
    }

    #[test]
    fn runs_agree_or_differ_in_a_good_or_a_bad_way() {
        use Class::{Flat, NoSteadyState, SlowDown, WarmUp};
        check(&[], None);
        check(&[WarmUp, WarmUp], Some(Agreement::Consistent(WarmUp)));
        check(&[NoSteadyState; 2], Some(Agreement::Consistent(NoSteadyState)));
        check(&[WarmUp, Flat], Some(Agreement::GoodInconsistent));
        check(&[Flat, SlowDown], Some(Agreement::BadInconsistent));
        check(&[WarmUp, Flat, NoSteadyState], Some(Agreement::BadInconsistent));
    }

    #[test]
    fn the_warm_up_is_enough_for_every_run() {
        let runs = [run(Class::WarmUp, Some(30)), run(Class::Flat, Some(0))];
        assert_eq!(warm_up(&runs), Some(30));
        let unsettled = [run(Class::WarmUp, Some(30)), run(Class::NoSteadyState, None)];
        assert_eq!((warm_up(&unsettled), warm_up(&[])), (None, None));
    }
}
