//! Network interfaces are taken down, so that no packet interrupts anybody.
//!
//! Only on request, and only where nothing depends on the network: no connection, no file system or disk
//! of another machine, nobody for whom this machine forwards. Of an interface that goes down the kernel
//! forgets the routes, and the IPv6 addresses unless it is asked to keep them.
//! <https://docs.kernel.org/networking/ip-sysctl.html> (`keep_addr_on_down`), `fib_disable_ip` in
//! `net/ipv4/fib_frontend.c`.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use becalm_model::Target;

use super::{Knob, Planner, Profile};
use crate::tune::{DOWN, UP, read_target};
use crate::{Reading, SysRoot};

const FOLDER: &str = "/sys/class/net";

pub(super) const NETWORK: Knob = Knob {
    name: "network",
    summary: "network interfaces down, if nothing remote depends on them",
    reason: "packets interrupt whatever runs",
    profile: Profile::OnRequest,
    plan,
};

fn plan(planner: &mut Planner<'_>) {
    let root = planner.situation.root;
    let names = root.list_dir(FOLDER).value().unwrap_or_default();
    let (mine, others): (Vec<String>, Vec<String>) = names
        .into_iter()
        .filter(|name| read_target(root, &Target::Interface(name.clone())) == up())
        .partition(|name| root.exists(format!("{FOLDER}/{name}/device")));
    if mine.is_empty() {
        return planner.not_here("no network interface of a device is up");
    }
    if let Some(why) = dependant(root) {
        return planner.refuse(why);
    }
    for name in mine {
        let over =
            others.iter().find(|other| root.exists(format!("{FOLDER}/{other}/lower_{name}")));
        match over {
            Some(other) => {
                let text = format!("{name} carries {other}, which becalm could not put back");
                planner.refuse(text);
            }
            None => take_down(planner, name),
        }
    }
}

fn up() -> Reading {
    Reading::Value(UP.to_owned())
}

fn take_down(planner: &mut Planner<'_>, name: String) {
    let situation = planner.situation;
    let routes = Target::Routes(name.clone());
    let saved = match read_target(situation.root, &routes).of(format!("routes of {name}")) {
        Ok(saved) => saved,
        Err(why) => return planner.refuse(why),
    };
    let keep = format!("/proc/sys/net/ipv6/conf/{name}/keep_addr_on_down");
    if situation.root.exists(&keep) {
        planner.set_because(keep, "1", "the kernel would forget its IPv6 addresses");
    }
    // Backwards: up, routes, and the kernel's habit last.
    planner.add(planner.change(routes, &saved, None));
    planner.add(planner.change(Target::Interface(name), UP, Some(DOWN)));
}

/// Says what depends on the network, if anything does.
fn dependant(root: &SysRoot) -> Option<String> {
    if let Some((address, port)) = connected(root) {
        return Some(format!("a connection with {address}, port {port}, is open and would break"));
    }
    if let Some(place) = remote_mount(root) {
        return Some(format!("{place} is a file system of another machine"));
    }
    if let Some(disk) = remote_disk(root) {
        return Some(format!("{disk} is a disk of another machine"));
    }
    ["/proc/sys/net/ipv4/ip_forward", "/proc/sys/net/ipv6/conf/all/forwarding"]
        .into_iter()
        .find(|path| root.read(path).value().is_some_and(|value| value != "0"))
        .map(|path| {
            format!("{path} is on: this machine forwards packets for others (containers, guests)")
        })
}

/// Returns the other end of a connection that leaves this machine.
fn connected(root: &SysRoot) -> Option<(IpAddr, u16)> {
    ["tcp", "tcp6", "udp", "udp6"].into_iter().find_map(|kind| {
        let text = root.read(format!("/proc/net/{kind}")).value()?;
        text.lines().skip(1).filter_map(remote).find(|(address, _)| !is_here(*address))
    })
}

/// Reads the other end from a line of `/proc/net/tcp`: the third word, while the state in the fourth
/// means that there is one. <https://docs.kernel.org/networking/proc_net_tcp.html>
fn remote(line: &str) -> Option<(IpAddr, u16)> {
    /// `TCP_TIME_WAIT`, `TCP_CLOSE` (also a UDP socket without other end), `TCP_LISTEN`,
    /// `TCP_NEW_SYN_RECV`.
    const NOBODY: [&str; 4] = ["06", "07", "0A", "0C"];
    let mut words = line.split_whitespace().skip(2);
    let (address, port) = words.next()?.split_once(':')?;
    if NOBODY.contains(&words.next()?) {
        return None;
    }
    Some((parse(address)?, u16::from_str_radix(port, 16).ok()?))
}

/// Reads an address: words of 32 bits, each in the byte order of this machine.
fn parse(digits: &str) -> Option<IpAddr> {
    let words = digits.as_bytes().chunks(8);
    let bytes: Option<Vec<[u8; 4]>> = words
        .map(|word| {
            let word = u32::from_str_radix(std::str::from_utf8(word).ok()?, 16).ok()?;
            Some(word.to_ne_bytes())
        })
        .collect();
    match bytes?.as_slice() {
        [one] => Some(Ipv4Addr::from(*one).into()),
        four @ [_, _, _, _] => {
            let sixteen = <[u8; 16]>::try_from(four.as_flattened()).ok()?;
            Some(Ipv6Addr::from(sixteen).to_canonical())
        }
        _ => None,
    }
}

