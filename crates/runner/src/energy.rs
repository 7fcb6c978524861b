//! The energy that the processor used during each run.

use becalm_machine::{EnergyMeter, EnergyReading, SHORTEST_ENERGY};
use becalm_model::metric::ENERGY;
use becalm_model::{Metric, Unit};

/// Reads the counters of energy around runs that are long enough for them.
#[derive(Debug)]
pub struct RunEnergy {
    meter: EnergyMeter,
    /// Whether the latest run of each subject was long enough for a reading to be worth its time.
    is_long: Vec<bool>,
}

impl RunEnergy {
    /// Takes the meter for the runs of so many subjects.
    pub fn new(meter: EnergyMeter, subjects: usize) -> Self {
        Self { meter, is_long: vec![true; subjects] }
    }

    /// Returns the metric that the runs get.
    pub fn metric() -> Metric {
        Metric::lower(ENERGY, Unit::Named("J".to_owned()))
    }

    /// Reads the counters before a run of a subject, unless its last one was much too short.
    pub(crate) fn before_run(&mut self, subject: usize) -> Option<EnergyReading> {
        if self.is_long[subject] { self.meter.read() } else { None }
    }

    /// Returns the joules since the reading `before` a run of a subject that took `wall` seconds; `None` where it was
    /// too short for the counters.
    pub(crate) fn after_run(
        &mut self,
        subject: usize,
        before: Option<&EnergyReading>,
        wall: f64,
    ) -> Option<f64> {
        // One that is a little too short may be followed by one that is not.
        self.is_long[subject] = wall * 2.0 >= SHORTEST_ENERGY.as_secs_f64();
        if wall < SHORTEST_ENERGY.as_secs_f64() {
            return None;
        }
        self.meter.read()?.joules_since(before?)
    }
}

#[cfg(test)]
mod tests {
    use becalm_machine::SysRoot;
    use becalm_testkit::FakeTree;

    use super::*;

    #[test]
    fn runs_that_are_too_short_get_no_value_and_are_not_read_again_and_again() {
        let zone = "/sys/class/powercap/intel-rapl:0";
        let tree = FakeTree::new()
            .file(format!("{zone}/name"), "package-0\n")
            .file(format!("{zone}/energy_uj"), "17\n")
            .file(format!("{zone}/max_energy_range_uj"), "262143328850\n");
        let meter = EnergyMeter::open(&SysRoot::new(tree.path())).unwrap();
        let mut energy = RunEnergy::new(meter, 2);
        let before = energy.before_run(0);
        assert!(before.is_some());
        assert_eq!(energy.after_run(0, before.as_ref(), 0.001), None);
        assert_eq!(energy.before_run(0), None);
        assert!(energy.before_run(1).is_some(), "another subject");
        assert_eq!(energy.after_run(0, None, 0.5), None);
        assert!(energy.before_run(0).is_some(), "it has become longer");
    }
}
