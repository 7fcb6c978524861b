//! A part of the caches, and of the bandwidth of the memory, for the measured CPUs alone (CAT and MBA of Intel,
//! `QoS` of AMD, MPAM of Arm).
//!
//! The measured CPUs go to a group `becalm` with ways of the cache that nobody else fills; the group of everything
//! else keeps the others. The mode of both stays `shareable`: an exclusive group would need ways of its own in
//! every cache of the machine. Where a group is refused nothing else is changed: everything else would lose ways to
//! nobody. Groups of others keep what they have.
//! <https://docs.kernel.org/filesystems/resctrl.html>, `fs/resctrl/ctrlmondata.c`, `rdtgroup.c`.

use std::collections::BTreeMap;

use becalm_model::{CpuSet, Nature, Target};

use super::planner::NoteKind;
use super::ways::Ways;
use super::{Knob, Planner, Profile, Situation};
use crate::SysRoot;
use crate::cpumask::read_list;
use crate::schemata::Schemata;
use crate::tune::{ABSENT, PRESENT};

pub(crate) const RESCTRL: Knob = Knob {
    name: "resctrl",
    summary: "a separate part of the caches and of the memory bandwidth for the measured CPUs",
    reason: "other programs displace what a program keeps in the cache",
    profile: Profile::OnRequest,
    plan,
};

/// Where it is mounted; the kernel makes the folder where the processor can do it.
pub(crate) const TOP: &str = "/sys/fs/resctrl";
/// How to mount it.
pub(crate) const MOUNT: &str = "mount -t resctrl resctrl /sys/fs/resctrl";

const GROUP: &str = "/sys/fs/resctrl/becalm";

/// What everything else keeps of the bandwidth, in percent.
const BANDWIDTH: u32 = 50;

/// Why nothing is planned.
type Why = (NoteKind, String);

fn plan(planner: &mut Planner<'_>) {
    let situation = planner.situation;
    if let Some(shown) = root_schemata(situation.root) {
        planner.planned.seen.push((format!("{TOP}/schemata"), shown.to_string()));
    }
    match shares(situation) {
        Ok(shares) => {
            shares.notes.iter().for_each(|note| tell(planner, note));
            if !shares.narrowed.is_empty() {
                shares.plan(planner);
            }
        }
        Err(why) => tell(planner, &why),
    }
}

fn tell(planner: &mut Planner<'_>, (kind, text): &Why) {
    match kind {
        NoteKind::Refused => planner.refuse(text.clone()),
        NoteKind::NotHere => planner.not_here(text.clone()),
        NoteKind::AlreadyQuiet => planner.is_quiet(text.clone()),
    }
}

/// Returns what everything else has, if that can be read.
fn root_schemata(root: &SysRoot) -> Option<Schemata> {
    Schemata::parse(&root.read(format!("{TOP}/schemata")).value()?)
}

/// What the measured CPUs get, and what that takes from everything else.
#[derive(Default)]
struct Shares {
    cpus: CpuSet,
    own: Schemata,
    before: Schemata,
    narrowed: Schemata,
    notes: Vec<Why>,
}

impl Shares {
    fn plan(&self, planner: &mut Planner<'_>) {
        let file = |name: &str| Target::File(format!("{GROUP}/{name}"));
        let made = planner.change(Target::Folder(GROUP.to_owned()), ABSENT, Some(PRESENT));
        planner.add(made);
        let mut then = |target: Target, old: &str, new: &str| {
            let change = planner.change(target, old, Some(new));
            planner.add(change.with(Nature::Follows));
        };
        if !self.own.is_empty() {
            then(file("schemata"), "", &self.own.to_string());
        }
        then(file("cpus_list"), "", &self.cpus.to_string());
        let default = Target::File(format!("{TOP}/schemata"));
        then(default, &self.before.to_string(), &self.narrowed.to_string());
    }

    /// Takes ways of one cache.
    fn divide(&mut self, resources: &[&str], domain: u32, ours: u64, default: &Schemata) {
        for resource in resources {
            let Some(mask) = default.mask(resource, domain) else { continue };
            self.own.put(resource, domain, format!("{ours:x}"));
            self.before.put(resource, domain, format!("{mask:x}"));
            self.narrowed.put(resource, domain, format!("{:x}", mask & !ours));
        }
    }
}

/// A group that is not becalm's.
struct Other {
    name: String,
    schemata: Schemata,
}

