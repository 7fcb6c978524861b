//! Who designed a CPU, and which of the designer's cores it is.
//!
//! Only Arm machines mix cores of several names in one `/proc/cpuinfo`; the register `MIDR_EL1` says
//! the same for each CPU, also for those that are not in the text.

use std::collections::BTreeMap;

use becalm_model::{CpuId, CpuSet};

use crate::sysroot::SysRoot;

/// Who designed the CPUs, as far as the kinds of cores depend on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Designer {
    Intel,
    Amd,
    Other,
}

/// What the CPUs are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Parts {
    pub(super) designer: Designer,
    /// Implementer and part of every online CPU; empty unless all are known.
    arm: BTreeMap<CpuId, Part>,
}

/// An Arm core design.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Part {
    implementer: u64,
    part: u64,
}

impl Parts {
    pub(super) fn read(root: &SysRoot, online: &CpuSet) -> Self {
        let cpuinfo = root.read("/proc/cpuinfo").value().unwrap_or_default();
        let listed = listed_parts(&cpuinfo);
        let part = |cpu: CpuId| {
            let path = format!("/sys/devices/system/cpu/cpu{cpu}/regs/identification/midr_el1");
            let register = root.read(path).value().and_then(|text| hexadecimal(&text));
            let part = register.map(Part::of_register).or_else(|| listed.get(&cpu).copied())?;
            Some((cpu, part))
        };
        let arm = online.iter().map(part).collect::<Option<_>>().unwrap_or_default();
        Self { designer: designer(&cpuinfo), arm }
    }

    /// Returns the design of a CPU, where it is known for all of them.
    pub(super) fn part(&self, cpu: CpuId) -> Option<Part> {
        self.arm.get(&cpu).copied()
    }
}

impl Part {
    /// Reads the fields of `MIDR_EL1`: implementer in bits 31-24, part in bits 15-4.
    fn of_register(value: u64) -> Self {
        Self { implementer: value >> 24 & 0xff, part: value >> 4 & 0xfff }
    }

    /// Returns the name by which the designer sells it.
    pub(super) fn name(self) -> String {
        let known = NAMES
            .iter()
            .find(|(implementer, part, _)| (*implementer, *part) == (self.implementer, self.part));
        match known {
            Some((_, _, name)) => (*name).to_owned(),
            None => format!("core {:#x} of implementer {:#x}", self.part, self.implementer),
        }
    }
}

fn designer(cpuinfo: &str) -> Designer {
    let vendor = cpuinfo.lines().find(|line| line.starts_with("vendor_id"));
    match vendor.and_then(|line| Some(line.split_once(':')?.1.trim())) {
        Some("GenuineIntel") => Designer::Intel,
        Some("AuthenticAMD" | "HygonGenuine") => Designer::Amd,
        _ => Designer::Other,
    }
}

/// Reads `CPU implementer` and `CPU part` of each numbered entry.
fn listed_parts(cpuinfo: &str) -> BTreeMap<CpuId, Part> {
    let mut parts = BTreeMap::new();
    let (mut cpu, mut implementer) = (None, None);
    for line in cpuinfo.lines() {
        let Some((key, value)) = line.split_once(':') else { continue };
        match key.trim() {
            "processor" => (cpu, implementer) = (value.trim().parse().ok().map(CpuId), None),
            "CPU implementer" => implementer = hexadecimal(value),
            "CPU part" => {
                if let (Some(cpu), Some(implementer), Some(part)) =
                    (cpu, implementer, hexadecimal(value))
                {
                    parts.insert(cpu, Part { implementer, part });
                }
            }
            _ => {}
        }
    }
    parts
}

fn hexadecimal(text: &str) -> Option<u64> {
    u64::from_str_radix(text.trim().strip_prefix("0x")?, 16).ok()
}

