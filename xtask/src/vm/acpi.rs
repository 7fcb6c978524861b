//! ACPI tables that give the processors of a guest what QEMU does not: performance states, idle
//! states, CPPC.
//!
//! QEMU names its processors `\_SB.CPUS.Cnnn`. Sections are those of the ACPI specification 6.5.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::Result;

use crate::workspace::capture;

/// One thing that a table describes for every CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Power {
    /// `_PCT`, `_PSS` (8.4.5): six frequencies, set through an I/O port. Linux: acpi-cpufreq.
    States,
    /// The same by the P-state register of AMD, for a QEMU that has it.
    AmdStates,
    /// `_PSD` (8.4.5.5): two neighbouring CPUs share their frequency.
    SharedByTwo,
    /// `_CST` (8.4.1.1): three idle states, all entered by HLT, so that the guest's clock goes on.
    Idle,
    /// `_CPC` (8.4.6.1): CPPC registers in memory. Linux: amd-pstate.
    Cppc,
}

/// Where the CPPC registers lie: memory of the guest that its kernel is told not to use.
pub(super) const CPPC_MEMORY: u64 = 0x1ff0_0000;

/// The I/O port of the performance states. Nothing answers there; what is read back is all ones,
/// which acpi-cpufreq does not ask for.
const PORT: u16 = 0x540;

/// Frequency in MHz and power in mW. The first is what firmware lists for turbo: one above nominal.
const STATES: [(u32, u32); 6] =
    [(3001, 60000), (3000, 40000), (2400, 30000), (1800, 20000), (1200, 12000), (800, 8000)];

/// What the P-state register of an AMD processor can name, in a patched QEMU.
const AMD_STATES: [(u32, u32); 3] = [(3000, 40000), (2400, 30000), (1800, 20000)];

/// The file that [`compile`] makes.
pub(super) const TABLE: &str = "power.aml";

/// Writes and compiles the table.
pub(super) fn compile(folder: &Path, n_cpus: usize, powers: &[Power]) -> Result<()> {
    let source = folder.join("power.asl");
    fs::write(&source, text(n_cpus, powers))?;
    capture(Command::new("iasl").arg("-p").arg(folder.join("power")).arg(&source)).map(drop)
}

/// Returns the source of the table.
pub(super) fn text(n_cpus: usize, powers: &[Power]) -> String {
    let mut text =
        String::from("DefinitionBlock (\"\", \"SSDT\", 2, \"BECALM\", \"POWER\", 1)\n{\n");
    for cpu in 0..n_cpus {
        let _ = writeln!(text, "  External (\\_SB.CPUS.C{cpu:03X}, ProcessorObj)");
    }
    if powers.contains(&Power::Cppc) {
        // The kernel asks through _OSC whether the platform knows CPPC; yes to everything.
        text.push_str("  Scope (\\_SB) { Method (_OSC, 4) { Return (Arg3) } }\n");
    }
    for cpu in 0..n_cpus {
        let _ = writeln!(text, "  Scope (\\_SB.CPUS.C{cpu:03X}) {{");
        for power in powers {
            let described = match power {
                Power::States => {
                    performance(&STATES, &register("SystemIO", 8, PORT.into()), |state| {
                        // The value written tells the CPU and the state.
                        0x40 + (cpu << 4) + state
                    })
                }
                Power::AmdStates => {
                    performance(&AMD_STATES, &register("FFixedHW", 0, 0), |state| state)
                }
                Power::SharedByTwo => {
                    // 0xFD: the kernel may set it on any CPU of the domain.
                    format!(
                        "    Name (_PSD, Package(1) {{ Package(5) {{ 5, 0, {}, 0xFD, 2 }} }})\n",
                        cpu / 2
                    )
                }
                Power::Idle => idle(),
                Power::Cppc => cppc(cpu),
            };
            text.push_str(&described);
        }
        text.push_str("  }\n");
    }
    text.push_str("}\n");
    text
}

fn register(space: &str, bits: u32, address: u64) -> String {
    // The last field is the access size: 3 is 32 bits, which CPPC in memory must state. A register
    // of no width is the specification's way to say that there is none, and has no access size.
    let access = if space == "SystemMemory" && bits > 0 { ", 3" } else { "" };
    format!("ResourceTemplate() {{ Register({space}, {bits}, 0, 0x{address:016X}{access}) }}")
}

fn performance(states: &[(u32, u32)], register: &str, value: impl Fn(usize) -> usize) -> String {
    let rows: Vec<String> = states
        .iter()
        .enumerate()
        .map(|(index, (mhz, milliwatt))| {
            let value = value(index);
            format!("Package(6) {{ {mhz}, {milliwatt}, 10, 10, {value}, {value} }}")
        })
        .collect();
    format!(
        "    Name (_PCT, Package(2) {{ {register}, {register} }})\n    \
         Name (_PSS, Package({}) {{ {} }})\n    Method (_PPC, 0) {{ Return (0) }}\n",
        states.len(),
        rows.join(", ")
    )
}

fn idle() -> String {
    let halt = register("FFixedHW", 0, 0);
    // Type, latency and power; all of type 1, so that Linux halts and does not read a port.
    let states: Vec<String> = [(1, 1000), (50, 500), (200, 100)]
        .iter()
        .map(|(latency, power)| format!("Package(4) {{ {halt}, 1, {latency}, {power} }}"))
        .collect();
    format!("    Name (_CST, Package(4) {{ 3, {} }})\n", states.join(", "))
}

fn cppc(cpu: usize) -> String {
    let base = CPPC_MEMORY + u64::try_from(cpu).unwrap_or(0) * 0x100;
    let at = |offset, bits| register("SystemMemory", bits, base + offset);
    let none = register("SystemMemory", 0, 0);
    let entries = [
        // Number of entries and revision; performance: highest, nominal, lowest nonlinear, lowest.
        "23".to_owned(),
        "3".to_owned(),
        "255".to_owned(),
        "128".to_owned(),
        "64".to_owned(),
        "32".to_owned(),
        // Guaranteed; desired, minimum, maximum.
        none.clone(),
        at(0x00, 32),
        at(0x04, 32),
        at(0x08, 32),
        // Reduction tolerance, time window, counter wraparound.
        none.clone(),
        none.clone(),
        none.clone(),
        // Counters: reference, delivered.
        at(0x10, 64),
        at(0x18, 64),
        // Limited; enable; autonomous selection, its window; energy performance preference.
        at(0x20, 32),
        at(0x24, 32),
        at(0x28, 32),
        none.clone(),
        at(0x2c, 32),
        // Reference performance; lowest and nominal frequency in MHz.
        none,
        "400".to_owned(),
        "2200".to_owned(),
    ];
    format!("    Name (_CPC, Package({}) {{ {} }})\n", entries.len(), entries.join(",\n      "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cpu_gets_what_was_asked_for() {
        let text = text(2, &[Power::States, Power::SharedByTwo, Power::Idle]);
        assert_eq!(text.matches("_PSS").count(), 2);
        assert_eq!(text.matches("_PSD").count(), 2);
        assert_eq!(text.matches("_CST").count(), 2);
        assert!(text.contains("Package(6) { 800, 8000, 10, 10, 85, 85 }"), "{text}");
        assert_eq!(text.matches('{').count(), text.matches('}').count());
    }

    #[test]
    fn the_cppc_package_counts_itself() {
        let text = cppc(3);
        assert!(text.contains("Package(23) { 23,\n"), "{text}");
        assert!(text.contains("0x000000001FF00300"), "{text}");
    }
}
