//! The counters of energy, read by whoever may read them.

use crate::SysRoot;
use crate::energy::{Counters, EnergyReading, NoEnergy};
use crate::steward::Steward;

/// Reads the counters of all packages.
#[derive(Debug)]
pub struct EnergyMeter(Source);

#[derive(Debug)]
enum Source {
    /// By files that this process has open.
    Files(Counters),
    /// By the process that holds root for this one.
    Steward(SysRoot),
}

impl EnergyMeter {
    /// Opens the counters of this machine.
    pub fn open(root: &SysRoot) -> Result<Self, NoEnergy> {
        let Some(mut steward) = Steward::of(root) else {
            return Counters::open(root).map(|counters| Self(Source::Files(counters)));
        };
        let first = steward.energy().map_err(|lost| NoEnergy::Unread(lost.to_string()))?;
        first.map(|_| Self(Source::Steward(root.clone())))
    }

    /// Reads all counters; `None` where one of them fails.
    pub fn read(&mut self) -> Option<EnergyReading> {
        match &mut self.0 {
            Source::Files(counters) => counters.read(),
            Source::Steward(root) => Steward::of(root)?.energy().ok()?.ok(),
        }
    }
}
