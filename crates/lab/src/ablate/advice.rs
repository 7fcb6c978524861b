//! A set of mitigations as something that other commands take: flags of `becalm run` and `compare`,
//! and a profile for `becalm tune`.

use std::fmt::Write as _;

use becalm_machine::knobs::{Smt, TuningRequest};
use becalm_machine::tune;
use becalm_model::CpuSet;
use becalm_model::conditions::Thp;

use super::design::names;
use super::mitigation::{Cpu, MITIGATIONS, Means};

/// Says whether a set of mitigations has one of these means.
pub fn has(members: &[usize], means: Means) -> bool {
    members.iter().any(|&member| MITIGATIONS[member].means == means)
}

/// Returns what a set of mitigations asks of the knobs; `None` if nothing.
pub fn request(members: &[usize]) -> Option<TuningRequest> {
    let knobs = members.iter().flat_map(|&member| MITIGATIONS[member].knobs());
    let only: Vec<String> = knobs.map(ToString::to_string).collect();
    let smt = if has(members, Means::SmtOff) { Smt::Off } else { Smt::Idle };
    // Without a name there would be no limit to what is turned.
    (!only.is_empty()).then(|| TuningRequest { only, smt, ..TuningRequest::default() })
}

/// Returns the CPUs of a subject that runs under a set of mitigations; `None` where it may use all.
pub fn affinity(members: &[usize], chosen: &CpuSet, allowed: &CpuSet) -> Option<CpuSet> {
    if has(members, Means::Pin(Cpu::Chosen)) || has(members, Means::Isolation) {
        return Some(chosen.clone());
    }
    has(members, Means::Pin(Cpu::First)).then(|| allowed.first().into_iter().collect())
}

/// Returns which transparent huge pages a subject gets under a set of mitigations.
pub fn huge_pages(members: &[usize]) -> Thp {
    let of = |&member: &usize| match MITIGATIONS[member].means {
        Means::HugePages(thp) => Some(thp),
        _ => None,
    };
    members.iter().find_map(of).unwrap_or_default()
}

/// Returns the flags with which `becalm run` and `compare` measure so. `profile` is the file that
/// has the profile, which only settings of the machine need.
pub fn flags(members: &[usize], chosen: &CpuSet, allowed: &CpuSet, profile: &str) -> Vec<String> {
    let mut flags = Vec::new();
    let mut flag = |name: &str, value: &str| {
        flags.push(name.to_owned());
        flags.push(value.to_owned());
    };
    match affinity(members, chosen, allowed) {
        Some(cpus) => flag("--affinity", &cpus.to_string()),
        None => flag("--affinity", "none"),
    }
    flag("--scheduler", if has(members, Means::Fifo) { "fifo:1" } else { "other" });
    if has(members, Means::Nice) {
        flag("--nice", "-20");
    }
    if has(members, Means::NoAslr) {
        flag("--aslr", "off");
    }
    flag("--layout", if has(members, Means::MoveStack) { "randomise" } else { "fixed" });
    if has(members, Means::WarmUp) {
        flag("--cache", "warm");
    } else if has(members, Means::ColdCache) {
        flag("--cache", "drop");
    }
    match huge_pages(members) {
        Thp::Inherit => {}
        thp => flag("--thp", thp.name()),
    }
    if has(members, Means::ClearEnvironment) {
        flags.push("--env-clear".to_owned());
    }
    if has(members, Means::Isolation) {
        flags.push("--isolate".to_owned());
    }
    if request(members).is_some() {
        flags.push(format!("--tune={profile}"));
    }
    flags
}

/// Returns the profile for `becalm tune` as TOML. What is no setting of the machine stands in a
/// comment, as the flags that ask for it.
///
/// Where no setting helps the profile turns none: a profile without `only` would turn them all.
pub fn profile(members: &[usize], flags: &[String], subject: &str) -> String {
    // A name with a line break must not end the comment.
    let subject = subject.replace(char::is_control, " ");
    let shown = names(members).join(", ");
    let mut text = format!(
        "# What makes `{subject}` steadier on this machine, according to `becalm noise ablate`: \
         {shown}.\n# To measure with these: becalm run {} -- COMMAND\n",
        flags.join(" ")
    );
    if has(members, Means::LockMemory) {
        text.push_str("# Locking memory is up to the program: mlockall(2).\n");
    }
    if let Some(request) = request(members) {
        let _ = writeln!(text, "only = {}", list(request.only.iter().map(String::as_str)));
        if request.smt == Smt::Off {
            text.push_str("smt = \"off\"\n");
        }
    } else {
        text.push_str("# None of them is a setting of the machine.\n");
        let _ = writeln!(text, "skip = {}", list(tune::names().into_iter()));
    }
    text
}

/// Names of knobs need no escapes.
fn list<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let quoted: Vec<String> = names.map(|name| format!("\"{name}\"")).collect();
    format!("[{}]", quoted.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ablate::mitigation::find;

    fn indices(names: &[&str]) -> Vec<usize> {
        names.iter().map(|name| find(name).unwrap()).collect()
    }

    #[track_caller]
    fn check(names: &[&str], expected: &str) {
        let (chosen, allowed) = ("3".parse().unwrap(), "0-3".parse().unwrap());
        assert_eq!(flags(&indices(names), &chosen, &allowed, "quiet.toml").join(" "), expected);
    }

    #[test]
    fn a_set_becomes_the_flags_that_ask_for_just_that() {
        check(&[], "--affinity none --scheduler other --layout fixed");
        check(
            &["pin", "fifo", "thp"],
            "--affinity 3 --scheduler fifo:1 --layout fixed --tune=quiet.toml",
        );
        check(
            &["pin-first", "nice", "aslr", "moved-stack", "warm-up", "fixed-env"],
            "--affinity 0 --scheduler other --nice -20 --aslr off --layout randomise --cache warm \
             --env-clear",
        );
        check(&["thp-on"], "--affinity none --scheduler other --layout fixed --thp on");
        check(&["isolation"], "--affinity 3 --scheduler other --layout fixed --isolate");
    }

    #[test]
    fn a_profile_turns_the_knobs_of_the_set_and_no_others() {
        let some = indices(&["pin", "interrupts", "smt"]);
        let text = profile(&some, &["--affinity".to_owned(), "3".to_owned()], "a\nb");
        let expected = "only = [\"irqbalance\", \"irq-affinity\", \"packet-steering\", \"smt\"]\nsmt = \"off\"\n";
        assert!(text.ends_with(expected), "{text}");
        assert!(text.starts_with("# What makes `a b` steadier"), "{text}");
        assert!(text.contains("becalm run --affinity 3 -- COMMAND"), "{text}");
    }

    #[test]
    fn a_set_without_settings_of_the_machine_turns_none() {
        let text = profile(&indices(&["pin"]), &[], "a");
        let skipped = text.lines().find_map(|line| line.strip_prefix("skip = ")).unwrap();
        let all = tune::names();
        assert!(all.iter().all(|name| skipped.contains(&format!("\"{name}\""))), "{text}");
        assert_eq!(request(&indices(&["pin", "fifo"])), None);
    }
}
