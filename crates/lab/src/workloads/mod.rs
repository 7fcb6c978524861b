//! The list of workloads.

mod array_sum;
mod compute;
mod mixed;

/// A built-in program. Work grows in proportion to its `amount`, so that a true ratio between two
/// amounts is known in advance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Workload {
    /// A dependent chain of shifts and exclusive-ors: the core alone, no memory.
    Compute,
    /// Sums of a 4 MB array of 32-bit integers: caches and page placement.
    ArraySum,
    /// Allocation, sorting, hashing and a file read: a bit of everything.
    Mixed,
}

impl Workload {
    /// Every workload.
    pub const ALL: [Self; 3] = [Self::Compute, Self::ArraySum, Self::Mixed];

    /// Returns the name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Compute => "compute",
            Self::ArraySum => "array-sum",
            Self::Mixed => "mixed",
        }
    }

    /// Reads the name that [`Workload::name`] writes.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|workload| workload.name() == name)
    }

    /// Returns one sentence for help texts.
    pub fn description(self) -> &'static str {
        match self {
            Self::Compute => "a dependent chain of shifts and exclusive-ors; no memory traffic",
            Self::ArraySum => "sums of a 4 MB array of 32-bit integers",
            Self::Mixed => "allocation, sorting, hashing and reading a file",
        }
    }

    /// Returns the amount that takes roughly 20 ms on a machine of 2026.
    pub fn default_amount(self) -> u64 {
        match self {
            Self::Compute => 10_000,
            Self::ArraySum => 100,
            Self::Mixed => 1_000,
        }
    }

    /// Does the work and returns a checksum, so that no compiler can drop it and a test can see
    /// that it was done.
    pub fn run(self, amount: u64) -> u64 {
        match self {
            Self::Compute => compute::run(amount),
            Self::ArraySum => array_sum::run(amount),
            Self::Mixed => mixed::run(amount),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_workload_gives_the_same_checksum_each_time_and_another_for_another_amount() {
        for workload in Workload::ALL {
            let amount = workload.default_amount() / 50;
            assert_eq!(workload.run(amount), workload.run(amount), "{}", workload.name());
            assert_ne!(workload.run(amount), workload.run(amount + 1), "{}", workload.name());
            assert_eq!(Workload::from_name(workload.name()), Some(workload));
        }
    }
}
