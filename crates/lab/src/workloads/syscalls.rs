//! The cheapest system call in a loop: the cost of entering the kernel and leaving it.

use std::hint::black_box;
use std::os::unix::process::parent_id;

use super::Prepared;

/// Calls per unit of amount.
const CALLS: u32 = 1000;

/// Prepares `amount` x 1000 calls of `getppid`, which the C library passes on each time.
pub(super) fn prepare(amount: u64) -> Prepared {
    Prepared::computing(move || calls(amount))
}

#[inline(never)]
fn calls(amount: u64) -> u64 {
    let mut made = 0_u64;
    for _ in 0..amount {
        for _ in 0..CALLS {
            black_box(parent_id());
            made += 1;
        }
    }
    // The answers differ from process to process; their number does not.
    black_box(made)
}
