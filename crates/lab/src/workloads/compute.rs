//! A tight loop in the core alone.

use std::hint::black_box;

/// Steps of the generator per unit of amount.
const STEPS: u32 = 800;

/// Runs `amount` x 800 dependent steps of a 64-bit xorshift generator (Marsaglia 2003).
pub(crate) fn run(amount: u64) -> u64 {
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
