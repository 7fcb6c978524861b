//! Which mitigations are possible here, and why the others are not. A pure function of what was
//! read of the machine, the user and the subject before.

use std::collections::BTreeMap;

use becalm_model::CpuSet;
use becalm_model::ablate::Timing;
use becalm_model::conditions::Thp;
use becalm_runner::rounds::LONGEST_FIFO_RUN;

use super::mitigation::{Cpu, MITIGATIONS, Means, Mitigation, Reach};

/// What decides about mitigations.
#[derive(Debug, Clone, PartialEq)]
pub struct Here {
    /// Whether becalm may change the machine.
    pub is_root: bool,
    /// CPUs that the subject may use without any mitigation.
    pub allowed: CpuSet,
    /// CPUs that becalm chooses for it.
    pub chosen: CpuSet,
    /// Whether it has one thread.
    pub single_threaded: bool,
    /// How it is timed.
    pub timing: Timing,
    /// Seconds of one run without any mitigation.
    pub run_time: f64,
    /// `kernel.sched_rt_runtime_us`; `None` where it cannot be read.
    pub rt_runtime: Option<i64>,
    /// Whether control groups can isolate CPUs.
    pub isolation: Result<(), String>,
    /// Who gets transparent huge pages, in the kernel's word; `None` where there are none.
    pub huge_pages: Option<String>,
    /// What the knobs of each mitigation came to, by the mitigation's name.
    pub knobs: BTreeMap<&'static str, KnobPlan>,
    /// Whether what others miss is tried.
    pub is_strict: bool,
    /// Names of the mitigations to be tried; all if empty.
    pub only: Vec<String>,
    /// Names of mitigations not to be tried.
    pub skip: Vec<String>,
}

/// What turning some knobs would come to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KnobPlan {
    /// Settings that would change.
    pub changes: usize,
    /// Why there are not more, as sentences.
    pub notes: Vec<String>,
}

/// Says which mitigations can be tried here: one answer for each of [`MITIGATIONS`], an error with
/// the reason why not.
pub fn applicability(here: &Here) -> Vec<Result<(), String>> {
    MITIGATIONS.iter().map(|one| applicable(one, here)).collect()
}

fn applicable(one: &Mitigation, here: &Here) -> Result<(), String> {
    let is_named = |names: &[String]| names.iter().any(|name| name == one.name);
    if is_named(&here.skip) || (!here.only.is_empty() && !is_named(&here.only)) {
        return Err("not requested".to_owned());
    }
    possible(one, here)?;
    if one.reach == Reach::Others && !here.is_strict && !is_named(&here.only) {
        return Err("affects others on the machine; --strict tries it".to_owned());
    }
    Ok(())
}

fn possible(one: &Mitigation, here: &Here) -> Result<(), String> {
    let refuse = |why: &str| Err(why.to_owned());
    match one.means {
        Means::Pin(_) if here.allowed.len() == 1 => refuse("there is only one CPU"),
        Means::Pin(Cpu::Chosen) if here.chosen == here.allowed => {
            refuse("the subject has several threads and keeps all CPUs")
        }
        Means::Pin(Cpu::First) if !here.single_threaded => {
            refuse("the subject has several threads")
        }
        Means::Pin(Cpu::First) if here.chosen.first() == here.allowed.first() => {
            refuse("becalm chooses the first CPU, which `pin` tries")
        }
        Means::Isolation | Means::ColdCache if !here.is_root => refuse("needs root"),
        Means::Isolation => here.isolation.clone(),
        Means::Fifo if here.rt_runtime == Some(-1) && !has_spare_cpu(here) => refuse(
            "nothing could stop a real-time subject: the kernel's throttling is off \
             (sched_rt_runtime_us is -1)",
        ),
        Means::Fifo if here.run_time > LONGEST_FIFO_RUN => Err(format!(
            "runs take {:.1} s: the kernel throttles real-time tasks that compute for so long",
            here.run_time
        )),
        Means::LockMemory if here.timing == Timing::Runs => {
            refuse("a program locks its memory itself, by mlockall(2)")
        }
        Means::HugePages(_) if here.huge_pages.as_deref().is_none_or(|mode| mode == "never") => {
            refuse("no program gets transparent huge pages here")
        }
        Means::HugePages(Thp::Off) if here.huge_pages.as_deref() == Some("madvise") => {
            refuse("only programs that ask for huge pages get them here; `thp-on` asks")
        }
        Means::Knobs(_) | Means::SmtOff => by_knobs(one, here),
        _ => Ok(()),
    }
}

/// Says whether a real-time subject leaves a CPU to everything else.
fn has_spare_cpu(here: &Here) -> bool {
    here.single_threaded && here.allowed.len() > 1
}

