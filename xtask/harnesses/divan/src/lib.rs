//! Ten pieces of work: the same loop with another length.

use std::hint::black_box;

/// Does the work of this number; with the feature `b` the fourth makes 5 % more steps.
pub fn work(number: u64) -> u64 {
    let mut steps = 10_000 + 2_000 * number;
    if number == 4 && cfg!(feature = "b") {
        steps += steps / 20;
    }
    (0..black_box(steps)).fold(black_box(88_172_645_463_325_252), |x: u64, _| {
        (x ^ (x >> 12)).wrapping_mul(2_685_821_657_736_338_717)
    })
}
