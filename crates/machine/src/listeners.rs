//! Who listens at a socket of this machine, and on which CPUs that may be.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::{Path, PathBuf};

use becalm_model::CpuSet;

use crate::SysRoot;
use crate::cgroup::members::status;
use crate::tasks::processes;

/// Where the link of a file that is an epoll leads.
const EPOLL: &str = "anon_inode:[eventpoll]";

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
/// has only started another one of them, and does not wait for connections as that does, is not one.
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
    let holders: Vec<Holder> =
        processes(root).into_iter().filter_map(|pid| Holder::of(root, pid, &links)).collect();
    // nginx and others open the socket in a process that only starts those that serve; so does systemd. It does not wait
    // for connections, and they do.
    let parents: Vec<u32> =
        holders.iter().filter(|one| one.waits).filter_map(|one| one.parent).collect();
    let only_starts = |one: &Holder| !one.waits && parents.contains(&one.pid);
    let serving = holders.iter().filter(|one| !only_starts(one));
    serving.filter_map(|one| listener(root, one.pid)).collect()
}

/// A process that has the socket open.
struct Holder {
    pid: u32,
    parent: Option<u32>,
    /// Whether it waits for connections with epoll. A process that uses `poll` or `accept` instead does not show that.
    waits: bool,
}

impl Holder {
    /// Looks at the files of a process; nothing if the socket is not among them.
    fn of(root: &SysRoot, pid: u32, sockets: &[String]) -> Option<Self> {
        let folder = format!("/proc/{pid}/fd");
        let files = root.list_dir(&folder).value().unwrap_or_default();
        let links: Vec<(String, PathBuf)> = files
            .into_iter()
            .filter_map(|file| Some((file.clone(), root.link(format!("{folder}/{file}"))?)))
            .collect();
        let is_socket = |link: &Path| sockets.iter().any(|one| link == Path::new(one));
        let own: Vec<&str> =
            links.iter().filter(|(_, link)| is_socket(link)).map(|(file, _)| &file[..]).collect();
        // `proc.rst` of the kernel: `tfd:` is followed by the number of a file that is watched.
        let watches = |line: &str| {
            let watched = line.strip_prefix("tfd:").and_then(|rest| rest.split_whitespace().next());
            watched.is_some_and(|file| own.contains(&file))
        };
        let is_told = |file: &str| {
            let info = root.read(format!("/proc/{pid}/fdinfo/{file}")).value();
            info.is_some_and(|info| info.lines().any(watches))
        };
        let mut polls = links.iter().filter(|(_, link)| link == Path::new(EPOLL));
        let waits = !own.is_empty() && polls.any(|(file, _)| is_told(file));
        (!own.is_empty()).then(|| Self { pid, parent: status(root, pid, "PPid:"), waits })
    }
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
        let process = |tree: FakeTree, [pid, parent]: [u32; 2], watched: &str, cpus: &[&str]| {
            let tree = tree
                .file(format!("/proc/{pid}/comm"), "nginx\n")
                .file(format!("/proc/{pid}/stat"), "x")
                .file(format!("/proc/{pid}/status"), format!("Name:\tnginx\nPPid:\t{parent}\n"))
                .link(format!("/proc/{pid}/fd/3"), "socket:[4711]")
                .link(format!("/proc/{pid}/fd/8"), EPOLL)
                .file(format!("/proc/{pid}/fdinfo/8"), format!("pos:\t0\n{watched}"));
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
        let told = "tfd:        3 events:       19 data:  0  pos:0 ino:1 sdev:8\n";
        let other = "tfd:       33 events:       19 data:  3  pos:0 ino:1 sdev:8\n";
        let found = |tree: &FakeTree| -> Vec<(u32, String)> {
            let socket = Socket::Tcp(([127, 0, 0, 1], 8080).into());
            let all = listeners(&SysRoot::new(tree.path()), socket);
            all.into_iter().map(|one| (one.pid, one.cpus.to_string())).collect()
        };
        let [all, one, some] = ["0-63", "0", "2,4-5"].map(str::to_owned);
        // The one that starts the others, with systemd as its own parent.
        let tree = process(tree, [60, 1], other, &["0-63"]);
        let tree = process(process(tree, [70, 60], told, &["0"]), [80, 60], told, &["2", "4-5"]);
        assert_eq!(found(&tree), [(70, one.clone()), (80, some.clone())]);
        // One that serves, whose children only have its files.
        let tree = FakeTree::new().file("/proc/net/tcp", format!("  sl  local_address\n{row}\n"));
        let tree = process(process(tree, [60, 1], told, &["0-63"]), [70, 60], other, &["0"]);
        assert_eq!(found(&tree), [(60, all.clone()), (70, one.clone())]);
        // Of those that wait in another way nothing is known.
        let tree = FakeTree::new().file("/proc/net/tcp", format!("  sl  local_address\n{row}\n"));
        let tree = process(process(tree, [60, 1], "", &["0-63"]), [70, 60], "", &["0"]);
        assert_eq!(found(&tree), [(60, all), (70, one)]);
    }
}