fn shares(situation: &Situation<'_>) -> Result<Shares, Why> {
    let root = situation.root;
    let default = default_group(root)?;
    // CPUs that are about to be switched off cannot be in a group.
    let cpus = situation.cpus.intersection(&situation.staying());
    let others = others(root, &cpus)?;
    free_class(root, others.len() + 1)?;
    let mut shares = Shares { cpus: cpus.clone(), ..Shares::default() };
    let mut is_shared = false;
    for level in [2, 3] {
        let names = ["", "CODE", "DATA"].map(|kind| format!("L{level}{kind}"));
        let names = names.iter().map(String::as_str);
        let resources: Vec<&str> =
            names.filter(|name| default.resources().contains(name)).collect();
        let has_bandwidth = level == 3 && default.resources().contains("MB");
        if resources.is_empty() && !has_bandwidth {
            continue;
        }
        for (domain, beside) in domains(situation, &cpus, level)? {
            if beside.is_empty() {
                continue;
            }
            is_shared = true;
            if !resources.is_empty() {
                let ways = ways(root, &resources, domain, &default, &others)?;
                match ways.spare() {
                    Some(ours) => shares.divide(&resources, domain, ours, &default),
                    None => {
                        shares.notes.push((NoteKind::Refused, too_few(level, domain, &others)));
                    }
                }
            }
            if has_bandwidth && let Err(text) = throttle(root, domain, &default, &mut shares) {
                shares.notes.push((NoteKind::NotHere, text));
            }
        }
    }
    if !is_shared {
        let text = format!("{} share no cache that can be divided", cpus.named());
        return Err((NoteKind::AlreadyQuiet, text));
    }
    Ok(shares)
}

/// Returns what the group of everything else has.
fn default_group(root: &SysRoot) -> Result<Schemata, Why> {
    let refuse = |text: String| (NoteKind::Refused, text);
    if !root.exists(TOP) {
        let text =
            "this processor, or its kernel, does not divide caches: there is no /sys/fs/resctrl";
        return Err((NoteKind::NotHere, text.to_owned()));
    }
    let path = format!("{TOP}/schemata");
    if !root.exists(&path) {
        return Err(refuse(format!("resctrl is not mounted: `{MOUNT}`")));
    }
    if root.exists(GROUP) {
        return Err(refuse(format!("{GROUP} already exists")));
    }
    let text = root.read(&path).of(&path).map_err(refuse)?;
    if text.is_empty() {
        return Err((
            NoteKind::NotHere,
            "this processor monitors its caches but does not divide them".to_owned(),
        ));
    }
    // Kernels before 4.19 have no modes.
    let mode = root.read(format!("{TOP}/mode")).value();
    if let Some(mode) = mode.filter(|mode| mode != "shareable") {
        return Err(refuse(format!("everything else uses the caches in mode `{mode}`")));
    }
    // The kernel goes by the group of a task before it goes by the CPU.
    let of_task = root.read("/proc/self/cpu_resctrl_groups").value().unwrap_or_default();
    let group = of_task.lines().find_map(|line| line.strip_prefix("res:")).unwrap_or_default();
    if !matches!(group.trim(), "" | "/") {
        return Err(refuse(format!("becalm itself is in the group {group} of another program")));
    }
    Schemata::parse(&text)
        .ok_or_else(|| refuse(format!("{path} contains `{text}`, which is not a schemata")))
}

/// Returns the groups of others, unless one has a measured CPU.
fn others(root: &SysRoot, cpus: &CpuSet) -> Result<Vec<Other>, Why> {
    let refuse = |text: String| (NoteKind::Refused, text);
    let names = root.list_dir(TOP).of(TOP).map_err(refuse)?;
    let mut others = Vec::new();
    for name in names {
        let path = format!("{TOP}/{name}/schemata");
        if !root.exists(&path) {
            continue;
        }
        let list = format!("{TOP}/{name}/cpus_list");
        let theirs = read_list(root, &list).of(&list).map_err(refuse)?.intersection(cpus);
        if !theirs.is_empty() {
            let text = format!("{} in the group {name} of another program", are(&theirs));
            return Err(refuse(text));
        }
        let text = root.read(&path).of(&path).map_err(refuse)?;
        let schemata = Schemata::parse(&text).ok_or_else(|| {
            refuse(format!("{path} contains `{text}`: the part of that group is unknown"))
        })?;
        others.push(Other { name, schemata });
    }
    Ok(others)
}

fn are(cpus: &CpuSet) -> String {
    format!("{} {}", cpus.named(), becalm_model::is_are(cpus.len()))
}

/// Says so where every class of service of the processor has a group.
fn free_class(root: &SysRoot, groups: usize) -> Result<(), Why> {
    let resources = root.list_dir(format!("{TOP}/info")).value().unwrap_or_default();
    let number = |name: &String| root.parse::<usize>(format!("{TOP}/info/{name}/num_closids"));
    match resources.iter().filter_map(number).min() {
        Some(most) if groups >= most => Err((
            NoteKind::Refused,
            format!("the processor has {most} classes of service, and all of them are in use"),
        )),
        _ => Ok(()),
    }
}