/// Designs that are built into machines with several kinds of cores, or into servers, by the numbers
/// in the designers' reference manuals.
const NAMES: [(u64, u64, &str); 70] = [
    (0x41, 0xc05, "Cortex-A5"),
    (0x41, 0xc07, "Cortex-A7"),
    (0x41, 0xc08, "Cortex-A8"),
    (0x41, 0xc09, "Cortex-A9"),
    (0x41, 0xc0d, "Cortex-A17"),
    (0x41, 0xc0e, "Cortex-A17"),
    (0x41, 0xc0f, "Cortex-A15"),
    (0x41, 0xd02, "Cortex-A34"),
    (0x41, 0xd03, "Cortex-A53"),
    (0x41, 0xd04, "Cortex-A35"),
    (0x41, 0xd05, "Cortex-A55"),
    (0x41, 0xd06, "Cortex-A65"),
    (0x41, 0xd07, "Cortex-A57"),
    (0x41, 0xd08, "Cortex-A72"),
    (0x41, 0xd09, "Cortex-A73"),
    (0x41, 0xd0a, "Cortex-A75"),
    (0x41, 0xd0b, "Cortex-A76"),
    (0x41, 0xd0c, "Neoverse-N1"),
    (0x41, 0xd0d, "Cortex-A77"),
    (0x41, 0xd0e, "Cortex-A76AE"),
    (0x41, 0xd40, "Neoverse-V1"),
    (0x41, 0xd41, "Cortex-A78"),
    (0x41, 0xd42, "Cortex-A78AE"),
    (0x41, 0xd43, "Cortex-A65AE"),
    (0x41, 0xd44, "Cortex-X1"),
    (0x41, 0xd46, "Cortex-A510"),
    (0x41, 0xd47, "Cortex-A710"),
    (0x41, 0xd48, "Cortex-X2"),
    (0x41, 0xd49, "Neoverse-N2"),
    (0x41, 0xd4a, "Neoverse-E1"),
    (0x41, 0xd4b, "Cortex-A78C"),
    (0x41, 0xd4c, "Cortex-X1C"),
    (0x41, 0xd4d, "Cortex-A715"),
    (0x41, 0xd4e, "Cortex-X3"),
    (0x41, 0xd4f, "Neoverse-V2"),
    (0x41, 0xd80, "Cortex-A520"),
    (0x41, 0xd81, "Cortex-A720"),
    (0x41, 0xd82, "Cortex-X4"),
    (0x41, 0xd83, "Neoverse-V3AE"),
    (0x41, 0xd84, "Neoverse-V3"),
    (0x41, 0xd85, "Cortex-X925"),
    (0x41, 0xd87, "Cortex-A725"),
    (0x41, 0xd88, "Cortex-A520AE"),
    (0x41, 0xd89, "Cortex-A720AE"),
    (0x41, 0xd8e, "Neoverse-N3"),
    (0x41, 0xd8f, "Cortex-A320"),
    (0x48, 0xd01, "TaiShan-V110"),
    (0x48, 0xd02, "TaiShan-V120"),
    (0x4e, 0x003, "Denver-2"),
    (0x4e, 0x004, "Carmel"),
    (0x51, 0x001, "Oryon"),
    (0x51, 0x211, "Kryo"),
    (0x51, 0x800, "Kryo-2XX-Gold"),
    (0x51, 0x801, "Kryo-2XX-Silver"),
    (0x51, 0x802, "Kryo-3XX-Gold"),
    (0x51, 0x803, "Kryo-3XX-Silver"),
    (0x51, 0x804, "Kryo-4XX-Gold"),
    (0x51, 0x805, "Kryo-4XX-Silver"),
    (0x61, 0x022, "Icestorm"),
    (0x61, 0x023, "Firestorm"),
    (0x61, 0x024, "Icestorm"),
    (0x61, 0x025, "Firestorm"),
    (0x61, 0x028, "Icestorm"),
    (0x61, 0x029, "Firestorm"),
    (0x61, 0x032, "Blizzard"),
    (0x61, 0x033, "Avalanche"),
    (0x61, 0x034, "Blizzard"),
    (0x61, 0x035, "Avalanche"),
    (0xc0, 0xac3, "Ampere-1"),
    (0xc0, 0xac4, "Ampere-1a"),
];

#[cfg(test)]
mod tests {
    use super::*;
    use becalm_testkit::FakeTree;

    #[test]
    fn the_register_and_the_text_name_the_same_core() {
        let tree = FakeTree::new()
            .file(
                "/sys/devices/system/cpu/cpu0/regs/identification/midr_el1",
                "0x00000000411fd461\n",
            )
            .file("/proc/cpuinfo", "processor\t: 7\nCPU implementer\t: 0x41\nCPU part\t: 0xd4e\n");
        let root = SysRoot::new(tree.path());
        let parts = Parts::read(&root, &"0,7".parse().unwrap());
        let name = |cpu| parts.part(CpuId(cpu)).map(Part::name);
        assert_eq!((name(0), name(7)), (Some("Cortex-A510".into()), Some("Cortex-X3".into())));
        assert_eq!(Parts::read(&root, &"0,3,7".parse().unwrap()).part(CpuId(0)), None);
        let unknown = Part { implementer: 0x70, part: 0x662 };
        assert_eq!(unknown.name(), "core 0x662 of implementer 0x70");
    }

    #[test]
    fn the_vendor_is_that_of_the_first_cpu() {
        assert_eq!(designer("processor: 0\nvendor_id\t: AuthenticAMD\n"), Designer::Amd);
        assert_eq!(designer("processor: 0\n"), Designer::Other);
    }
}
