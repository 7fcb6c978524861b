//! Numbers that look random and are the same each time.

/// A 64-bit xorshift generator (Marsaglia, *J. Stat. Softw.* 8, 2003). Deterministic input is all it is for.
#[derive(Debug, Clone)]
pub(super) struct Random(u64);

impl Random {
    /// Starts from `seed`, which must not be 0.
    pub(super) fn new(seed: u64) -> Self {
        debug_assert_ne!(seed, 0, "xorshift stays at 0");
        Self(seed)
    }

    /// Returns the next number.
    pub(super) fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// Returns a number below `bound`, which must not be 0.
    pub(super) fn below(&mut self, bound: usize) -> usize {
        let number = self.next() % bound as u64;
        usize::try_from(number).expect("below a usize")
    }
}
