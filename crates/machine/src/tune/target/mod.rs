//! Reading and setting one target of a change.

mod affinity;
mod group;
mod interface;
mod irqbalance;
mod membership;
mod new_interrupts;
mod register;
mod routes;
mod schemata;
mod subtree;
mod swap;
mod told;
mod unit;
mod watchdog;
mod workqueue;

use std::io;

use becalm_model::Target;

pub(crate) use affinity::allowed_list;
pub(crate) use interface::{DOWN, UP};
pub(crate) use register::{parse as parse_word, text as word_text};
pub(crate) use swap::{Area, OFF, areas as swap_areas};
pub(crate) use watchdog::is_off as watchdog_is_off;

use super::{chosen, same};
use crate::{Reading, SysRoot};

/// Value of a folder that exists.
pub(crate) const PRESENT: &str = "present";
/// Value of a folder that does not.
pub(crate) const ABSENT: &str = "absent";

/// Returns the value of a target now.
pub(crate) fn read(root: &SysRoot, target: &Target) -> Reading {
    match target {
        Target::File(path) if watchdog::is_off(root, path) => Reading::Value("0".to_owned()),
        Target::File(path) if workqueue::is_it(path) => workqueue::read(root),
        Target::File(path) => root.read(path),
        Target::Folder(path) => {
            Reading::Value(if root.exists(path) { PRESENT } else { ABSENT }.to_owned())
        }
        Target::Affinity(task) => affinity::read(root, task.pid, task.start_time),
        Target::Membership { task, hierarchy } => {
            membership::read(root, task.pid, task.start_time, hierarchy)
        }
        Target::Unit(name) => unit::read(root, name),
        Target::IrqbalanceBan => irqbalance::read(root),
        Target::NewInterrupts(new) => new_interrupts::read(root, new),
        Target::UnitFile(name) => unit::read_file(root, name),
        Target::Register { cpu, register } => register::read(root, *cpu, *register),
        Target::Interface(name) => interface::read(root, name),
        Target::Routes(name) => routes::read(root, name),
        Target::Swap(path) => swap::read(root, path),
    }
}

/// Sets a target.
pub(crate) fn write(root: &SysRoot, target: &Target, value: &str) -> io::Result<()> {
    match target {
        Target::File(path) if subtree::is_one(path) => subtree::write(root, path, value),
        Target::File(path) if schemata::is_one(path) => schemata::write(root, path, value),
        // Some kernels read on behind the end of what was written (`osnoise_cpus_write` in
        // kernel/trace/trace_osnoise.c), unless a line ends there.
        Target::File(path) if path.ends_with("/osnoise/cpus") => {
            root.write(path, &format!("{value}\n"))
        }
        // The kernel takes no notice of a write of nothing.
        Target::File(path) if value.is_empty() => root.write(path, "\n"),
        // A value that was read as one of several words is written as the one word.
        Target::File(path) => root.write(path, chosen(value)),
        Target::Folder(path) if value == ABSENT => group::remove(root, path),
        Target::Folder(path) => root.make_folder(path),
        Target::Affinity(task) => affinity::write(root, task.pid, task.start_time, value),
        Target::Membership { task, hierarchy } => {
            membership::write(root, task.pid, task.start_time, hierarchy, value)
        }
        Target::Unit(name) => unit::write(root, name, value),
        Target::IrqbalanceBan => irqbalance::write(root, value),
        Target::NewInterrupts(new) => new_interrupts::write(root, new, value),
        Target::UnitFile(name) => unit::write_file(root, name, value),
        Target::Register { cpu, register } => register::write(root, *cpu, *register, value),
        Target::Interface(name) => interface::write(root, name, value),
        Target::Routes(_) => routes::write(root, value),
        Target::Swap(path) => swap::write(root, path, value),
    }
}

/// Says whether `now` and `value` are the same value of a target.
pub(super) fn is(target: &Target, now: &str, value: &str) -> bool {
    match target {
        Target::File(path) => same(path, now, value),
        Target::Affinity(_) | Target::IrqbalanceBan | Target::NewInterrupts(_) => {
            same("cpuset.cpus", now, value)
        }
        _ => now.trim() == value.trim(),
    }
}

/// irqbalance takes what it is told, and acts on it at its next look at the interrupts. What it says
/// until then is the past, and who told it last may have died before that was noted; so it is always told,
/// and the telling is enough. Of the interrupts that were requested since, some stay where the kernel keeps
/// them.
pub(super) fn tells_late(target: &Target) -> bool {
    matches!(target, Target::IrqbalanceBan | Target::NewInterrupts(_))
}
