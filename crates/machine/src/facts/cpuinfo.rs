//! `/proc/cpuinfo`: what the kernel says of the processors, a line for each fact.

use std::collections::BTreeSet;

use crate::sysroot::SysRoot;

/// The text of `/proc/cpuinfo`; empty if it cannot be read.
pub(crate) struct CpuInfo(String);

impl CpuInfo {
    /// Reads it.
    pub(crate) fn read(root: &SysRoot) -> Self {
        Self::of(root.read("/proc/cpuinfo").value().unwrap_or_default())
    }

    /// What a text says.
    pub(crate) fn of(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Returns what the first CPU that has a line for it says.
    pub(crate) fn value(&self, key: &str) -> Option<&str> {
        self.values(key).next()
    }

    fn values(&self, key: &str) -> impl Iterator<Item = &str> {
        self.0.lines().filter_map(move |line| {
            let (name, value) = line.split_once(':')?;
            (name.trim() == key && !value.trim().is_empty()).then(|| value.trim())
        })
    }

    /// Says whether the first CPU has one of x86's feature flags; `None` where the kernel names no flags, as on other
    /// architectures.
    pub(crate) fn has_flag(&self, flag: &str) -> Option<bool> {
        Some(self.value("flags")?.split_ascii_whitespace().any(|one| one == flag))
    }

    /// Returns the CPU's name; Arm kernels give numbers of the maker and the part instead, which may
    /// differ from core to core.
    pub(crate) fn model(&self) -> Option<String> {
        for key in ["model name", "cpu model", "cpu"] {
            if let Some(name) = self.value(key) {
                return Some(name.split_whitespace().collect::<Vec<_>>().join(" "));
            }
        }
        let implementer = self.value("CPU implementer")?;
        let parts: BTreeSet<&str> = self.values("CPU part").collect();
        let parts: Vec<&str> = parts.into_iter().collect();
        Some(format!("implementer {implementer}, part {}", parts.join(" and ")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_model_is_a_name_on_x86_and_numbers_on_arm() {
        let model = |text: &str| CpuInfo::of(text).model();
        let x86 = "processor\t: 0\nmodel name\t: Some  CPU @ 2.80GHz\n";
        assert_eq!(model(x86).as_deref(), Some("Some CPU @ 2.80GHz"));
        let arm = "processor: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd4d\n\nCPU part\t: 0xd46\n";
        assert_eq!(model(arm).as_deref(), Some("implementer 0x41, part 0xd46 and 0xd4d"));
        assert_eq!(model("processor: 0\n"), None);
    }

    #[test]
    fn a_flag_is_a_whole_word_of_the_line_of_flags() {
        let has = |text: &str, flag| CpuInfo::of(text).has_flag(flag);
        let x86 = "flags\t\t: fpu hwp_notify cat_l3\nbugs\t: hwp\nvmx flags\t: mba\n";
        assert_eq!(has(x86, "cat_l3"), Some(true));
        assert_eq!(has(x86, "hwp"), Some(false));
        assert_eq!(has(x86, "mba"), Some(false));
        assert_eq!(has("processor: 0\nFeatures\t: fp asimd\n", "fp"), None);
    }
}