/// Root is asked for last: what the machine does not have no root can change.
fn by_knobs(one: &Mitigation, here: &Here) -> Result<(), String> {
    let Some(plan) = here.knobs.get(one.name) else {
        return Err("its settings could not be read".to_owned());
    };
    if plan.changes == 0 {
        let mut notes = plan.notes.clone();
        notes.sort();
        notes.dedup();
        return Err(if notes.is_empty() {
            "there is nothing to change".to_owned()
        } else {
            notes.join("; ")
        });
    }
    if here.is_root { Ok(()) } else { Err("needs root".to_owned()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ablate::mitigation::find;

    /// A machine on which everything is possible.
    fn everything() -> Here {
        let plan = KnobPlan { changes: 1, notes: Vec::new() };
        Here {
            is_root: true,
            allowed: "0-3".parse().unwrap(),
            chosen: "3".parse().unwrap(),
            single_threaded: true,
            timing: Timing::Iterations,
            run_time: 0.05,
            rt_runtime: Some(950_000),
            isolation: Ok(()),
            huge_pages: Some("always".to_owned()),
            knobs: MITIGATIONS.iter().map(|one| (one.name, plan.clone())).collect(),
            is_strict: true,
            only: Vec::new(),
            skip: Vec::new(),
        }
    }

    #[track_caller]
    fn check(here: &Here, name: &str, expected: &str) {
        match &applicability(here)[find(name).unwrap()] {
            Ok(()) => assert_eq!(expected, "", "{name} is possible"),
            Err(why) => {
                assert!(!expected.is_empty() && why.contains(expected), "{name}: {why}");
            }
        }
    }

    #[test]
    fn where_everything_is_possible_everything_is_tried() {
        assert!(applicability(&everything()).iter().all(Result::is_ok));
    }

    #[test]
    fn a_user_without_rights_keeps_what_concerns_the_subject_alone() {
        let here = Here { is_root: false, ..everything() };
        for name in ["isolation", "governor", "smt", "interrupts", "thp", "services", "cold-cache"]
        {
            check(&here, name, "needs root");
        }
        for name in ["pin", "pin-first", "fifo", "nice", "aslr", "mlock", "warm-up", "moved-stack"]
        {
            check(&here, name, "");
        }
    }

    #[test]
    fn what_the_machine_does_not_have_is_told_with_its_reason_whoever_asks() {
        let mut here = everything();
        here.is_root = false;
        let notes = vec!["no cpufreq driver".to_owned(), "no cpufreq driver".to_owned()];
        here.knobs.insert("governor", KnobPlan { changes: 0, notes });
        check(&here, "governor", "no cpufreq driver");
        here.knobs.insert("turbo", KnobPlan::default());
        check(&here, "turbo", "nothing to change");
        here.knobs.remove("cstates");
        check(&here, "cstates", "could not be read");
    }

    #[test]
    fn what_others_would_miss_is_tried_only_when_asked_for() {
        let mut here = Here { is_strict: false, ..everything() };
        check(&here, "services", "--strict");
        check(&here, "cold-cache", "--strict");
        here.only = vec!["services".to_owned()];
        check(&here, "services", "");
        check(&here, "pin", "not requested");
        here.only.clear();
        here.skip = vec!["pin".to_owned()];
        check(&here, "pin", "not requested");
    }

    #[test]
    fn several_threads_and_a_single_cpu_leave_nothing_to_pin() {
        let several =
            Here { single_threaded: false, chosen: "0-3".parse().unwrap(), ..everything() };
        check(&several, "pin", "several threads");
        check(&several, "pin-first", "several threads");
        let one: CpuSet = "0".parse().unwrap();
        let single = Here { allowed: one.clone(), chosen: one, ..everything() };
        check(&single, "pin", "there is only one CPU");
        check(&single, "pin-first", "there is only one CPU");
        let first = Here { chosen: "0".parse().unwrap(), ..everything() };
        check(&first, "pin", "");
        check(&first, "pin-first", "chooses the first CPU");
    }

    #[test]
    fn a_real_time_class_is_tried_only_where_it_cannot_take_the_machine() {
        check(&Here { run_time: 2.0, ..everything() }, "fifo", "runs take 2.0 s");
        let unthrottled = Here { rt_runtime: Some(-1), ..everything() };
        check(&unthrottled, "fifo", "");
        check(&Here { single_threaded: false, ..unthrottled }, "fifo", "throttling is off");
    }

    #[test]
    fn huge_pages_of_the_subject_are_tried_where_there_are_some() {
        let here =
            |mode: Option<&str>| Here { huge_pages: mode.map(str::to_owned), ..everything() };
        for none in [None, Some("never")] {
            check(&here(none), "thp-on", "no program gets");
            check(&here(none), "thp-off", "no program gets");
        }
        check(&here(Some("madvise")), "thp-on", "");
        check(&here(Some("madvise")), "thp-off", "programs that ask");
    }

    #[test]
    fn a_program_that_is_timed_as_a_whole_has_no_flag_for_locked_memory() {
        let here = Here { timing: Timing::Runs, ..everything() };
        check(&here, "mlock", "mlockall");
        check(&here, "warm-up", "");
    }
}
