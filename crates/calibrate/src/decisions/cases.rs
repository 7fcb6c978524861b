//! Which programs are compared, in which order.

use becalm_stats::Rng;

use super::tally::{PerMille, RATIOS};

/// Names of the built-in workloads with amounts of about 20 ms that are multiples of 100, so that
/// every ratio gives a whole amount.
const WORKLOADS: [(&str, u64); 3] = [("compute", 10_000), ("array-sum", 100), ("mixed", 1_000)];

/// One pair of programs that all tools compare.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Case {
    /// Name of the workload of both.
    pub workload: &'static str,
    /// Amount of work of the baseline.
    pub amount: u64,
    /// True ratio: so much more the candidate does.
    pub ratio: PerMille,
}

/// Returns the sequence of trials: blocks of every workload with every ratio, each in random order,
/// so that a longer sequence begins like a shorter one.
pub fn cases(per_ratio: u32, seed: u64) -> Vec<Case> {
    let mut rng = Rng::new(seed);
    let n_blocks = (per_ratio as usize).div_ceil(WORKLOADS.len());
    let block = WORKLOADS
        .iter()
        .flat_map(|&(workload, amount)| RATIOS.map(|ratio| Case { workload, amount, ratio }));
    let block: Vec<Case> = block.collect();
    std::iter::repeat_n(block, n_blocks)
        .flat_map(|mut block| {
            rng.shuffle(&mut block);
            block
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_ratio_gets_its_trials_and_a_longer_plan_begins_like_a_shorter_one() {
        let (short, long) = (cases(30, 7), cases(200, 7));
        assert_eq!(short.len(), 120);
        assert_eq!(long[..120], short);
        for ratio in RATIOS {
            assert_eq!(short.iter().filter(|case| case.ratio == ratio).count(), 30);
        }
        assert_ne!(cases(30, 8), short);
    }

    #[test]
    fn every_ratio_gives_a_whole_amount() {
        for (workload, amount) in WORKLOADS {
            for ratio in RATIOS {
                assert_eq!(amount * u64::from(ratio) % 1000, 0, "{workload} {ratio}");
            }
        }
    }
}
