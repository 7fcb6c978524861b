//! Memory that is asked for, touched and given back: page faults and the allocator.

use std::hint::black_box;
use std::io;

use super::{Prepared, Random};
use becalm_kernel::memory::{Pages, page_size};

/// Bytes that are mapped, touched page by page and unmapped, per unit of amount.
const MAPPED: usize = 1 << 20;

/// Small allocations that live at the same time, per unit of amount.
const SMALL: usize = 64;

/// Sizes of the small ones in bytes: from 16 up to this.
const LARGEST: usize = 4096;

/// Prepares `amount` units. The kernel maps a unit's memory afresh each time: an allocator would keep it
/// after the first one, and fault no more.
pub(super) fn prepare(amount: u64) -> Prepared {
    let page = page_size();
    Prepared::new(move || units(amount, page))
}

#[inline(never)]
fn units(amount: u64, page: usize) -> io::Result<u64> {
    let mut random = Random::new(0xA110_CA7E_D00D_5EED);
    let mut total = 0_u64;
    for _ in 0..amount {
        let mut pages = Pages::map(MAPPED)?;
        for (number, place) in (0_u64..).zip(pages.bytes().iter_mut().step_by(page)) {
            *black_box(place) = number.to_le_bytes()[0];
        }
        total = total.wrapping_mul(31).wrapping_add(u64::from(black_box(pages.bytes())[0]));
        let mut small: Vec<Vec<u8>> =
            (0..SMALL).map(|_| vec![1; 16 + random.below(LARGEST - 16)]).collect();
        while !small.is_empty() {
            let freed = small.swap_remove(random.below(small.len()));
            total = total.wrapping_mul(31).wrapping_add(black_box(freed).len() as u64);
        }
    }
    Ok(black_box(total))
}
