//! The time-stamp counter of x86-64 processors.

#[cfg(target_arch = "x86_64")]
use std::arch::asm;

/// Reads the counter, after everything before this call and before everything behind it.
///
/// `LFENCE` waits for what was started earlier and holds back what follows (Intel, Software Developer's
/// Manual, volume 2, `RDTSC`); Linux makes it do so on AMD too.
#[cfg(target_arch = "x86_64")]
#[inline]
pub fn read() -> u64 {
    let (low, high): (u32, u32);
    // SAFETY: every x86-64 processor has both instructions, which change nothing but the two registers
    // named. Without `nomem`, so that the compiler moves no access to memory across it either.
    unsafe {
        asm!(
            "lfence",
            "rdtsc",
            "lfence",
            out("eax") low,
            out("edx") high,
            options(nostack, preserves_flags)
        );
    }
    u64::from(high) << 32 | u64::from(low)
}

/// Says whether the counter ticks at one rate in every state of frequency and sleep: CPUID leaf
/// 0x80000007, EDX bit 8 (Intel SDM volume 3, "Invariant TSC"; AMD APM volume 3, appendix E.4.7).
#[cfg(target_arch = "x86_64")]
pub fn is_invariant() -> bool {
    const HIGHEST: u32 = 0x8000_0000;
    const POWER: u32 = 0x8000_0007;
    const INVARIANT: u32 = 1 << 8;
    let [highest, ..] = cpuid(HIGHEST);
    highest >= POWER && cpuid(POWER)[3] & INVARIANT != 0
}

/// Returns EAX, EBX, ECX and EDX of a leaf of CPUID.
#[cfg(target_arch = "x86_64")]
fn cpuid(leaf: u32) -> [u32; 4] {
    let (eax, ebx, ecx, edx): (u32, u64, u32, u32);
    // SAFETY: every x86-64 processor has the instruction. It changes four registers: three are named,
    // and RBX, which the compiler keeps to itself, is put back.
    unsafe {
        asm!(
            "mov {kept:r}, rbx",
            "cpuid",
            "xchg {kept:r}, rbx",
            kept = out(reg) ebx,
            inout("eax") leaf => eax,
            inout("ecx") 0 => ecx,
            out("edx") edx,
            options(nostack, preserves_flags)
        );
    }
    [eax, u32::try_from(ebx).unwrap_or(u32::MAX), ecx, edx]
}

/// There is none, and nobody asks once [`is_invariant`] has said so.
#[cfg(not(target_arch = "x86_64"))]
pub fn read() -> u64 {
    0
}

/// There is none.
#[cfg(not(target_arch = "x86_64"))]
pub fn is_invariant() -> bool {
    false
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;

    #[test]
    fn the_counter_goes_on() {
        let earlier = read();
        assert!(read() > earlier);
    }

    #[test]
    fn every_processor_names_its_maker_in_printable_letters() {
        let [_, ebx, ecx, edx] = cpuid(0);
        let name: Vec<u8> = [ebx, edx, ecx].iter().flat_map(|word| word.to_le_bytes()).collect();
        assert!(name.iter().all(|byte| (b' '..=b'~').contains(byte)), "{name:?}");
    }
}
