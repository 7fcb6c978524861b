//! Which CPUs lose less time, as far as one probe can tell.

use becalm_model::CpuId;
use becalm_stats::mean_interval::mean_interval;
use becalm_stats::{Interval, Sample};

/// Confidence of the interval of each CPU.
const CONFIDENCE: f64 = 0.95;

/// CPUs that differ by less of their time than this are equal for every benchmark.
const MATERIAL: f64 = 1e-4;

/// One CPU in the order of the time that it loses.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ranked {
    /// The CPU.
    pub cpu: CpuId,
    /// 0 for the quietest CPUs. CPUs of one tier cannot be distinguished.
    pub tier: usize,
    /// Share of the time that was lost: all that was lost over all that was watched.
    pub share: f64,
    /// Interval of the mean share of its windows, moved to that share, and not below 0; `None` for a
    /// single window.
    pub interval: Option<Interval>,
}

/// What was seen on one CPU: the share that it lost of all its time, and that of each window.
#[derive(Debug, Clone, PartialEq)]
pub struct Shares {
    /// The CPU.
    pub cpu: CpuId,
    /// Of all time together. Windows are not equally long, so that their mean is another figure.
    pub whole: f64,
    /// Of each window.
    pub windows: Vec<f64>,
}

/// Ranks CPUs by the share of time that they lost, the quietest first. CPUs without a window are left
/// out.
///
/// A new tier begins where a CPU's interval lies wholly above that of the first CPU of the tier
/// before it, by an amount that matters. Intervals that do not overlap are a stricter test than a
/// difference that excludes zero (Schenker and Gentleman, *The American Statistician* 55, 2001),
/// which leaves room for the number of CPUs. A rare long gap makes the interval wide and thus ties:
/// one probe has not seen enough of them.
pub fn rank(shares: &[Shares]) -> Vec<Ranked> {
    let mut ranked: Vec<Ranked> = shares.iter().filter_map(one).collect();
    ranked.sort_by(|a, b| a.share.total_cmp(&b.share).then(a.cpu.cmp(&b.cpu)));
    let mut tier = 0;
    let Some(mut first) = ranked.first().copied() else { return ranked };
    for cpu in &mut ranked {
        if is_noisier(cpu, &first) {
            tier += 1;
            first = *cpu;
        }
        cpu.tier = tier;
    }
    ranked
}

fn one(shares: &Shares) -> Option<Ranked> {
    let sample = Sample::new(shares.windows.clone()).ok()?;
    let moved = shares.whole - becalm_stats::center::mean(&sample);
    let interval = mean_interval(&sample, CONFIDENCE).map(|interval| Interval {
        estimate: shares.whole,
        low: (interval.low + moved).max(0.0),
        high: interval.high + moved,
    });
    Some(Ranked { cpu: shares.cpu, tier: 0, share: shares.whole, interval })
}

fn is_noisier(cpu: &Ranked, than: &Ranked) -> bool {
    let (Some(one), Some(other)) = (cpu.interval, than.interval) else { return false };
    one.low > other.high && cpu.share - than.share >= MATERIAL
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(shares: &[(u32, &[f64])], expected: &[(u32, usize)]) {
        let shares: Vec<Shares> = shares
            .iter()
            .map(|(cpu, windows)| {
                let whole = windows.iter().sum::<f64>() / windows.len().max(1) as f64;
                Shares { cpu: CpuId(*cpu), whole, windows: windows.to_vec() }
            })
            .collect();
        let found: Vec<_> = rank(&shares).iter().map(|one| (one.cpu.0, one.tier)).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn cpus_that_clearly_lose_more_are_of_a_lower_tier() {
        check(
            &[(0, &[0.021, 0.019, 0.020, 0.020]), (1, &[0.001, 0.002, 0.001, 0.002])],
            &[(1, 0), (0, 1)],
        );
        check(
            &[
                (0, &[0.05, 0.051, 0.049]),
                (1, &[0.001, 0.0011, 0.0009]),
                (2, &[0.01, 0.011, 0.009]),
                (3, &[0.001, 0.0012, 0.0009]),
            ],
            &[(1, 0), (3, 0), (2, 1), (0, 2)],
        );
    }

    #[test]
    fn one_rare_stall_does_not_make_a_cpu_noisier() {
        check(
            &[(0, &[0.001, 0.001, 0.4, 0.001, 0.001]), (1, &[0.001, 0.001, 0.001, 0.002, 0.001])],
            &[(1, 0), (0, 0)],
        );
    }

    #[test]
    fn a_difference_too_small_to_matter_is_none() {
        check(&[(0, &[3e-5, 3.1e-5, 3e-5]), (1, &[1e-5, 1.1e-5, 1e-5])], &[(1, 0), (0, 0)]);
    }

    #[test]
    fn a_single_window_ranks_and_tells_nothing_apart() {
        check(&[(0, &[0.5]), (1, &[0.1])], &[(1, 0), (0, 0)]);
        check(&[(0, &[])], &[]);
        check(&[], &[]);
    }

    #[test]
    fn equal_cpus_keep_the_order_of_their_numbers() {
        check(&[(3, &[0.0, 0.0]), (1, &[0.0, 0.0])], &[(1, 0), (3, 0)]);
    }

    #[test]
    fn the_share_is_that_of_all_the_time_whatever_the_windows() {
        // A long window that lost little and a short one that lost much.
        let shares = Shares { cpu: CpuId(0), whole: 0.1, windows: vec![0.05, 0.45] };
        let ranked = rank(&[shares])[0];
        let interval = ranked.interval.unwrap();
        assert_eq!((ranked.share, interval.estimate), (0.1, 0.1));
        assert!(interval.contains(0.1) && interval.low >= 0.0);
    }
}
