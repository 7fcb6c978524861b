//! The two ways in which the kernel writes a set of CPUs.
//!
//! Lists (`0-3,8`) are read by [`CpuSet`] itself. Kernels before 2.6.28 have masks only: words of
//! eight hexadecimal digits, the most significant first, with commas between them.

use std::path::Path;

use becalm_model::{CpuId, CpuSet, MAX_CPU};

use crate::sysroot::{Reading, SysRoot};

/// Reads a CPU list file. Drivers write `(null)` for a set that was never made.
pub(crate) fn read_list(root: &SysRoot, path: impl AsRef<Path>) -> Reading<CpuSet> {
    match root.read(path) {
        Reading::Value(text) if text.trim() == "(null)" => Reading::Value(CpuSet::new()),
        Reading::Value(text) => match text.parse() {
            Ok(set) => Reading::Value(set),
            Err(error) => Reading::Unreadable { reason: format!("{error}") },
        },
        other => other.map(|_| CpuSet::new()),
    }
}

/// Reads a file with a CPU mask.
pub(crate) fn read_mask(root: &SysRoot, path: impl AsRef<Path>) -> Reading<CpuSet> {
    match root.read(path) {
        Reading::Value(text) => match parse_mask(&text) {
            Some(set) => Reading::Value(set),
            None => Reading::Unreadable { reason: format!("`{text}` is not a mask of CPUs") },
        },
        other => other.map(|_| CpuSet::new()),
    }
}

/// Reads a mask such as `00000000,00000101`; `None` if it is none.
pub(crate) fn parse_mask(text: &str) -> Option<CpuSet> {
    let mut set = CpuSet::new();
    for (word, digits) in text.trim().split(',').rev().enumerate() {
        let bits = u32::from_str_radix(digits.trim(), 16).ok()?;
        for bit in (0..32).filter(|bit| bits >> bit & 1 == 1) {
            let cpu = u32::try_from(word).ok()?.checked_mul(32)?.checked_add(bit)?;
            if cpu > MAX_CPU {
                return None;
            }
            set.insert(CpuId(cpu));
        }
    }
    Some(set)
}

/// Writes a mask as the kernel reads it: words of eight hexadecimal digits.
pub(crate) fn mask_text(cpus: &CpuSet) -> String {
    let words = cpus.iter().last().map_or(0, |last| last.0 / 32) as usize + 1;
    let mut mask = vec![0_u32; words];
    for cpu in cpus.iter() {
        mask[(cpu.0 / 32) as usize] |= 1 << (cpu.0 % 32);
    }
    let words: Vec<String> = mask.iter().rev().map(|word| format!("{word:08x}")).collect();
    words.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_mask_counts_from_its_right_end() {
        let shown = |text| parse_mask(text).map(|set| set.to_string());
        assert_eq!(shown("00000000,00000101\n").as_deref(), Some("0,8"));
        assert_eq!(shown("1,80000000").as_deref(), Some("31-32"));
        assert_eq!(shown("f").as_deref(), Some("0-3"));
        assert_eq!(shown("0-3"), None);
        assert_eq!(shown(""), None);
    }

    proptest! {
        #[test]
        fn a_mask_reads_as_it_was_written(cpus in proptest::collection::btree_set(0_u32..200, 1..9)) {
            let cpus: CpuSet = cpus.into_iter().map(CpuId).collect();
            prop_assert_eq!(parse_mask(&mask_text(&cpus)), Some(cpus));
        }

        #[test]
        fn no_text_makes_the_mask_parser_panic(text in "[0-9a-f,\n x+-]{0,80}") {
            let _ = parse_mask(&text);
        }
    }
}
