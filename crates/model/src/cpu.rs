//! CPU numbers and sets of them, in the kernel's own list format.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use crate::as_text::as_text;

/// A logical CPU as the kernel numbers it; numbers can have holes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CpuId(pub u32);

impl fmt::Display for CpuId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A set of CPUs, read and written as a kernel CPU list such as `0-3,8` or `0-30:2/4`.
///
/// Source of the grammar: `Documentation/admin-guide/kernel-parameters.rst`, "cpu lists".
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CpuSet(BTreeSet<CpuId>);

/// Largest CPU number accepted: the kernel's own limit is 8192 (`NR_CPUS` with `MAXSMP`).
pub const MAX_CPU: u32 = 8191;

/// Why a text is not a CPU list.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CpuListError {
    /// A part between commas is neither a number nor a range.
    #[error("`{0}` in a CPU list is not a number, a range `a-b` or a stride `a-b:used/group`")]
    Part(String),
    /// A range runs backwards.
    #[error("the range `{0}` in a CPU list ends before it starts")]
    Backwards(String),
    /// A number beyond what any kernel supports.
    #[error("CPU {0} is beyond the largest number a kernel supports ({MAX_CPU})")]
    TooLarge(u64),
}

impl CpuSet {
    /// Returns the set with no CPU.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a CPU; says whether it was new.
    pub fn insert(&mut self, cpu: CpuId) -> bool {
        self.0.insert(cpu)
    }

    /// Says whether `cpu` is in the set.
    pub fn contains(&self, cpu: CpuId) -> bool {
        self.0.contains(&cpu)
    }

    /// Returns how many CPUs are in the set.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Says whether the set has no CPU.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Goes through the CPUs in rising order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = CpuId> + '_ {
        self.0.iter().copied()
    }

    /// Returns the lowest CPU, if any.
    pub fn first(&self) -> Option<CpuId> {
        self.0.first().copied()
    }

    /// Writes them with their noun: `CPU 3`, `CPUs 0-3`.
    pub fn named(&self) -> String {
        format!("{} {self}", if self.len() == 1 { "CPU" } else { "CPUs" })
    }

    /// Returns the CPUs in both sets.
    #[must_use]
    pub fn intersection(&self, other: &Self) -> Self {
        Self(self.0.intersection(&other.0).copied().collect())
    }

    /// Returns the CPUs of this set that are not in `other`.
    #[must_use]
    pub fn difference(&self, other: &Self) -> Self {
        Self(self.0.difference(&other.0).copied().collect())
    }

    /// Returns the CPUs in either set.
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        Self(self.0.union(&other.0).copied().collect())
    }
}

impl FromIterator<CpuId> for CpuSet {
    fn from_iter<T: IntoIterator<Item = CpuId>>(iter: T) -> Self {
        Self(iter.into_iter().collect())
    }
}

impl FromStr for CpuSet {
    type Err = CpuListError;

    fn from_str(text: &str) -> Result<Self, CpuListError> {
        let mut set = Self::new();
        for part in text.trim().split(',').map(str::trim).filter(|part| !part.is_empty()) {
            let (range, stride) = match part.split_once(':') {
                Some((range, stride)) => (range, Some(stride)),
                None => (part, None),
            };
            let (low, high) = match range.split_once('-') {
                Some((low, high)) => (number(low, part)?, number(high, part)?),
                None => (number(range, part)?, number(range, part)?),
            };
            let (used, group) = match stride {
                None => (1, 1),
                Some(stride) => {
                    let (used, group) =
                        stride.split_once('/').ok_or_else(|| CpuListError::Part(part.into()))?;
                    (number(used, part)?, number(group, part)?)
                }
            };
            if low > high {
                return Err(CpuListError::Backwards(part.into()));
            }
            if used == 0 || group < used {
                return Err(CpuListError::Part(part.into()));
            }
            for cpu in low..=high {
                if (cpu - low) % group < used {
                    set.insert(CpuId(cpu));
                }
            }
        }
        Ok(set)
    }
}

fn number(text: &str, part: &str) -> Result<u32, CpuListError> {
    let value: u64 = text.trim().parse().map_err(|_| CpuListError::Part(part.into()))?;
    match u32::try_from(value) {
        Ok(value) if value <= MAX_CPU => Ok(value),
        _ => Err(CpuListError::TooLarge(value)),
    }
}

impl fmt::Display for CpuSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut cpus = self.0.iter().map(|cpu| cpu.0).peekable();
        let mut separator = "";
        while let Some(low) = cpus.next() {
            let mut high = low;
            while let Some(next) = cpus.next_if(|&next| next == high + 1) {
                high = next;
            }
            if low == high {
                write!(f, "{separator}{low}")?;
            } else {
                write!(f, "{separator}{low}-{high}")?;
            }
            separator = ",";
        }
        Ok(())
    }
}

as_text!(CpuSet);

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let shown = match text.parse::<CpuSet>() {
            Ok(set) => set.to_string(),
            Err(error) => format!("error: {error}"),
        };
        assert_eq!(shown, expected);
    }

    #[test]
    fn lists_ranges_and_strides_are_read() {
        check("0-3,8\n", "0-3,8");
        check("", "");
        check("3,1,2", "1-3");
        check("0-7:1/2", "0,2,4,6");
        check("0-7:2/4", "0-1,4-5");
    }

    #[test]
    fn a_bad_list_names_its_bad_part() {
        check(
            "0,x",
            "error: `x` in a CPU list is not a number, a range `a-b` or a stride `a-b:used/group`",
        );
        check("3-1", "error: the range `3-1` in a CPU list ends before it starts");
        check(
            "0-99999999",
            "error: CPU 99999999 is beyond the largest number a kernel supports (8191)",
        );
        check(
            "0-7:0/2",
            "error: `0-7:0/2` in a CPU list is not a number, a range `a-b` or a stride `a-b:used/group`",
        );
    }

    proptest! {
        #[test]
        fn a_set_survives_being_written_and_read(cpus in proptest::collection::btree_set(0_u32..300, 0..40)) {
            let set: CpuSet = cpus.into_iter().map(CpuId).collect();
            prop_assert_eq!(set.to_string().parse::<CpuSet>().unwrap(), set);
        }

        #[test]
        fn no_text_makes_the_parser_panic(text in "[-0-9,:/ax ]{0,40}") {
            let _ = text.parse::<CpuSet>();
        }
    }
}
