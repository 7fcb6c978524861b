//! CPUs for the subject alone, without a reboot.
//!
//! The kernel takes CPUs away from everything else by a partition of control groups (version 2), or
//! by sets of CPUs whose threads it does not balance (version 1). A subject of one thread gets an
//! *isolated* partition, in which the scheduler balances nothing; one of several threads gets a
//! *balanced* one, for in an isolated one all its threads would stay on the CPU they start on.
//!
//! Everything is planned as [`Change`]s in the order in which the kernel takes them; put back in the
//! reverse order the machine is as before, also by another process after a crash.

mod cpus;
mod hierarchy;
mod legacy;
mod slice;
mod unified;

use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd};

use becalm_kernel::clone::Entrance;
use becalm_model::conditions::{IsolatedBy, IsolatedCpus};
use becalm_model::{Change, CpuSet, Limit, PlacementLimit, Target, counted};

pub use cpus::{Alone, alone};
use serde::{Deserialize, Serialize};

use crate::cpumask::read_list;
use crate::knobs::{self, Situation};
use crate::tasks::{self, Thread};
use crate::tune::{self, ABSENT, Applied, PRESENT, names, write};
use crate::{Reading, SysRoot, Topology, service, steward};
use hierarchy::Hierarchy;

/// What the changes are called in the journal.
pub const KNOB: &str = "isolation";

/// Name of the control group that has the CPUs.
const GROUP: &str = "becalm";

/// Name of the control group into which everything else goes where it has to be moved.
pub(crate) const OTHERS: &str = "becalm-others";

/// How often processes that were started meanwhile are looked for. Those that are moved aside start
/// further ones aside, so that one look is nearly always enough.
const LOOKS: usize = 5;

/// Knobs that go with isolation, as far as this becalm has them: what disturbs CPUs although no
/// program may run there.
const COMPANIONS: [&str; 7] = [
    "irqbalance",
    "irq-affinity",
    "packet-steering",
    "workqueues",
    "kernel-threads",
    "resctrl",
    "timer-migration",
];

/// What the scheduler does with the CPUs that were taken away from everything else.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Partition {
    /// Nothing: a thread stays where it is. For one thread.
    Isolated,
    /// It spreads threads over them. For several threads.
    Balanced,
}

impl Partition {
    /// Returns the kernel's word for it.
    fn word(self) -> &'static str {
        match self {
            Self::Isolated => "isolated",
            Self::Balanced => "root",
        }
    }
}

/// CPUs that are to be taken away from everything else, and how.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Isolation {
    /// The CPUs.
    pub cpus: CpuSet,
    /// What the scheduler does with them.
    pub partition: Partition,
    /// Folder of the control group that the subject has to enter.
    pub group: String,
    /// What has to be changed, in this order.
    pub changes: Vec<Change>,
    /// What this cannot give.
    pub limits: Vec<Limit>,
    /// Files and the values that they have while it holds.
    expected: Vec<(String, String)>,
    /// Hierarchy whose processes have to be moved aside, where the kernel does not do it.
    moving: Option<String>,
}

/// Why CPUs cannot be taken away from everything else. Nothing was changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
pub enum IsolateError {
    /// Nothing here can do it.
    #[error("CPUs cannot be isolated here: {0}; the subject is only pinned")]
    NotHere(String),
    /// A partition without CPUs would take in processes, and nothing else.
    #[error("no CPU was named to be isolated; the subject is only pinned")]
    NoCpus,
    /// Somebody has to run everything else.
    #[error(
        "{} cannot be isolated: no CPU would be left for everything else; the subject is only \
         pinned",
        .0.named()
    )]
    NothingLeft(CpuSet),
    /// The boot parameters have done it.
    #[error(
        "{} already isolated by the kernel's boot parameters, and the kernel allows no partition \
         of them",
        are(.0)
    )]
    AtBoot(CpuSet),
    /// Another group has them.
    #[error(
        "{} cannot be isolated: the control group {group} is bound to {cpus}, and nothing outside \
         a partition may use its CPUs; the subject is only pinned",
        cpus.named()
    )]
    Taken {
        /// The CPUs.
        cpus: CpuSet,
        /// Who has them.
        group: String,
    },
    /// They are in a partition already, or offline.
    #[error(
        "{} cannot be isolated: only {free} can be reserved; the subject is only pinned",
        missing.named()
    )]
    NotFree {
        /// The CPUs.
        missing: CpuSet,
        /// Those that are free.
        free: CpuSet,
    },
    /// Before Linux 6.2 or so the kernel takes offline CPUs out of every mask that it is given.
    #[error(
        "{} cannot be isolated: programs may also run on offline CPUs ({offline}), and this \
         kernel could not restore that; the subject is only pinned",
        cpus.named()
    )]
    Forgets {
        /// The CPUs.
        cpus: CpuSet,
        /// Those that are offline.
        offline: CpuSet,
    },
    /// The administrator does not want it.
    #[error(
        "{} cannot be isolated: the service of this machine allows users to reserve {}; the \
         subject is only pinned",
        cpus.named(), most_cpus(*most)
    )]
    NotAllowed {
        /// The CPUs.
        cpus: CpuSet,
        /// How many may be.
        most: usize,
    },
    /// Somebody else has made what becalm would make.
    #[error(
        "CPUs cannot be isolated here: {0} already exists, and was not made by becalm; the \
         subject is only pinned"
    )]
    Occupied(String),
}

