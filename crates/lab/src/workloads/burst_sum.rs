//! Short bursts of work after idleness, as of a service that waits for requests.
//!
//! The gap is where frequency governors, idle states and the scheduler's choice of a CPU show: the burst
//! itself is the same each time. The gap is not timed.

use std::hint::black_box;
use std::time::Duration;

use super::Prepared;

/// Doubles in a sum: 32 KB, a first-level cache full.
const ELEMENTS: u16 = 4096;

/// Partial sums side by side, which is what a compiler makes of the loop when it may reorder floating-point
/// additions: otherwise each waits for the one before and the memory has nothing to do.
const LANES: usize = 16;

/// Idleness before each burst.
const GAP: Duration = Duration::from_millis(2);

/// Prepares bursts of `amount` sums.
pub(super) fn prepare(amount: u64) -> Prepared {
    let numbers: Vec<f64> = (0..ELEMENTS).map(f64::from).collect();
    let rest = || {
        std::thread::sleep(GAP);
        Ok(())
    };
    Prepared::computing(move || burst(&numbers, amount)).after(rest)
}

#[inline(never)]
fn burst(numbers: &[f64], amount: u64) -> u64 {
    let mut total = 0_u64;
    for pass in 0..amount {
        let sum = sum(black_box(numbers));
        total = total.wrapping_add(sum.to_bits() ^ pass);
    }
    black_box(total)
}

fn sum(numbers: &[f64]) -> f64 {
    let mut lanes = [0.0; LANES];
    for chunk in numbers.chunks_exact(LANES) {
        for (lane, number) in lanes.iter_mut().zip(chunk) {
            *lane += number;
        }
    }
    lanes.iter().sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[expect(clippy::float_cmp, reason = "whole numbers far below 2^53 add up exactly")]
    fn the_partial_sums_make_the_whole() {
        let numbers: Vec<f64> = (0..ELEMENTS).map(f64::from).collect();
        assert_eq!(sum(&numbers), 4095.0 * 4096.0 / 2.0);
    }
}
