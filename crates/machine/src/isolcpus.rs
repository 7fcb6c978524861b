//! The boot parameter `isolcpus=`.
//!
//! `isolcpus=[FLAG,...]CPUS`: flags are `domain`, `nohz` and `managed_irq`; without any it is `domain`.
//! CPUs are a list with `all`, `N` for the last one and strides `FROM-TO:USED/GROUP`.
//! <https://docs.kernel.org/admin-guide/kernel-parameters.html>

use becalm_model::{CpuId, CpuSet};

/// What `isolcpus=` says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct IsolCpus {
    /// Whether the CPUs are taken out of load balancing.
    pub(crate) is_domain: bool,
    /// The CPUs.
    pub(crate) cpus: CpuSet,
}

/// Returns the CPUs that the command line takes out of load balancing.
pub(crate) fn isolated(cmdline: &str, possible: &CpuSet) -> Option<CpuSet> {
    find(cmdline, possible).filter(|option| option.is_domain).map(|option| option.cpus)
}

/// Returns the CPUs whose tick the command line stops.
pub(crate) fn nohz_full(cmdline: &str, possible: &CpuSet) -> Option<CpuSet> {
    let value =
        cmdline.split_whitespace().rev().find_map(|word| word.strip_prefix("nohz_full="))?;
    Some(cpu_list(value, possible.iter().last()?.0)?.intersection(possible))
}

/// Finds the option in the kernel's command line; the last one counts. `None` if there is none, or if
/// the kernel would not understand it either.
pub(crate) fn find(cmdline: &str, possible: &CpuSet) -> Option<IsolCpus> {
    let value = cmdline.split_whitespace().rev().find_map(|word| word.strip_prefix("isolcpus="))?;
    let (mut rest, mut flags) = (value, Vec::new());
    while let Some((word, after)) = rest.split_once(',') {
        if !matches!(word, "domain" | "nohz" | "managed_irq") {
            break;
        }
        flags.push(word);
        rest = after;
    }
    let last = possible.iter().last()?.0;
    let cpus = cpu_list(rest, last)?.intersection(possible);
    Some(IsolCpus { is_domain: flags.is_empty() || flags.contains(&"domain"), cpus })
}

/// Reads a list as the kernel does on its command line.
fn cpu_list(text: &str, last: u32) -> Option<CpuSet> {
    let mut cpus = CpuSet::new();
    for part in text.split(',') {
        if part == "all" {
            cpus = cpus.union(&(0..=last).map(CpuId).collect());
            continue;
        }
        let (range, stride) = match part.split_once(':') {
            Some((range, stride)) => (range, Some(stride)),
            None => (part, None),
        };
        let number = |text: &str| if text == "N" { Some(last) } else { text.parse::<u32>().ok() };
        let (from, to) = match range.split_once('-') {
            Some((from, to)) => (number(from)?, number(to)?.min(last)),
            None => (number(range)?, number(range)?),
        };
        let (used, group) = match stride {
            Some(stride) => {
                let (used, group) = stride.split_once('/')?;
                (used.parse::<u32>().ok()?, group.parse::<u32>().ok().filter(|&group| group > 0)?)
            }
            None => (1, 1),
        };
        if from > to && from > last {
            continue;
        }
        cpus =
            cpus.union(&(from..=to).filter(|cpu| (cpu - from) % group < used).map(CpuId).collect());
    }
    Some(cpus)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_grammar_is_that_of_the_kernel() {
        let possible: CpuSet = "0-15".parse().unwrap();
        let check = |cmdline: &str, expected: Option<(bool, &str)>| {
            let found = find(cmdline, &possible).map(|it| (it.is_domain, it.cpus.to_string()));
            let expected = expected.map(|(is_domain, cpus)| (is_domain, cpus.to_owned()));
            assert_eq!(found, expected, "{cmdline}");
        };
        check("quiet isolcpus=2-3 splash", Some((true, "2-3")));
        check("isolcpus=domain,2-3", Some((true, "2-3")));
        check("isolcpus=managed_irq,2-3", Some((false, "2-3")));
        check("isolcpus=nohz,domain,managed_irq,2,4-5", Some((true, "2,4-5")));
        check("isolcpus=all", Some((true, "0-15")));
        check("isolcpus=8-N", Some((true, "8-15")));
        check("isolcpus=N", Some((true, "15")));
        check("isolcpus=0-7:1/2", Some((true, "0,2,4,6")));
        check("isolcpus=0-15:2/4", Some((true, "0-1,4-5,8-9,12-13")));
        check("isolcpus=1 isolcpus=2", Some((true, "2")));
        check("isolcpus=12-99", Some((true, "12-15")));
        check("isolcpus=", None);
        check("isolcpus=rubbish", None);
        check("isolcpus=0-7:1/0", None);
        check("noisolcpus=1", None);
        check("", None);
    }

    proptest! {
        #[test]
        fn no_command_line_makes_the_parser_panic(text in "isolcpus=[0-9a-zN,:/-]{0,30}") {
            let _ = find(&text, &"0-7".parse().unwrap());
        }
    }
}
