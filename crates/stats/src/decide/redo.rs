//! Which disturbed rounds are made again.
//!
//! A round whose evidence says that something disturbed it can be discarded and made again. That is
//! harmless only as long as nobody's times, and nobody's name, have a say in it:
//!
//! - **By evidence alone.** A round is disturbed when a run in it is, whichever subject's: all its runs go
//!   or stay together.
//! - **By the rounds before it.** What is usual is told by [`MIN_RUNS`] rounds or more that were made
//!   before, discarded ones among them. Would the round itself count, its evidence would move the limits
//!   of one subject and not of the other, so that which subject was hit would decide whether the round
//!   stays; simulated, with a third of the runs disturbed, that raises the false alarms at 5 % to 5.7 %.
//! - **By the same limits for equals** ([`crate::usual::limits_alike`]).
//! - **Once, when it ends.** What was judged stays judged, so that a look at the results sees rounds which
//!   nobody takes back, and no round depends on a later one. The first rounds, which nothing can be held
//!   against, are kept.
//! - **In its own place.** The new round has the order and the padding of the one that it replaces, so
//!   that the rounds that are kept have the balanced order of the schedule ([`crate::schedule`]): the next
//!   round has the place that is the number of rounds kept.
//! - **Bounded.** At most one round is discarded for [`KEPT_PER_DISCARDED`] that are kept. Beyond that,
//!   disturbances are what this machine is like, and rounds with them are kept.
//!
//! `crates/calibrate` counts how often equal programs are called different under this rule.

pub use crate::usual::MIN_RUNS;

/// Rounds that are kept for each that is discarded: at most a third more rounds are made.
pub const KEPT_PER_DISCARDED: u32 = 3;

/// Says whether a disturbed round may be discarded, where so many were kept and discarded before it and
/// `planned` will be kept at least.
pub fn may_discard(kept: u32, discarded: u32, planned: u32) -> bool {
    let is_known_what_is_usual = (kept + discarded) as usize >= MIN_RUNS;
    is_known_what_is_usual && discarded < kept.max(planned) / KEPT_PER_DISCARDED
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Makes rounds of which all that are marked `x` are disturbed; marks those that are discarded.
    #[track_caller]
    fn check(disturbed: &str, planned: u32, expected: &str) {
        let (mut kept, mut discarded) = (0, 0);
        let judge = |mark| {
            let goes = mark == 'x' && may_discard(kept, discarded, planned);
            *(if goes { &mut discarded } else { &mut kept }) += 1;
            if goes { 'x' } else { '.' }
        };
        assert_eq!(disturbed.chars().map(judge).collect::<String>(), expected);
    }

    #[test]
    fn the_first_rounds_are_kept_because_they_say_what_is_usual() {
        check("xxxxxxx...", 20, ".....xx...");
        check(".x...x.x.x", 20, ".....x.x.x");
    }

    #[test]
    fn at_most_a_third_more_rounds_are_made() {
        check("......xxxxxx", 9, "......xxx...");
        check(&"x".repeat(16), 12, ".....xxxx.......");
        // Without a planned number the bound grows with the rounds that are kept.
        check(&"x".repeat(16), 0, ".....x.x...x...x");
    }
}
