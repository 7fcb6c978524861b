//! Loads that each wait for the one before: the latency of memory.
//!
//! The lines of a buffer form one cycle in random order (Sattolo's algorithm, *Inf. Process. Lett.* 22,
//! 1986), so that no prefetcher can guess the next one and every line is visited before any is visited
//! again.

use std::hint::black_box;

use super::{Prepared, Random};

/// Lines of the buffer: 32 MB, beyond the caches that a core has to itself.
const LINES: usize = 1 << 19;

/// Loads per unit of amount.
const LOADS: u32 = 1000;

/// A cache line with the number of the next one.
#[derive(Debug, Clone, Copy)]
#[repr(align(64))]
struct Line(u32);

/// Prepares walks of `amount` x 1000 loads, each from where the one before ended.
pub(super) fn prepare(amount: u64) -> Prepared {
    let lines = cycle(LINES);
    let mut at = 0;
    Prepared::computing(move || {
        at = walk(&lines, at, amount);
        u64::from(at)
    })
}

#[inline(never)]
fn walk(lines: &[Line], start: u32, amount: u64) -> u32 {
    let mut at = start;
    for _ in 0..amount {
        for _ in 0..LOADS {
            at = lines[at as usize].0;
        }
    }
    black_box(at)
}

/// Returns one cycle through all lines.
fn cycle(length: usize) -> Vec<Line> {
    let mut order: Vec<u32> = (0..).take(length).collect();
    let mut random = Random::new(0x0DDB_1A5E_5BAD_5EED);
    for last in (1..length).rev() {
        order.swap(last, random.below(last));
    }
    order.into_iter().map(Line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_visited_before_any_is_visited_again() {
        for length in [1, 2, 3, 1000] {
            let lines = cycle(length);
            let (mut at, mut steps) = (lines[0].0, 1);
            while at != 0 {
                at = lines[at as usize].0;
                steps += 1;
            }
            assert_eq!(steps, length);
        }
    }
}
