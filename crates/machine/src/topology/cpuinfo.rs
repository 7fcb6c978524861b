//! What `/proc/cpuinfo` says about where a CPU sits, for machines whose `/sys` cannot be read.

use becalm_model::CpuId;

/// One entry of `/proc/cpuinfo`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CpuinfoEntry {
    pub(super) cpu: CpuId,
    /// `physical id` and `core id`, which x86 writes and Arm does not.
    pub(super) package_and_core: Option<(i64, i64)>,
}

/// Returns an entry for each `processor` line that holds a number.
///
/// Arm writes `Processor : ARMv7 ...` once for the machine before the numbered lines.
pub(super) fn places(text: &str) -> Vec<CpuinfoEntry> {
    let mut places: Vec<CpuinfoEntry> = Vec::new();
    let (mut package, mut core) = (None, None);
    for line in text.lines() {
        let Some((key, value)) = line.split_once(':') else { continue };
        let number = value.trim().parse::<i64>().ok();
        match (key.trim(), number) {
            ("processor", Some(number)) => {
                let Ok(number) = u32::try_from(number) else { continue };
                places.push(CpuinfoEntry { cpu: CpuId(number), package_and_core: None });
                (package, core) = (None, None);
            }
            ("physical id", _) => package = number,
            ("core id", _) => core = number,
            _ => continue,
        }
        if let (Some(place), Some(package), Some(core)) = (places.last_mut(), package, core) {
            place.package_and_core = Some((package, core));
        }
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn x86_says_where_a_cpu_sits() {
        let text = "processor\t: 3\nphysical id\t: 1\ncore id\t\t: 7\n\nprocessor\t: 4\n";
        assert_eq!(
            places(text),
            [
                CpuinfoEntry { cpu: CpuId(3), package_and_core: Some((1, 7)) },
                CpuinfoEntry { cpu: CpuId(4), package_and_core: None },
            ]
        );
    }

    #[test]
    fn arm_names_its_model_in_a_line_that_looks_like_a_cpu() {
        let text = "Processor\t: ARMv7 Processor rev 9\nprocessor\t: 0\nprocessor\t: 1\n";
        assert_eq!(places(text).len(), 2);
    }

    proptest! {
        #[test]
        fn no_text_makes_the_parser_panic(text in "(processor|core id|physical id|[:\n\t 0-9-]){0,40}") {
            let _ = places(&text);
        }
    }
}
