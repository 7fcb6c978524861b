//! The array sum that practitioners use to show noise: predictable accesses, real memory traffic.

use std::hint::black_box;

use super::Prepared;

/// Elements of the array: 4 MB of 32-bit integers, beyond most second-level caches.
const ELEMENTS: u32 = 1 << 20;

/// Prepares to sum the array `amount` times.
pub(super) fn prepare(amount: u64) -> Prepared {
    let array: Vec<u32> = (0..ELEMENTS).collect();
    Prepared::computing(move || sums(&array, amount))
}

#[inline(never)]
fn sums(array: &[u32], amount: u64) -> u64 {
    let mut total = 0_u64;
    for pass in 0..amount {
        // The array passes through black_box so that one sum cannot serve for all.
        let sum = black_box(array).iter().fold(0_u32, |sum, &element| sum.wrapping_add(element));
        total = total.wrapping_add(u64::from(sum) ^ pass);
    }
    black_box(total)
}
