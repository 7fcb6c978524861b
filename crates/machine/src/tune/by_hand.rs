//! What a person would type to set a target.

use becalm_model::{Target, shell_word};

use super::ABSENT;

/// Returns the command by which a person would set a target to `value`.
pub fn by_hand(target: &Target, value: &str) -> String {
    match target {
        Target::File(path) if path.ends_with("/cgroup.subtree_control") => {
            // It takes differences, and becalm changes nothing else in it.
            let has_cpuset = value.split_whitespace().any(|name| name == "cpuset");
            format!("echo {}cpuset > {path}", if has_cpuset { '+' } else { '-' })
        }
        // A line for each resource.
        Target::File(path) if path.ends_with("/schemata") => {
            let lines: Vec<String> = value.split(' ').map(shell_word).collect();
            format!("printf '%s\\n' {} > {path}", lines.join(" "))
        }
        Target::File(path) => format!("echo {} > {path}", shell_word(value)),
        Target::Folder(path) if value == ABSENT => format!("rmdir {path}"),
        Target::Folder(path) => format!("mkdir {path}"),
        Target::Affinity(task) => format!("taskset -pc {value} {}", task.pid),
        Target::Membership { task, hierarchy } => {
            format!("echo {} > {hierarchy}{value}/cgroup.procs", task.pid)
        }
        Target::Unit(name) if value == "active" => format!("systemctl start {name}"),
        Target::Unit(name) => format!("systemctl stop {name}"),
        Target::UnitFile(path) if value == ABSENT => {
            format!("rm {path}; systemctl daemon-reload")
        }
        Target::UnitFile(path) => {
            format!("echo {} > {path}; systemctl daemon-reload", shell_word(value))
        }
        Target::Interface(name) => format!("ip link set dev {name} {value}"),
        Target::Swap(path) if value == "off" => format!("swapoff {}", shell_word(path)),
        Target::Swap(path) if value.starts_with('-') => format!("swapon {}", shell_word(path)),
        Target::Swap(path) => format!("swapon -p {value} {}", shell_word(path)),
        // What `ip route save` writes begins with this number; `restore` reads it more than once.
        Target::Routes(_) => {
            // Its bytes, in the order of this machine.
            let start = format!("{:08x}", 0x4531_1224_u32.to_be());
            format!(
                "routes=$(mktemp); echo {start} {value} | xxd -r -p >$routes; ip route restore <$routes"
            )
        }
        Target::NewInterrupts(_) => {
            format!("echo {} > /proc/irq/NUMBER/smp_affinity_list", shell_word(value))
        }
        Target::Register { cpu, register } => format!("wrmsr -p {cpu} {register:#x} {value}"),
        Target::IrqbalanceBan => "systemctl restart irqbalance".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_person_can_set_a_target_by_hand() {
        let check = |target: Target, value: &str, command: &str| {
            assert_eq!(by_hand(&target, value), command);
        };
        check(Target::File("/sys/a".into()), "0-3,8", "echo 0-3,8 > /sys/a");
        check(Target::File("/sys/a".into()), "it's", r"echo 'it'\''s' > /sys/a");
        check(Target::File("/sys/a".into()), "", "echo '' > /sys/a");
        check(Target::Unit("cron.service".into()), "active", "systemctl start cron.service");
        let control = Target::File("/sys/fs/cgroup/cgroup.subtree_control".into());
        check(control, "cpu io", "echo -cpuset > /sys/fs/cgroup/cgroup.subtree_control");
        let schemata = Target::File("/sys/fs/resctrl/schemata".into());
        let command = r"printf '%s\n' 'L3:0=f;1=f' MB:0=100 > /sys/fs/resctrl/schemata";
        check(schemata, "L3:0=f;1=f MB:0=100", command);
        check(Target::Interface("eth0".into()), "up", "ip link set dev eth0 up");
        check(Target::Register { cpu: 3, register: 0x1a4 }, "0x0", "wrmsr -p 3 0x1a4 0x0");
        check(Target::Swap("/dev/vda2".into()), "-2", "swapon /dev/vda2");
        check(Target::Swap("/s".into()), "5", "swapon -p 5 /s");
        check(Target::Swap("/s".into()), "off", "swapoff /s");
        check(Target::Folder("/sys/fs/cgroup/a".into()), "absent", "rmdir /sys/fs/cgroup/a");
    }
}