fn is_here(address: IpAddr) -> bool {
    address.is_loopback() || address.is_unspecified()
}

fn remote_mount(root: &SysRoot) -> Option<String> {
    const KINDS: [&str; 15] = [
        "afs",
        "beegfs",
        "ceph",
        "cifs",
        "fuse.ceph-fuse",
        "fuse.glusterfs",
        "fuse.s3fs",
        "fuse.sshfs",
        "gpfs",
        "lustre",
        "ncpfs",
        "nfs",
        "nfs4",
        "ocfs2",
        "smb3",
    ];
    let mounts = root.read("/proc/self/mounts").value()?;
    mounts.lines().find_map(|line| {
        let mut words = line.split(' ').skip(1);
        let (place, kind) = (words.next()?, words.next()?);
        KINDS.contains(&kind).then(|| place.to_owned())
    })
}

fn remote_disk(root: &SysRoot) -> Option<String> {
    let sessions = root.list_dir("/sys/class/iscsi_session").value().unwrap_or_default();
    let is_remote = |name: &String| {
        // A device that nobody has connected has no size.
        let size = || root.read(format!("/sys/block/{name}/size")).value();
        ["nbd", "rbd", "drbd"].iter().any(|kind| name.starts_with(kind))
            && size().is_some_and(|size| size != "0")
    };
    let disks = root.list_dir("/sys/block").value().unwrap_or_default();
    sessions.into_iter().next().or_else(|| disks.into_iter().find(is_remote))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Topology;
    use crate::knobs::{Planned, Situation, TuningRequest};
    use becalm_model::CpuSet;
    use becalm_testkit::FakeTree;

    const IDLE: &str = "  sl  local_address rem_address   st\n   \
        0: 00000000:0016 00000000:0000 0A 0\n   1: 0100007F:0035 0100007F:9999 01 0\n";

    fn machine() -> FakeTree {
        FakeTree::new()
            .file("/sys/devices/system/cpu/online", "0\n")
            .file("/sys/devices/system/cpu/possible", "0\n")
            .file("/sys/devices/system/cpu/present", "0\n")
            .file("/sys/class/net/lo/flags", "0x9\n")
            .file("/sys/class/net/eth0/flags", "0x1003\n")
            .file("/sys/class/net/eth0/device/vendor", "0x1af4\n")
            .file("/sys/class/net/eth1/flags", "0x1002\n")
            .file("/sys/class/net/eth1/device/vendor", "0x1af4\n")
            .file("/proc/sys/net/ipv6/conf/eth0/keep_addr_on_down", "0\n")
            .file("/proc/sys/net/ipv4/ip_forward", "0\n")
            .file("/proc/net/tcp", IDLE)
    }

    fn planned(tree: &FakeTree) -> Planned {
        let root = SysRoot::new(tree.path());
        let topology = Topology::read(&root).unwrap();
        let request = TuningRequest::default();
        NETWORK.planned(&Situation::of(&root, &topology, CpuSet::new(), &request))
    }

    #[test]
    fn interfaces_that_are_up_go_down_after_their_routes_are_saved() {
        let changes = planned(&machine()).changes;
        let shown: Vec<String> = changes
            .iter()
            .map(|one| format!("{} {:?} -> {:?}", one.target, one.old, one.new))
            .collect();
        assert_eq!(
            shown,
            [
                "/proc/sys/net/ipv6/conf/eth0/keep_addr_on_down \"0\" -> Some(\"1\")",
                "routes through eth0 \"\" -> None",
                "network interface eth0 \"up\" -> Some(\"down\")",
            ]
        );
    }

    #[test]
    fn nothing_is_taken_down_that_somebody_needs() {
        let check = |path: &str, content: &str, reason: &str| {
            let planned = planned(&machine().file(path, content));
            assert!(planned.changes.is_empty(), "{planned:?}");
            assert!(planned.notes[0].text.contains(reason), "{planned:?}");
        };
        let open = format!("{IDLE}   2: 0202000A:0016 0502000A:C350 01 0\n");
        check("/proc/net/tcp", &open, "a connection with 10.0.2.5, port 50000, is open");
        let mapped = "sl\n 0: 0:0016 0000000000000000FFFF00000502000A:C350 01\n";
        check("/proc/net/tcp6", mapped, "a connection with 10.0.2.5, port 50000, is open");
        check("/proc/self/mounts", "a:/b /data nfs4 rw 0 0\n", "/data is a file system of another");
        check("/sys/class/iscsi_session/session1/state", "up\n", "session1 is a disk of another");
        check("/sys/block/nbd0/size", "8\n", "nbd0 is a disk of another");
        check("/proc/sys/net/ipv4/ip_forward", "1\n", "forwards packets for others");
        let bond = machine().file("/sys/class/net/bond0/flags", "0x1003\n");
        let bond = bond.file("/sys/class/net/bond0/lower_eth0/flags", "0x1003\n");
        assert!(planned(&bond).notes[0].text.contains("eth0 carries bond0"));
        let idle = machine().file("/sys/block/nbd0/size", "0\n");
        assert_eq!(planned(&idle).changes.len(), 3);
    }
}
