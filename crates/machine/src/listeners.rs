//! Who listens at a socket of this machine, and on which CPUs that may be.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::Path;

use becalm_model::CpuSet;

use crate::SysRoot;
use crate::cgroup::members::status;
use crate::tasks::processes;

/// A process that listens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listener {
    /// Its number.
    pub pid: u32,
    /// Its name, as the kernel has it.
    pub name: String,
    /// The CPUs that any of its threads may use.
    pub cpus: CpuSet,
}

/// Where somebody listens.
#[derive(Debug, Clone, Copy)]
pub enum Socket<'a> {
    /// At an address of TCP.
    Tcp(SocketAddr),
    /// At a socket of Unix.
    Unix(&'a Path),
}

/// Returns the processes that listen at a socket; none where nobody does, or where this process may not see who. One that
/// has started another one of them is not one: it leaves serving to that.
pub fn listeners(root: &SysRoot, socket: Socket<'_>) -> Vec<Listener> {
    let sockets = match socket {
        Socket::Tcp(address) => ["/proc/net/tcp", "/proc/net/tcp6"]
            .into_iter()
            .flat_map(|file| of_tcp(&root.read(file).value().unwrap_or_default(), address))
            .collect(),
        Socket::Unix(path) => {
            of_unix(&root.read("/proc/net/unix").value().unwrap_or_default(), path)
        }
    };
    if sockets.is_empty() {
        return Vec::new();
    }
    let links: Vec<String> = sockets.iter().map(|inode| format!("socket:[{inode}]")).collect();
    let has_one = |pid: &u32| {
        let folder = format!("/proc/{pid}/fd");
        let files = root.list_dir(&folder).value().unwrap_or_default();
        files.iter().any(|file| {
            let link = root.link(format!("{folder}/{file}"));
            link.is_some_and(|link| links.iter().any(|one| link == Path::new(one)))
        })
    };
    let holders: Vec<u32> = processes(root).into_iter().filter(has_one).collect();
    // nginx and others open the socket in a process that only starts those that serve; so does systemd.
    let parent = |pid: &u32| status(root, *pid, "PPid:");
    let parents: Vec<u32> = holders.iter().filter_map(parent).collect();
    let serves = |pid: &u32| !parents.contains(pid);
    holders.into_iter().filter(serves).filter_map(|pid| listener(root, pid)).collect()
}

fn listener(root: &SysRoot, pid: u32) -> Option<Listener> {
    let name = root.read(format!("/proc/{pid}/comm")).value()?;
    let threads = root.list_dir(format!("/proc/{pid}/task")).value()?;
    let mut cpus = CpuSet::default();
    for thread in threads {
        let status = root.read(format!("/proc/{pid}/task/{thread}/status")).value();
        let status = status.unwrap_or_default();
        let allowed = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
        if let Some(allowed) = allowed.and_then(|list| list.trim().parse().ok()) {
            cpus = cpus.union(&allowed);
        }
    }
    Some(Listener { pid, name, cpus })
}

/// Returns the inodes of sockets that listen at an address, or at all addresses, of a table of `/proc/net` (`proc_net_tcp.rst`
/// of the kernel's documentation).
fn of_tcp(table: &str, wanted: SocketAddr) -> Vec<u64> {
    const LISTENING: &str = "0A";
    let row = |line: &str| {
        let cells: Vec<&str> = line.split_whitespace().collect();
        let (address, port) = cells.get(1)?.split_once(':')?;
        let is_there = *cells.get(3)? == LISTENING
            && u16::from_str_radix(port, 16).ok()? == wanted.port()
            && takes(ip(address)?, wanted.ip());
        is_there.then(|| cells.get(9)?.parse().ok()).flatten()
    };
    table.lines().skip(1).filter_map(row).collect()
}

/// Says whether a socket at `bound` takes what comes for `wanted`.
fn takes(bound: IpAddr, wanted: IpAddr) -> bool {
    let wildcard = match bound {
        IpAddr::V4(address) => address.is_unspecified() && wanted.is_ipv4(),
        // By default a socket of IPv6 takes IPv4, too.
        IpAddr::V6(address) => address.is_unspecified(),
    };
    wildcard || bound.to_canonical() == wanted.to_canonical()
}

