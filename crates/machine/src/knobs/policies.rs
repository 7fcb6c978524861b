//! The groups of CPUs that share a frequency, and who sets it.

use becalm_model::{CpuId, CpuSet};

use super::Situation;
use crate::cpumask::read_list;

pub(super) const FOLDER: &str = "/sys/devices/system/cpu/cpufreq";

/// A cpufreq policy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Policy {
    /// Its folder.
    pub(super) folder: String,
    /// Its CPUs that run.
    pub(super) cpus: CpuSet,
}

impl Policy {
    /// Returns the path of one of its files.
    pub(super) fn file(&self, name: &str) -> String {
        format!("{}/{name}", self.folder)
    }
}

/// Returns the policies of CPUs that run, and will run once SMT is as asked for: those of other CPUs
/// are gone or answer EBUSY.
pub(super) fn policies(situation: &Situation<'_>) -> Vec<Policy> {
    let going = situation.going_threads();
    all_policies(situation)
        .into_iter()
        .filter(|policy| !policy.cpus.difference(&going).is_empty())
        .collect()
}

/// Returns the policies of CPUs that run now.
pub(super) fn all_policies(situation: &Situation<'_>) -> Vec<Policy> {
    let names = situation.root.list_dir(FOLDER).value().unwrap_or_default();
    let mut policies: Vec<(u32, Policy)> = names
        .iter()
        .filter_map(|name| {
            let number = name.strip_prefix("policy")?.parse().ok()?;
            let folder = format!("{FOLDER}/{name}");
            let cpus = running_cpus(situation, &folder, CpuId(number));
            (!cpus.is_empty()).then_some((number, Policy { folder, cpus }))
        })
        .collect();
    policies.sort_by_key(|(number, _)| *number);
    policies.into_iter().map(|(_, policy)| policy).collect()
}

/// Returns the CPUs of a policy that run. One whose CPUs are offline answers EBUSY; where the answer is
/// another one that is no list, they are those that it was made for, or the one that it is named after.
fn running_cpus(situation: &Situation<'_>, folder: &str, named: CpuId) -> CpuSet {
    let files = ["affected_cpus", "related_cpus"];
    let told =
        files.iter().find_map(|file| read_list_of_words(situation, &format!("{folder}/{file}")));
    let cpus = told.unwrap_or_else(|| CpuSet::from_iter([named]));
    cpus.intersection(&situation.topology.online)
}

/// Returns the driver that sets frequencies, if there is one.
pub(super) fn driver(situation: &Situation<'_>) -> Option<String> {
    let first = all_policies(situation).into_iter().next()?;
    situation.root.read(first.file("scaling_driver")).value()
}

/// Returns all threads but the first of each core by number. The kernel tells only of threads that
/// run: where the first of a core is offline the second is taken for it, and goes all the same.
pub(super) fn second_threads(situation: &Situation<'_>) -> CpuSet {
    let threads = situation.topology.cpus.iter().map(|cpu| cpu.id);
    let is_second = |id: &CpuId| running_siblings(situation, *id).first() != Some(*id);
    threads.filter(is_second).collect()
}

/// Returns the threads of a CPU's core that run, that CPU included.
pub(super) fn running_siblings(situation: &Situation<'_>, cpu: CpuId) -> CpuSet {
    let folder = format!("/sys/devices/system/cpu/cpu{}/topology", cpu.0);
    let told = read_list(situation.root, format!("{folder}/thread_siblings_list")).value();
    told.filter(|cpus| cpus.contains(cpu)).unwrap_or_else(|| situation.topology.core_of(cpu))
}

/// cpufreq writes sets of CPUs as words: `0 1 2`.
fn read_list_of_words(situation: &Situation<'_>, path: &str) -> Option<CpuSet> {
    let text = situation.root.read(path).value()?;
    text.split_whitespace().collect::<Vec<_>>().join(",").parse().ok()
}
