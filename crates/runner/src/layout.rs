//! How the start of the stack is moved from round to round.
//!
//! The kernel puts the environment above the stack, so the size of the environment decides at
//! which address, relative to cache lines and pages, every frame begins; Mytkowicz et al.
//! ("Producing wrong data without doing anything obviously wrong!", ASPLOS 2009) saw it turn the
//! sign of a comparison. Every round therefore draws another size, the same for all its subjects,
//! so that one lucky layout cannot decide.
//!
//! Where code and data lie in the program itself is settled when it is linked. A program that was linked in
//! several orders, by a build command with a seed, runs in another one in each round (Curtsinger and
//! Berger, "STABILIZER: statistically sound performance evaluation", ASPLOS 2013, do it while it runs).

use becalm_stats::Rng;

/// One page: a longer shift repeats the same position relative to pages and cache sets.
pub const MAX_PADDING: u32 = 4096;

/// Returns the bytes of padding for a round, spread evenly over `0..MAX_PADDING`.
pub fn padding(seed: u64, round: u32) -> u32 {
    // A generator for each round, so that any round can be asked for alone. The multiplier keeps
    // neighbouring rounds apart, and these sequences apart from those that schedules draw.
    let mut rng = Rng::new(seed ^ (u64::from(round) + 1).wrapping_mul(0xD1B5_4A32_D192_ED03));
    u32::try_from(rng.below(MAX_PADDING as usize)).unwrap_or(0)
}

/// Returns what chance inside the runs of a round follows from. Few enough bits that readers of JSON get the number right.
pub(crate) fn chance(seed: u64, round: u32) -> u64 {
    Rng::new(seed ^ (u64::from(round) + 1).wrapping_mul(0xA24B_AED4_963E_E407)).next_u64() >> 12
}

/// Returns which of `builds` layouts a round runs, from 0: all of them in random order, and then again in
/// another one, so that each has its share however many rounds there are.
pub(crate) fn build(seed: u64, round: u32, builds: u32) -> u32 {
    if builds < 2 {
        return 0;
    }
    let (turn, place) = (round / builds, round % builds);
    let mut rng = Rng::new(seed ^ (u64::from(turn) + 1).wrapping_mul(0x9E6C_63D0_676A_9A99));
    let mut order: Vec<u32> = (0..builds).collect();
    for last in (1..order.len()).rev() {
        order.swap(last, rng.below(last + 1));
    }
    order[place as usize]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_layout_comes_once_in_each_turn() {
        for turn in 0..4 {
            let mut order: Vec<u32> = (0..7).map(|place| build(9, turn * 7 + place, 7)).collect();
            order.sort_unstable();
            assert_eq!(order, [0, 1, 2, 3, 4, 5, 6]);
        }
        assert_ne!((0..7).map(|r| build(9, r, 7)).collect::<Vec<_>>(), [0, 1, 2, 3, 4, 5, 6]);
        assert_eq!(build(9, 5, 1), 0);
    }

    #[test]
    fn the_same_seed_gives_the_same_paddings() {
        assert_eq!(padding(7, 3), padding(7, 3));
        assert_ne!(padding(7, 3), padding(8, 3));
        assert_ne!(padding(7, 3), padding(7, 4));
    }

    #[test]
    fn paddings_are_spread_evenly() {
        let mut counts = [0_u32; 16];
        for round in 0..16_000 {
            let padding = padding(42, round);
            assert!(padding < MAX_PADDING);
            counts[padding as usize / 256] += 1;
        }
        // 1000 expected in each, with a standard deviation of 31.
        assert!(counts.iter().all(|count| (850..1150).contains(count)), "{counts:?}");
    }
}