/// Returns the caches of a level that CPUs use, by the kernel's number, with the other CPUs that use each.
fn domains(
    situation: &Situation<'_>,
    cpus: &CpuSet,
    level: u32,
) -> Result<BTreeMap<u32, CpuSet>, Why> {
    let refuse = |text: String| (NoteKind::Refused, text);
    let root = situation.root;
    let mut domains = BTreeMap::new();
    for cpu in cpus.iter() {
        let folder = format!("/sys/devices/system/cpu/cpu{cpu}/cache");
        let indices = root.list_dir(&folder).of(&folder).map_err(refuse)?;
        let is_it = |index: &&String| {
            let read = |name: &str| root.read(format!("{folder}/{index}/{name}")).value();
            read("level") == Some(level.to_string())
                && read("type").as_deref() != Some("Instruction")
        };
        let Some(index) = indices.iter().find(is_it) else { continue };
        let path = format!("{folder}/{index}/id");
        let text = root.read(&path).of(&path).map_err(refuse)?;
        let id = text.parse().map_err(|_| refuse(format!("{path} contains `{text}`")))?;
        let shared = situation.topology.at_cache_of(level, cpu).cloned().unwrap_or_default();
        let beside = shared.intersection(&situation.staying()).difference(cpus);
        let known: &mut CpuSet = domains.entry(id).or_default();
        *known = known.union(&beside);
    }
    Ok(domains)
}

fn ways(
    root: &SysRoot,
    resources: &[&str],
    domain: u32,
    default: &Schemata,
    others: &[Other],
) -> Result<Ways, Why> {
    let refuse = |text: String| (NoteKind::Refused, text);
    let first = resources.first().copied().unwrap_or_default();
    let number = |name: &str, radix: u32| {
        let path = format!("{TOP}/info/{first}/{name}");
        let text = root.read(&path).of(&path)?;
        u64::from_str_radix(&text, radix).map_err(|_| format!("{path} contains `{text}`"))
    };
    let of = |schemata: &Schemata| {
        resources.iter().filter_map(|name| schemata.mask(name, domain)).collect::<Vec<u64>>()
    };
    let theirs = others.iter().flat_map(|other| of(&other.schemata)).fold(0, |all, one| all | one);
    let fewest = number("min_cbm_bits", 10).map_err(refuse)?;
    Ok(Ways {
        all: number("cbm_mask", 16).map_err(refuse)?,
        taken: theirs | number("shareable_bits", 16).map_err(refuse)?,
        default: of(default),
        fewest: u32::try_from(fewest).unwrap_or(u32::MAX),
        // Kernels before 6.7 do not tell.
        sparse: root.read(format!("{TOP}/info/{first}/sparse_masks")).value().as_deref()
            == Some("1"),
    })
}

fn too_few(level: u32, domain: u32, others: &[Other]) -> String {
    let names: Vec<&str> = others.iter().map(|other| other.name.as_str()).collect();
    let why = match &names[..] {
        [] => String::new(),
        names => format!(": other programs have groups ({})", names.join(", ")),
    };
    format!("the L{level} cache {domain} has no ways to spare{why}")
}

/// Lets everything else have a part of the bandwidth, where that is a number in percent that nobody
/// has chosen. Absolute numbers say nothing as long as it is unknown how much there is.
fn throttle(
    root: &SysRoot,
    domain: u32,
    default: &Schemata,
    shares: &mut Shares,
) -> Result<(), String> {
    let Some(now) = default.value("MB", domain) else { return Ok(()) };
    let mounts = root.read("/proc/self/mountinfo").value().unwrap_or_default();
    let is_of_software =
        mounts.lines().any(|line| line.contains(" - resctrl ") && line.contains("mba_MBps"));
    if now != "100" || is_of_software {
        return Err(format!(
            "the memory bandwidth is not divided: everything else has {now}, and becalm only \
             lowers 100 percent"
        ));
    }
    let number = |name: &str| root.parse::<u32>(format!("{TOP}/info/MB/{name}"));
    let (Some(step), Some(least)) = (number("bandwidth_gran"), number("min_bandwidth")) else {
        return Err(format!("{TOP}/info/MB does not list the possible bandwidths"));
    };
    let part = BANDWIDTH.next_multiple_of(step.clamp(1, BANDWIDTH)).max(least);
    if part < 100 {
        shares.before.put("MB", domain, now.to_owned());
        shares.narrowed.put("MB", domain, part.to_string());
    }
    Ok(())
}
