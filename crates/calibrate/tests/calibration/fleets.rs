//! Intervals over a few machines.

use becalm_calibrate::fleets::TYPES;
use becalm_calibrate::rate::clopper_pearson;

#[test]
fn fleets_of_equal_programs_are_seldom_called_different() {
    const FLEETS: u32 = 600;
    for one in TYPES {
        for machines in [2, 3, 8] {
            for ratio in [1.0, 1.05] {
                let missed = one.misses(machines, ratio, (FLEETS, 5));
                let rate = clopper_pearson(missed, u64::from(FLEETS), 0.999);
                assert!(
                    rate.low <= 0.05,
                    "{}, {machines} machines: {missed} of {FLEETS}",
                    one.name
                );
            }
        }
    }
}
