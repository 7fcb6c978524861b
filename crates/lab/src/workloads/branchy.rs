//! Branches that depend on random bits: the cost of guessing wrong.

use std::hint::black_box;

use super::{Prepared, Random};

/// Branches per unit of amount.
const BRANCHES: u32 = 1000;

/// Prepares `amount` x 1000 branches. The random numbers go on from one piece of work to the next: repeated,
/// a predictor would learn them.
pub(super) fn prepare(amount: u64) -> Prepared {
    let mut random = Random::new(0xB1A5_ED00_C0FF_EE11);
    Prepared::computing(move || branches(&mut random, amount))
}

#[inline(never)]
fn branches(random: &mut Random, amount: u64) -> u64 {
    let mut total = 0_u64;
    for _ in 0..amount {
        for _ in 0..BRANCHES {
            // black_box in the arms keeps the compiler from computing both and choosing afterwards,
            // which would be no branch.
            if random.next() >> 63 == 1 {
                total = black_box(total.wrapping_mul(3));
            } else {
                total = black_box(total.wrapping_add(1));
            }
        }
    }
    black_box(total)
}