fn most_cpus(most: usize) -> String {
    if most == 0 { "no CPU".to_owned() } else { format!("at most {}", counted(most, "CPU")) }
}

/// Isolation that does not hold.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{} not isolated: {path} is `{value}` and should be `{expected}`", are(cpus))]
pub struct Broken {
    /// The CPUs.
    pub cpus: CpuSet,
    /// The file that tells.
    pub path: String,
    /// What it says; the kernel adds its reason to a partition that is not valid.
    pub value: String,
    /// What it should say.
    pub expected: String,
}

/// Returns the knobs that go with isolation here.
pub fn companions() -> Vec<&'static str> {
    let known = names();
    COMPANIONS.into_iter().filter(|name| known.contains(name)).collect()
}

/// Says whether CPUs can be taken away from everything else here; an error says why not.
pub fn is_possible(root: &SysRoot) -> Result<(), IsolateError> {
    Hierarchy::find(root).map(drop).map_err(IsolateError::NotHere)
}

/// Plans to take `cpus` away from everything else. Only reads.
pub fn plan(
    root: &SysRoot,
    topology: &Topology,
    cpus: &CpuSet,
    partition: Partition,
) -> Result<Isolation, IsolateError> {
    if cpus.is_empty() {
        return Err(IsolateError::NoCpus);
    }
    let at_boot = cpus.intersection(&topology.isolated);
    if !at_boot.is_empty() {
        return Err(IsolateError::AtBoot(at_boot));
    }
    if topology.online.difference(cpus).is_empty() {
        return Err(IsolateError::NothingLeft(cpus.clone()));
    }
    let hierarchy = Hierarchy::find(root).map_err(IsolateError::NotHere)?;
    let others = Leftover::all(root, &hierarchy).into_iter().find(|one| !one.is_becalms);
    if let Some(Leftover { path, .. }) = others {
        return Err(IsolateError::Occupied(path));
    }
    let threads = tasks::threads(root);
    let offline = tasks::offline_cpus(&threads, &topology.online);
    if !offline.is_empty() && !tasks::keeps_offline_cpus(root, &offline) {
        return Err(IsolateError::Forgets { cpus: cpus.clone(), offline });
    }
    let request = Isolating { root, online: &topology.online, cpus, partition, threads };
    match &hierarchy {
        Hierarchy::Unified { top } => unified::plan(&request, top),
        Hierarchy::Systemd { top } => slice::plan(&request, top),
        Hierarchy::Legacy { top } => legacy::plan(&request, top),
    }
}

/// Removes control groups that a becalm left behind whose journal is gone too; returns what was
/// done, as sentences. The caller holds the machine's lock and has restored what a journal tells.
pub fn clear_leftovers(root: &SysRoot) -> Vec<String> {
    let Ok(hierarchy) = Hierarchy::find(root) else { return Vec::new() };
    let clear = |one: Leftover| match write(root, &one.target, one.value) {
        Ok(()) => format!("an earlier becalm left {}; it is removed", one.path),
        Err(error) => {
            format!("{}, left by an earlier becalm, could not be removed: {error}", one.path)
        }
    };
    let ours = Leftover::all(root, &hierarchy).into_iter().filter(|one| one.is_becalms);
    ours.map(clear).collect()
}