/// Reads an address as the kernel writes it: words of four bytes in the order of the machine, in hexadecimal.
fn ip(text: &str) -> Option<IpAddr> {
    let word = |at: usize| {
        let digits = text.get(at * 8..(at + 1) * 8)?;
        u32::from_str_radix(digits, 16).ok().map(u32::to_ne_bytes)
    };
    match text.len() {
        8 => Some(Ipv4Addr::from(word(0)?).into()),
        32 => {
            let mut bytes = [0; 16];
            for (at, four) in bytes.chunks_exact_mut(4).enumerate() {
                four.copy_from_slice(&word(at)?);
            }
            Some(Ipv6Addr::from(bytes).into())
        }
        _ => None,
    }
}

/// Returns the inodes of sockets that listen at a path.
fn of_unix(table: &str, wanted: &Path) -> Vec<u64> {
    /// `__SO_ACCEPTCON` of `include/linux/net.h`.
    const LISTENING: u32 = 0x10000;
    let row = |line: &str| {
        let mut rest = line;
        let mut cells = Vec::new();
        // A path may have spaces in it.
        for _ in 0..7 {
            let (cell, after) = rest.trim_start().split_once(' ')?;
            cells.push(cell);
            rest = after;
        }
        let flags = u32::from_str_radix(cells[3], 16).ok()?;
        let is_there = flags & LISTENING != 0 && Path::new(rest.trim_start()) == wanted;
        is_there.then(|| cells[6].parse().ok()).flatten()
    };
    table.lines().skip(1).filter_map(row).collect()
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;
    use std::os::unix::net::UnixListener;

    use becalm_testkit::FakeTree;

    use super::*;

    #[test]
    fn this_process_listens_where_it_does() {
        let root = SysRoot::default();
        let pids = |socket| -> Vec<u32> {
            listeners(&root, socket).into_iter().map(|one| one.pid).collect()
        };
        for place in ["127.0.0.1:0", "0.0.0.0:0"] {
            let listener = TcpListener::bind(place).unwrap();
            let port = listener.local_addr().unwrap().port();
            let own = std::process::id();
            assert_eq!(pids(Socket::Tcp(([127, 0, 0, 1], port).into())), [own], "{place}");
            drop(listener);
            assert_eq!(pids(Socket::Tcp(([127, 0, 0, 1], port).into())), [0; 0], "{place}");
        }
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a socket");
        let _listener = UnixListener::bind(&path).unwrap();
        let found = listeners(&root, Socket::Unix(&path));
        assert_eq!(found.len(), 1);
        assert!(!found[0].cpus.is_empty() && !found[0].name.is_empty(), "{found:?}");
    }

    #[test]
    fn the_workers_of_a_server_share_its_socket_and_each_has_its_cpus() {
        let row = "   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000  0 4711 1 0 100 0 0 10 0";
        let other = row.replace("0A", "01").replace("4711", "4712");
        let process = |tree: FakeTree, pid: u32, parent: u32, cpus: &[&str]| {
            let tree = tree
                .file(format!("/proc/{pid}/comm"), "nginx\n")
                .file(format!("/proc/{pid}/stat"), "x")
                .file(format!("/proc/{pid}/status"), format!("Name:\tnginx\nPPid:\t{parent}\n"))
                .link(format!("/proc/{pid}/fd/3"), "socket:[4711]");
            cpus.iter().enumerate().fold(tree, |tree, (index, cpus)| {
                let thread = pid + u32::try_from(index).unwrap();
                let status = format!("Name:\tnginx\nCpus_allowed_list:\t{cpus}\n");
                tree.file(format!("/proc/{pid}/task/{thread}/status"), status)
            })
        };
        let tree = FakeTree::new()
            .file("/proc/net/tcp", format!("  sl  local_address\n{row}\n{other}\n"))
            .file("/proc/90/comm", "other\n")
            .link("/proc/90/fd/3", "socket:[4712]");
        // The one that starts the others, with systemd as its own parent.
        let tree = process(tree, 60, 1, &["0-63"]);
        let tree = process(process(tree, 70, 60, &["0"]), 80, 60, &["2", "4-5"]);
        let found =
            listeners(&SysRoot::new(tree.path()), Socket::Tcp(([127, 0, 0, 1], 8080).into()));
        let found: Vec<(u32, String)> =
            found.into_iter().map(|one| (one.pid, one.cpus.to_string())).collect();
        assert_eq!(found, [(70, "0".to_owned()), (80, "2,4-5".to_owned())]);
    }
}
