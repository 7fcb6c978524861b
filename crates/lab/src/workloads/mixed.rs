//! A bit of everything: allocation, sorting, hashing and a file read.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, DefaultHasher};
use std::hint::black_box;

use super::Prepared;

/// Numbers sorted and hashed per unit of amount.
const NUMBERS: usize = 200;

/// One file read per so many units, so that system calls take a visible but small share.
const UNITS_PER_READ: u64 = 10;

/// Prepares `amount` units of work.
pub(super) fn prepare(amount: u64) -> Prepared {
    Prepared::computing(move || units(amount))
}

/// Does `amount` units of work. A file that cannot be read counts as empty.
#[inline(never)]
fn units(amount: u64) -> u64 {
    let mut state = 0x2545_F491_4F6C_DD1D_u64;
    let mut total = 0_u64;
    for unit in 0..amount {
        let mut numbers: Vec<u64> = Vec::with_capacity(NUMBERS);
        for _ in 0..NUMBERS {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            numbers.push(state);
        }
        numbers.sort_unstable();
        // A fixed hasher: the standard one takes a random seed, and the work would differ by run.
        let mut counts: HashMap<u64, u64, BuildHasherDefault<DefaultHasher>> = HashMap::default();
        for number in &numbers {
            *counts.entry(number % 97).or_default() += 1;
        }
        total = total.wrapping_mul(31).wrapping_add(counts.len() as u64 ^ numbers[NUMBERS / 2]);
        if unit % UNITS_PER_READ == 0 {
            let text = std::fs::read("/proc/self/cmdline").unwrap_or_default();
            black_box(text.len());
        }
    }
    black_box(total)
}