/// What came of an isolation.
#[derive(Debug, Serialize, Deserialize)]
pub struct Attempt {
    /// What an earlier becalm had left and is removed now, as sentences.
    pub cleared: Vec<String>,
    /// The CPUs that were taken; or why they could not be, and then nothing was changed.
    pub taken: Result<Taken, IsolateError>,
}

/// CPUs that were taken away from everything else.
#[derive(Debug, Serialize, Deserialize)]
pub struct Taken {
    /// How.
    pub isolation: Isolation,
    /// What came of each change. [`Isolation::check`] says whether it holds.
    pub applied: Vec<Applied>,
}

/// Takes CPUs away from everything else by `apply`. The caller holds the machine's lock, and has restored what a journal
/// tells.
pub(crate) fn attempt<E>(
    root: &SysRoot,
    request: &steward::IsolationRequest,
    apply: impl FnMut(&[Change]) -> Result<Vec<Applied>, E>,
) -> Result<Attempt, E> {
    // A partition without a journal has CPUs that the plan would find taken.
    let cleared = clear_leftovers(root);
    // Tuning may have switched second threads off since.
    let planned = match Topology::read(root) {
        Ok(topology) => plan(root, &topology, &request.cpus, request.partition)
            .map(|isolation| (isolation, topology)),
        Err(error) => Err(IsolateError::NotHere(error.to_string())),
    };
    let taken = match planned {
        Ok((mut isolation, topology)) => {
            isolation.limits.extend(shared_caches(root, &topology, request));
            let applied = isolation.take(root, &topology, &request.without, apply)?;
            Ok(Taken { isolation, applied })
        }
        Err(error) => Err(error),
    };
    Ok(Attempt { cleared, taken })
}

/// Says why a cache that could be divided is not.
fn shared_caches(
    root: &SysRoot,
    topology: &Topology,
    request: &steward::IsolationRequest,
) -> Option<Limit> {
    let knob = &knobs::resctrl::RESCTRL;
    if request.without.iter().any(|name| name == knob.name) {
        return None;
    }
    let asked = knobs::TuningRequest::default();
    let planned = knob.planned(&Situation::of(root, topology, request.cpus.clone(), &asked));
    let refused = planned.notes.into_iter().find(|note| note.kind == knobs::NoteKind::Refused);
    refused.map(|note| PlacementLimit::CachesShared { why: note.text }.into())
}

/// The way into a control group that was made for a subject.
#[derive(Debug)]
pub enum Door {
    /// Its list of processes.
    List(File),
    /// A socket by which the service of this machine lets in.
    Gate(OwnedFd),
}

impl Door {
    /// Returns it as a start of a subject takes it.
    pub fn entrance(&self) -> Entrance {
        match self {
            Self::List(file) => Entrance::List(file.as_raw_fd()),
            Self::Gate(socket) => Entrance::Gate(socket.as_raw_fd()),
        }
    }
}

/// Opens the way into a control group that was made for a subject; `None` where the service has removed it since.
pub fn open_group(root: &SysRoot, folder: &std::path::Path) -> io::Result<Option<Door>> {
    if let Some(mut steward) = steward::Steward::of(root) {
        return steward.open_group().map(|file| Some(Door::List(file)));
    }
    match service::gate(root) {
        Some(gate) => gate.map(|gate| gate.map(Door::Gate)),
        None => root.open_to_hold(folder.join("cgroup.procs")).map(|file| Some(Door::List(file))),
    }
}

/// Something of the name of what isolation makes.
struct Leftover {
    /// Where it is.
    path: String,
    /// How it is put back.
    target: Target,
    /// To what.
    value: &'static str,
    /// Whether a becalm has made it, by what it looks like.
    is_becalms: bool,
}

impl Leftover {
    /// Returns what there is, in the order in which it is to be put back.
    fn all(root: &SysRoot, hierarchy: &Hierarchy) -> Vec<Self> {
        let top = hierarchy.top();
        let group = |name: &str| {
            let path = format!("{top}/{name}");
            let is_becalms = match hierarchy {
                // The group is made after the other one, and goes before it.
                Hierarchy::Legacy { .. } => root.exists(format!("{top}/{OTHERS}")),
                Hierarchy::Unified { .. } | Hierarchy::Systemd { .. } => is_partition(root, &path),
            };
            let is_becalms = is_becalms || is_empty(root, &path);
            Self { target: Target::Folder(path.clone()), path, value: ABSENT, is_becalms }
        };
        let mut all = vec![group(GROUP), group(OTHERS)];
        if let Hierarchy::Systemd { top } = hierarchy {
            all.extend(slice::leftovers(root, top));
        }
        all.retain(|one| root.exists(&one.path));
        all
    }
}

