//! What tuning changes on a machine, as values: written to the journal before anything happens and
//! read back by whoever restores, possibly another process.

use std::fmt;

/// One reversible change of the machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// Name of the knob that asks for it.
    pub knob: String,
    /// What is changed.
    pub target: Target,
    /// Its value before anything was changed.
    pub old: String,
    /// The value to be set. `None` for a *guarded* target: becalm does not set it, but another
    /// change may disturb it, so it is saved and put back like the others.
    pub new: Option<String>,
    /// Why, as a fragment for people: `the frequency follows the load`.
    pub reason: String,
    /// What is special about it.
    pub nature: Nature,
}

/// What is special about a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Nature {
    /// Nothing.
    #[default]
    Plain,
    /// The kernel changes the value by itself, so that a third value says nothing about others.
    Drifts,
    /// The kernel may refuse it and nothing tells beforehand, as for interrupts that it manages: a
    /// refusal is worth a note and is no failure.
    MayBeRefused,
}

impl Change {
    /// A change of a kernel file by the knob `knob` from `old` to `new`.
    pub fn file(knob: &str, path: impl Into<String>, old: &str, new: &str, reason: &str) -> Self {
        Self {
            knob: knob.to_owned(),
            target: Target::File(path.into()),
            old: old.to_owned(),
            new: Some(new.to_owned()),
            reason: reason.to_owned(),
            nature: Nature::Plain,
        }
    }

    /// The same change, of another nature.
    #[must_use]
    pub fn with(mut self, nature: Nature) -> Self {
        self.nature = nature;
        self
    }
}

/// Something with a value that can be read, set and put back.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Target {
    /// A file of the kernel: `/sys/...`, `/proc/sys/...`, a file of a control group.
    File(String),
    /// A folder that exists or not, such as a control group: `present` or `absent`.
    Folder(String),
    /// The CPUs on which a task may run, as a list.
    Affinity {
        /// Its thread id.
        pid: u32,
        /// When it started, in clock ticks since boot: a reused id is another task.
        start_time: u64,
    },
    /// The control group of a task in one hierarchy: its folder below the mount point.
    Membership {
        /// Its process id.
        pid: u32,
        /// When it started, in clock ticks since boot.
        start_time: u64,
        /// Where the hierarchy is mounted.
        hierarchy: String,
    },
    /// A unit of systemd: `active` or `inactive`.
    Unit(String),
    /// The file that defines a unit of systemd until the next boot: its text, or `absent`.
    UnitFile(String),
    /// A network interface, by name: `up` or `down`.
    Interface(String),
    /// The routes that somebody has set through a network interface, which the kernel forgets when it goes
    /// down: its messages (`RTM_NEWROUTE`) in hexadecimal digits, one word each.
    Routes(String),
    /// CPUs that irqbalance leaves alone, beyond those it finds itself: a list, empty for none.
    IrqbalanceBan,
}

impl fmt::Display for Target {
    /// Writes it as people would name it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) | Self::Folder(path) | Self::UnitFile(path) => f.write_str(path),
            Self::Affinity { pid, .. } => write!(f, "CPUs of task {pid}"),
            Self::Membership { pid, hierarchy, .. } => {
                write!(f, "control group of process {pid} in {hierarchy}")
            }
            Self::Unit(name) => write!(f, "systemd unit {name}"),
            Self::Interface(name) => write!(f, "network interface {name}"),
            Self::Routes(name) => write!(f, "routes through {name}"),
            Self::IrqbalanceBan => f.write_str("CPUs banned from irqbalance"),
        }
    }
}

impl Target {
    /// Returns the command by which a person would set it to `value`.
    pub fn by_hand(&self, value: &str) -> String {
        match self {
            Self::File(path) if path.ends_with("/cgroup.subtree_control") => {
                // It takes differences, and becalm changes nothing else in it.
                let has_cpuset = value.split_whitespace().any(|name| name == "cpuset");
                format!("echo {}cpuset > {path}", if has_cpuset { '+' } else { '-' })
            }
            Self::File(path) => format!("echo {} > {path}", quoted(value)),
            Self::Folder(path) if value == "absent" => format!("rmdir {path}"),
            Self::Folder(path) => format!("mkdir {path}"),
            Self::Affinity { pid, .. } => format!("taskset -pc {value} {pid}"),
            Self::Membership { pid, hierarchy, .. } => {
                format!("echo {pid} > {hierarchy}{value}/cgroup.procs")
            }
            Self::Unit(name) if value == "active" => format!("systemctl start {name}"),
            Self::Unit(name) => format!("systemctl stop {name}"),
            Self::UnitFile(path) if value == "absent" => {
                format!("rm {path}; systemctl daemon-reload")
            }
            Self::UnitFile(path) => {
                format!("echo {} > {path}; systemctl daemon-reload", quoted(value))
            }
            Self::Interface(name) => format!("ip link set dev {name} {value}"),
            // What `ip route save` writes begins with this number; `restore` reads it more than once.
            Self::Routes(_) => {
                // Its bytes, in the order of this machine.
                let start = format!("{:08x}", 0x4531_1224_u32.to_be());
                format!(
                    "routes=$(mktemp); echo {start} {value} | xxd -r -p >$routes; ip route restore <$routes"
                )
            }
            Self::IrqbalanceBan => "systemctl restart irqbalance".to_owned(),
        }
    }
}

/// Quotes a value for a shell where it needs it.
fn quoted(value: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.,:/+".contains(c);
    if !value.is_empty() && value.chars().all(plain) {
        value.to_owned()
    } else {
        format!("'{}'", value.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_person_can_set_a_target_by_hand() {
        let check = |target: Target, value: &str, command: &str| {
            assert_eq!(target.by_hand(value), command);
        };
        check(Target::File("/sys/a".into()), "0-3,8", "echo 0-3,8 > /sys/a");
        check(Target::File("/sys/a".into()), "it's", r"echo 'it'\''s' > /sys/a");
        check(Target::File("/sys/a".into()), "", "echo '' > /sys/a");
        check(Target::Unit("cron.service".into()), "active", "systemctl start cron.service");
        let control = Target::File("/sys/fs/cgroup/cgroup.subtree_control".into());
        check(control, "cpu io", "echo -cpuset > /sys/fs/cgroup/cgroup.subtree_control");
        check(Target::Interface("eth0".into()), "up", "ip link set dev eth0 up");
        check(Target::Folder("/sys/fs/cgroup/a".into()), "absent", "rmdir /sys/fs/cgroup/a");
    }
}
