//! The triad of STREAM, `a[i] = b[i] + s * c[i]`: how much memory a thread can move.
//!
//! `McCalpin`, "Memory Bandwidth and Machine Balance in Current High Performance Computers", IEEE TCCA
//! Newsletter, December 1995. Like STREAM it counts 24 bytes per element.

use std::hint::black_box;

use super::Prepared;

/// Elements of each of the three arrays of doubles: 32 MB.
const ELEMENTS: u32 = 1 << 22;

/// The scalar, which STREAM has as 3 too.
const SCALAR: f64 = 3.0;

/// Prepares `amount` passes over the arrays.
pub(super) fn prepare(amount: u64) -> Prepared {
    let mut a = vec![1.0; ELEMENTS as usize];
    let b: Vec<f64> = (0..ELEMENTS).map(f64::from).collect();
    let c = vec![0.5; ELEMENTS as usize];
    Prepared::computing(move || passes(&mut a, &b, &c, amount))
}

#[inline(never)]
fn passes(a: &mut [f64], b: &[f64], c: &[f64], amount: u64) -> u64 {
    let mut total = 0_u64;
    for pass in 0..amount {
        for ((a, b), c) in a.iter_mut().zip(black_box(b)).zip(c) {
            *a = b + SCALAR * c;
        }
        let last = black_box(&mut *a).last().copied().unwrap_or_default();
        total = total.wrapping_add(last.to_bits() ^ pass);
    }
    black_box(total)
}