/// Says whether a group of version 2 was to have CPUs for itself, whatever came of that.
fn is_partition(root: &SysRoot, group: &str) -> bool {
    let partition = root.read(format!("{group}/cpuset.cpus.partition")).value();
    partition.is_some_and(|partition| partition != "member")
}

fn is_empty(root: &SysRoot, group: &str) -> bool {
    let members = match root.read(format!("{group}/cgroup.procs")) {
        Reading::Value(members) => members,
        Reading::Absent => String::new(),
        Reading::NoPermission | Reading::Unreadable { .. } => return false,
    };
    members.is_empty() && groups_below(root, group).is_ok_and(|groups| groups.is_empty())
}

impl Isolation {
    /// Says whether the isolation holds, by what the kernel says of it.
    ///
    /// # Errors
    ///
    /// The first thing that is not as it should be. The kernel takes a partition that it cannot
    /// have, or can no longer have, and only says so here.
    pub fn check(&self, root: &SysRoot) -> Result<(), Broken> {
        for (path, expected) in &self.expected {
            let value = match root.read(path) {
                Reading::Value(value) if crate::tune::same(path, &value, expected) => continue,
                Reading::Value(value) => value,
                other => other.why_not().unwrap_or_default(),
            };
            return Err(Broken {
                cpus: self.cpus.clone(),
                path: path.clone(),
                value,
                expected: expected.clone(),
            });
        }
        Ok(())
    }

    /// Takes the CPUs away from everything else by `apply`, interrupts and threads of the kernel included; knobs
    /// that are named in `without` are left alone. [`Isolation::check`] says whether it holds.
    pub fn take<E>(
        &self,
        root: &SysRoot,
        topology: &Topology,
        without: &[String],
        mut apply: impl FnMut(&[Change]) -> Result<Vec<Applied>, E>,
    ) -> Result<Vec<Applied>, E> {
        let wanted = companions().into_iter().filter(|name| !without.iter().any(|one| one == name));
        let request = knobs::TuningRequest {
            only: wanted.map(str::to_owned).collect(),
            ..Default::default()
        };
        let mut changes = Vec::new();
        // Without a name there would be no limit to what is planned.
        if !request.only.is_empty() {
            let situation = Situation::of(root, topology, self.cpus.clone(), &request);
            changes = tune::plan(&situation).expect("companions are existing knobs").changes;
        }
        changes.extend(self.changes.iter().cloned());
        let mut applied = apply(&changes)?;
        for _ in 0..LOOKS {
            let more = self.stragglers(root);
            if more.is_empty() {
                break;
            }
            applied.extend(apply(&more)?);
        }
        Ok(applied)
    }

    /// Returns the changes for processes that were started while the others were moved aside.
    pub fn stragglers(&self, root: &SysRoot) -> Vec<Change> {
        self.moving.as_ref().map_or_else(Vec::new, |top| legacy::move_aside(root, top))
    }

    /// Returns what was done, for a record.
    pub fn taken(&self) -> IsolatedCpus {
        let by = match (self.partition, &self.moving) {
            (Partition::Isolated, None) => IsolatedBy::IsolatedPartition,
            (Partition::Balanced, None) => IsolatedBy::BalancedPartition,
            (Partition::Isolated, Some(_)) => IsolatedBy::UnbalancedSet,
            (Partition::Balanced, Some(_)) => IsolatedBy::OwnSet,
        };
        IsolatedCpus { cpus: self.cpus.clone(), by, group: self.group.clone() }
    }
}

/// What the ways of isolating share.
struct Isolating<'a> {
    root: &'a SysRoot,
    online: &'a CpuSet,
    cpus: &'a CpuSet,
    partition: Partition,
    threads: Vec<Thread>,
}

