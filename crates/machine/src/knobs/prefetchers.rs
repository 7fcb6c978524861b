//! The hardware prefetchers of the measured CPUs, off by their registers.
//!
//! Only on request: programs become slower, by a factor for those that stream, and the kernel notes a write to a register that
//! it does not know (taint `S`) in its log. Only processors for which the maker has published the bits:
//! Intel, `MSR_MISC_FEATURE_CONTROL` (Software Developer's Manual, volume 4; not hybrid processors, whose E-cores
//! have other bits), AMD, `MSRC000_0108` (Processor Programming Reference for family 19h, models `10h` to `1Fh` and `A0h`
//! to `AFh`). Threads of a core share the register.

use becalm_model::Target;

use super::{Knob, Planner, Profile};
use crate::facts::CpuInfo;
use crate::tune::{parse_word, read_target, word_text};
use crate::{Reading, SysRoot};

pub(super) const PREFETCHERS: Knob = Knob {
    name: "prefetchers",
    summary: "no hardware prefetchers on the measured CPUs",
    reason: "what is prefetched depends on what ran before and beside it",
    profile: Profile::OnRequest,
    plan,
};

/// A register and the bits in it that switch prefetchers off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Switches {
    register: u32,
    bits: u64,
}

/// Prefetchers of the second-level cache (stream, adjacent line) and of the first (stream, by instruction).
const INTEL: Switches = Switches { register: 0x1a4, bits: 0b1111 };
/// Prefetchers of the first-level cache (stream, stride, region) and of the second (stream, up and down).
const AMD: Switches = Switches { register: 0xc000_0108, bits: 0b10_1111 };

/// Models of Intel's family 6 whose table of registers has the four bits: Nehalem to Sapphire Rapids.
const INTEL_MODELS: [u32; 36] = [
    0x1a, 0x1e, 0x1f, 0x2e, 0x25, 0x2c, 0x2f, 0x2a, 0x2d, 0x3a, 0x3e, 0x3c, 0x45, 0x46, 0x3f, 0x3d,
    0x47, 0x4f, 0x56, 0x4e, 0x5e, 0x55, 0x8e, 0x9e, 0xa5, 0xa6, 0x66, 0x6a, 0x6c, 0x7d, 0x7e, 0x8c,
    0x8d, 0xa7, 0x8f, 0xcf,
];

fn plan(planner: &mut Planner<'_>) {
    let situation = planner.situation;
    let root = situation.root;
    let Some(switches) = switches(&CpuInfo::read(root)) else {
        return planner.not_here(
            "no register that switches off the prefetchers is published for this processor",
        );
    };
    if let Some(why) = refusal(root) {
        return planner.refuse(why);
    }
    for cpu in situation.cpus.intersection(&situation.staying()).iter() {
        let target = Target::Register { cpu: cpu.0, register: switches.register };
        let old = match read_target(root, &target) {
            Reading::Absent => {
                let text =
                    format!("/dev/cpu/{cpu}/msr does not exist here: `modprobe msr` creates it");
                return planner.refuse(text);
            }
            reading => reading.of(&target),
        };
        let bits = |old: String| parse_word(&old).ok_or(format!("{target} contains `{old}`"));
        match old.and_then(bits) {
            Ok(old) if old & switches.bits == switches.bits => {
                planner.is_quiet(format!("{target} already has them off"));
            }
            Ok(old) => {
                let new = word_text(old | switches.bits);
                planner.add(planner.change(target, &word_text(old), Some(&new)));
            }
            Err(why) => planner.refuse(why),
        }
    }
}

/// Says why the kernel would let nobody write a register.
fn refusal(root: &SysRoot) -> Option<String> {
    let lockdown = root.read("/sys/kernel/security/lockdown").value();
    if lockdown.is_some_and(|text| !text.contains("[none]")) {
        return Some(
            "the kernel is locked down (as with secure boot) and does not allow writing registers"
                .to_owned(),
        );
    }
    let writes = root.read("/sys/module/msr/parameters/allow_writes").value();
    (writes.as_deref() == Some("off"))
        .then(|| "the module msr was loaded with allow_writes=off".to_owned())
}

/// Returns the switches of a processor, by what it is called; `None` where they are not published, and inside a virtual
/// machine, whose registers are imitated.
fn switches(cpuinfo: &CpuInfo) -> Option<Switches> {
    if cpuinfo.has_flag("hypervisor") == Some(true) {
        return None;
    }
    let family: u32 = cpuinfo.value("cpu family")?.parse().ok()?;
    let model: u32 = cpuinfo.value("model")?.parse().ok()?;
    match (cpuinfo.value("vendor_id")?, family, model) {
        ("GenuineIntel", 6, model) if INTEL_MODELS.contains(&model) => Some(INTEL),
        ("AuthenticAMD", 0x19, 0x10..=0x1f | 0xa0..=0xaf) => Some(AMD),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_processors_whose_bits_are_published_have_switches() {
        let check = |vendor: &str, family: u32, model: u32, flags: &str, expected| {
            let text = format!(
                "processor\t: 0\nvendor_id\t: {vendor}\ncpu family\t: {family}\nmodel\t\t: {model}\n\
                 model name\t: X\nflags\t\t: {flags}\n"
            );
            assert_eq!(switches(&CpuInfo::of(text.as_str())), expected, "{text}");
        };
        check("GenuineIntel", 6, 0x55, "fpu", Some(INTEL));
        check("GenuineIntel", 6, 0x55, "fpu hypervisor", None);
        // Alder Lake has cores of two kinds.
        check("GenuineIntel", 6, 0x97, "fpu", None);
        check("AuthenticAMD", 0x19, 0x11, "fpu", Some(AMD));
        check("AuthenticAMD", 0x19, 0x01, "fpu", None);
        assert_eq!(switches(&CpuInfo::of("processor: 0\nCPU implementer: 0x41\n")), None);
    }
}
