//! Small seeded generator: xoshiro256++, its state filled by splitmix64.
//!
//! Blackman and Vigna, "Scrambled Linear Pseudorandom Number Generators", ACM TOMS 47 (2021).
//!
//! Promise: a seed gives the same sequence in every version of this crate, because saved schedules
//! and published calibration tables depend on it. Integers and uniforms are the same bit for bit
//! everywhere; normals up to the last bits of the platform's logarithm and cosine. Not for secrets.

/// Seeded generator of random numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rng {
    state: [u64; 4],
}

impl Rng {
    /// Starts the sequence of `seed`; any seed is a good one.
    pub fn new(seed: u64) -> Self {
        let mut mixer = seed;
        Self { state: std::array::from_fn(|_| splitmix64(&mut mixer)) }
    }

    /// Starts an independent sequence from the next number of this one.
    #[must_use]
    pub fn split(&mut self) -> Self {
        Self::new(self.next_u64())
    }

    /// Returns 64 random bits.
    pub fn next_u64(&mut self) -> u64 {
        let s = &mut self.state;
        let result = s[0].wrapping_add(s[3]).rotate_left(23).wrapping_add(s[0]);
        let t = s[1] << 17;
        s[2] ^= s[0];
        s[3] ^= s[1];
        s[1] ^= s[2];
        s[0] ^= s[3];
        s[2] ^= t;
        s[3] = s[3].rotate_left(45);
        result
    }

    /// Returns a uniform number in `[0, 1)`, a multiple of 2^-53.
    pub fn uniform(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Returns true with probability one half.
    pub fn coin(&mut self) -> bool {
        self.next_u64() >> 63 == 1
    }

    /// Returns a standard normal number (Box and Muller 1958).
    pub fn normal(&mut self) -> f64 {
        // 1 - u lies in (0, 1], so that its logarithm is finite.
        let radius = (-2.0 * (1.0 - self.uniform()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }

    /// Returns an exponential number with mean 1.
    pub fn exponential(&mut self) -> f64 {
        -(1.0 - self.uniform()).ln()
    }

    /// Returns an integer in `[0, n)`, each equally often (Lemire 2019, with rejection).
    ///
    /// Panics when `n` is 0: there is no such integer.
    pub fn below(&mut self, n: usize) -> usize {
        assert!(n > 0, "no integer is below 0");
        let range = n as u64;
        let unfair = range.wrapping_neg() % range;
        loop {
            let product = u128::from(self.next_u64()) * u128::from(range);
            #[expect(clippy::cast_possible_truncation, reason = "the two halves are taken apart")]
            let (high, low) = ((product >> 64) as u64, product as u64);
            if low >= unfair {
                return usize::try_from(high).expect("below n, which is a usize");
            }
        }
    }

    /// Puts `items` into random order, each order equally likely (Fisher and Yates).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }
}

/// Steps the splitmix64 sequence (Steele, Lea and Flood 2014).
fn splitmix64(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splitmix64_gives_its_published_sequence() {
        let mut state = 1_234_567;
        let first: Vec<u64> = (0..3).map(|_| splitmix64(&mut state)).collect();
        assert_eq!(
            first,
            [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]
        );
    }

    #[test]
    fn xoshiro_gives_its_published_sequence() {
        let mut rng = Rng { state: [1, 2, 3, 4] };
        let first: Vec<u64> = (0..5).map(|_| rng.next_u64()).collect();
        assert_eq!(
            first,
            [
                41_943_041,
                58_720_359,
                3_588_806_011_781_223,
                3_591_011_842_654_386,
                9_228_616_714_210_784_205
            ]
        );
    }

    #[test]
    fn below_is_fair() {
        let mut rng = Rng::new(1);
        let mut counts = [0_u32; 7];
        (0..70_000).for_each(|_| counts[rng.below(7)] += 1);
        // Chi-squared with 6 degrees of freedom is below 22.5 in 99.9 % of seeds.
        let chi: f64 = counts.iter().map(|&c| (f64::from(c) - 10_000.0).powi(2) / 10_000.0).sum();
        assert!(chi < 22.5, "{chi}");
    }

    #[test]
    fn uniform_and_normal_have_their_moments() {
        let mut rng = Rng::new(2);
        let n = 100_000;
        let (mut mean, mut normal_mean, mut normal_square) = (0.0, 0.0, 0.0);
        for _ in 0..n {
            let u = rng.uniform();
            assert!((0.0..1.0).contains(&u));
            let z = rng.normal();
            mean += u / f64::from(n);
            normal_mean += z / f64::from(n);
            normal_square += z * z / f64::from(n);
        }
        // Four standard errors each.
        assert!((mean - 0.5).abs() < 0.0037, "{mean}");
        assert!(normal_mean.abs() < 0.0127, "{normal_mean}");
        assert!((normal_square - 1.0).abs() < 0.018, "{normal_square}");
    }

    #[test]
    fn shuffle_keeps_every_item_and_reaches_every_order() {
        let mut rng = Rng::new(3);
        let mut seen = std::collections::BTreeSet::new();
        for _ in 0..200 {
            let mut items = [0, 1, 2];
            rng.shuffle(&mut items);
            seen.insert(items);
        }
        assert_eq!(seen.len(), 6);
    }

    #[test]
    fn a_split_sequence_differs_from_its_parent() {
        let mut parent = Rng::new(4);
        let mut child = parent.split();
        assert_ne!(parent.next_u64(), child.next_u64());
    }
}