impl Isolating<'_> {
    /// The isolation that comes of these changes, where nothing limits it and nobody is to be moved.
    fn isolation(
        &self,
        group: String,
        changes: Vec<Change>,
        expected: Vec<(String, String)>,
    ) -> Isolation {
        let (cpus, partition) = (self.cpus.clone(), self.partition);
        Isolation { cpus, partition, group, changes, expected, limits: Vec::new(), moving: None }
    }

    /// Returns the CPUs that are left to everything else.
    fn others(&self) -> CpuSet {
        self.online.difference(self.cpus)
    }

    /// Saves the CPUs of threads that chose some themselves. The kernel forgets such a choice when
    /// it takes CPUs away, and before Linux 6.2 also when groups get CPUs at all.
    fn chosen_affinities(&self) -> Vec<Change> {
        // Neither this process, nor the one that the steward works for.
        let own = [Some(std::process::id()), steward::served().map(|becalm| becalm.pid)];
        // Who has chosen nothing may run on CPUs that are offline, too.
        let chose =
            |thread: &Thread| !thread.is_kernel && !self.online.difference(&thread.cpus).is_empty();
        self.threads
            .iter()
            .filter(|thread| chose(thread) && !own.contains(&Some(thread.tid)))
            .map(|thread| thread.change(KNOB, None, "the kernel may forget the CPUs that it chose"))
            .collect()
    }

    /// Returns the groups right below a group that are bound to some of these CPUs.
    fn groups_with_cpus(&self, top: &str) -> Result<Vec<(String, CpuSet)>, IsolateError> {
        let mut found = Vec::new();
        for group in groups_below(self.root, top).map_err(IsolateError::NotHere)? {
            let path = format!("{group}/cpuset.cpus");
            let own = read_list(self.root, &path).if_there(&path).map_err(IsolateError::NotHere)?;
            let shared = own.unwrap_or_default().intersection(self.cpus);
            if !shared.is_empty() {
                found.push((group, shared));
            }
        }
        Ok(found)
    }

    /// Says whether these CPUs are free by a file that lists the free ones, and others are free too.
    fn check_free_in(&self, path: &str) -> Result<(), IsolateError> {
        let free = read_list(self.root, path).if_there(path).map_err(IsolateError::NotHere)?;
        let Some(free) = free else { return Ok(()) };
        let missing = self.cpus.difference(&free);
        if !missing.is_empty() {
            return Err(IsolateError::NotFree { missing, free });
        }
        if free.difference(self.cpus).is_empty() {
            return Err(IsolateError::NothingLeft(self.cpus.clone()));
        }
        Ok(())
    }
}

/// Returns `CPU 3 is` or `CPUs 2-3 are`.
fn are(cpus: &CpuSet) -> String {
    format!("{} {}", cpus.named(), becalm_model::is_are(cpus.len()))
}

/// A change of a file, with the reason that all files of a group share.
fn file(path: String, old: &str, new: &str) -> Change {
    change(Target::File(path), old, new)
}

fn change(target: Target, old: &str, new: &str) -> Change {
    Change::new(KNOB, target, old, Some(new), "reserved CPUs for the subject")
}

/// A folder that is made.
fn folder(path: &str) -> Change {
    change(Target::Folder(path.to_owned()), ABSENT, PRESENT)
}

/// Returns the groups right below a group; an error says why nobody knows them.
fn groups_below(root: &SysRoot, group: &str) -> Result<Vec<String>, String> {
    let names = root.list_dir(group).if_there(group)?.unwrap_or_default();
    let below = names.into_iter().map(|name| format!("{group}/{name}"));
    Ok(below.filter(|path| root.exists(format!("{path}/cgroup.procs"))).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use becalm_testkit::FakeMachine;

    #[test]
    fn caches_that_could_be_divided_and_are_not_are_a_limit() {
        let tree = FakeMachine::default().tree();
        let root = SysRoot::new(tree.path());
        let topology = Topology::read(&root).unwrap();
        let mut request = steward::IsolationRequest {
            cpus: "3".parse().unwrap(),
            partition: Partition::Isolated,
            without: Vec::new(),
        };
        assert_eq!(shared_caches(&root, &topology, &request), None);
        let _tree = tree.unreadable("/sys/fs/resctrl");
        let why = "resctrl is not mounted: `mount -t resctrl resctrl /sys/fs/resctrl`".to_owned();
        let limit = Limit::from(PlacementLimit::CachesShared { why });
        assert_eq!(shared_caches(&root, &topology, &request), Some(limit));
        request.without.push("resctrl".to_owned());
        assert_eq!(shared_caches(&root, &topology, &request), None);
    }
}
