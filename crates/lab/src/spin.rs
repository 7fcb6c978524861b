//! How fast and how steadily a CPU computes right now.
//!
//! A chain of operations that each wait for the one before takes a fixed number of cycles whatever else
//! the core could do, so its rate tells the frequency: a shift and an exclusive or of registers take one
//! cycle each on x86-64 since 2006, six in a round of xorshift (Marsaglia, *J. Stat. Softw.* 8, 2003). On
//! Arm the two are one instruction, so that the figure there is a bound, and only ratios mean something.
//! The tenth percentile of the pieces is taken for the rate, because whatever disturbs a piece makes it
//! longer; the distance between the 10th and the 90th tells how steady the CPU is.

use std::hint::black_box;
use std::time::{Duration, Instant};

/// Rounds in a piece: about 0.1 ms, short against what disturbs and long against reading the clock.
const ROUNDS: u32 = 40_000;
/// Cycles of one round.
const CYCLES: f64 = 6.0;
/// Fewest pieces that a percentile can be taken of.
const FEWEST: usize = 20;

/// What a spin showed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spin {
    /// Cycles per second, as far as a chain of operations tells.
    pub hertz: f64,
    /// Distance between the 10th and the 90th percentile of equal pieces of work, over the median.
    pub spread: f64,
}

/// Spins on the CPU of the calling thread for about `duration`.
pub fn spin(duration: Duration) -> Spin {
    let start = Instant::now();
    let mut pieces = Vec::new();
    let mut state = black_box(0x2545_f491_4f6c_dd1d);
    // The first piece warms up.
    state = piece(state);
    while pieces.len() < FEWEST || start.elapsed() < duration {
        let begin = Instant::now();
        state = piece(state);
        pieces.push(begin.elapsed().as_secs_f64());
    }
    black_box(state);
    pieces.sort_by(f64::total_cmp);
    let at = |tenths: usize| pieces[(pieces.len() - 1) * tenths / 10];
    Spin {
        hertz: CYCLES * f64::from(ROUNDS) / at(1).max(f64::MIN_POSITIVE),
        spread: (at(9) - at(1)) / at(5).max(f64::MIN_POSITIVE),
    }
}

fn piece(mut state: u64) -> u64 {
    for _ in 0..ROUNDS {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
    }
    state
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spin_gives_figures_that_can_be_used() {
        let spin = spin(Duration::from_millis(5));
        assert!(spin.hertz.is_finite() && spin.hertz > 0.0, "{spin:?}");
        assert!(spin.spread.is_finite() && spin.spread >= 0.0, "{spin:?}");
    }
}
