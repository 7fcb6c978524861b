//! A tight loop in the core alone.

use std::hint::black_box;

use super::Prepared;

/// Steps of the generator per unit of amount.
const STEPS: u32 = 800;

/// Prepares `amount` units of the loop.
pub(super) fn prepare(amount: u64) -> Prepared {
    Prepared::computing(move || steps(amount))
}

/// Runs `amount` x 800 dependent steps of a 64-bit xorshift generator (Marsaglia 2003).
#[inline(never)]
pub(super) fn steps(amount: u64) -> u64 {
    let mut state = black_box(0x9E37_79B9_7F4A_7C15_u64);
    for _ in 0..amount {
        for _ in 0..STEPS {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
        }
    }
    black_box(state)
}
