//! Gaps between two readings of the clock, counted by their length as they come.

/// Where the bins of the histogram begin, in nanoseconds: 1, 2, 5, 10, ... microseconds up to ten
/// seconds, and one bin below. The last bin has no end.
pub const EDGES: [u64; 23] = [
    0,
    1_000,
    2_000,
    5_000,
    10_000,
    20_000,
    50_000,
    100_000,
    200_000,
    500_000,
    1_000_000,
    2_000_000,
    5_000_000,
    10_000_000,
    20_000_000,
    50_000_000,
    100_000_000,
    200_000_000,
    500_000_000,
    1_000_000_000,
    2_000_000_000,
    5_000_000_000,
    10_000_000_000,
];

/// Gaps in one bin.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Bin {
    /// How many.
    pub count: u64,
    /// Their lengths together, in nanoseconds.
    pub lost: u64,
}

/// What somebody who reads the clock without a pause has seen of interruptions.
///
/// A gap is the whole time between two readings that lie at least the threshold apart, the reader's
/// own step included, as in the kernel's osnoise tracer (`run_osnoise` in
/// `kernel/trace/trace_osnoise.c`).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Gaps {
    /// Nanoseconds from the first reading to the last.
    pub watched: u64,
    /// Readings after the first; 0 where somebody else read and did not say.
    pub reads: u64,
    /// Gaps of at least the threshold.
    pub count: u64,
    /// Their lengths together, in nanoseconds.
    pub lost: u64,
    /// The longest one, in nanoseconds.
    pub longest: u64,
    /// The gaps by their length; bin `i` begins at `EDGES[i]`.
    pub bins: [Bin; EDGES.len()],
}

impl Gaps {
    /// Counts a gap.
    pub fn add(&mut self, length: u64) {
        self.count += 1;
        self.lost += length;
        self.longest = self.longest.max(length);
        let bin = &mut self.bins[bin_of(length)];
        bin.count += 1;
        bin.lost += length;
    }

    /// Adds what was seen in another window.
    pub fn merge(&mut self, other: &Self) {
        self.watched += other.watched;
        self.reads += other.reads;
        self.count += other.count;
        self.lost += other.lost;
        self.longest = self.longest.max(other.longest);
        for (bin, more) in self.bins.iter_mut().zip(&other.bins) {
            bin.count += more.count;
            bin.lost += more.lost;
        }
    }

    /// Returns the share of the time that was lost; 0 of no time.
    pub fn share(&self) -> f64 {
        if self.watched == 0 { 0.0 } else { self.lost as f64 / self.watched as f64 }
    }

    /// Returns the mean distance in seconds between readings that nothing came between: below this
    /// nobody can see anything. Where most readings lie a threshold apart the threshold is below the
    /// step, and the mean is that of all. `None` without readings.
    pub fn step(&self) -> Option<f64> {
        let quiet = self.reads.saturating_sub(self.count);
        let (time, reads) = if quiet > self.count {
            (self.watched.saturating_sub(self.lost), quiet)
        } else {
            (self.watched, self.reads)
        };
        (reads > 0).then(|| time as f64 * 1e-9 / reads as f64)
    }
}

fn bin_of(length: u64) -> usize {
    // The first edge is 0, so that at least one is not above.
    EDGES.partition_point(|edge| *edge <= length) - 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gap_belongs_to_the_bin_that_begins_at_or_below_its_length() {
        let check = |length, begin| assert_eq!(EDGES[bin_of(length)], begin, "{length}");
        check(0, 0);
        check(999, 0);
        check(1_000, 1_000);
        check(4_999, 2_000);
        check(5_000, 5_000);
        check(123_456_789, 100_000_000);
        check(u64::MAX, 10_000_000_000);
    }

    #[test]
    fn edges_rise() {
        assert!(EDGES.is_sorted());
    }

    #[test]
    fn windows_add_up() {
        let mut one = Gaps { watched: 1_000_000, reads: 11, ..Gaps::default() };
        one.add(6_000);
        let mut other = Gaps { watched: 1_000_000, reads: 9, ..Gaps::default() };
        other.add(94_000);
        other.add(300_000);
        one.merge(&other);
        assert_eq!((one.count, one.lost, one.longest), (3, 400_000, 300_000));
        assert!((one.share() - 0.2).abs() < 1e-12);
        // 1.6 ms in 17 readings that nothing came between.
        assert!((one.step().unwrap() - 1.6e-3 / 17.0).abs() < 1e-12);
        assert_eq!(one.bins.iter().map(|bin| bin.lost).sum::<u64>(), one.lost);
    }

    #[test]
    fn a_threshold_below_the_step_does_not_hide_the_step() {
        let mut gaps = Gaps { watched: 1_000, reads: 10, ..Gaps::default() };
        (0..10).for_each(|_| gaps.add(100));
        assert!((gaps.step().unwrap() - 100e-9).abs() < 1e-15);
    }

    #[test]
    fn nothing_watched_is_nothing_lost() {
        assert!(Gaps::default().share().abs() < f64::EPSILON);
        assert_eq!(Gaps::default().step(), None);
    }
}
