//! CPUs that a measurement has for itself among the measurements of this machine.
//!
//! For each CPU there is one abstract socket, bound for as long as the CPU is used: the kernel frees
//! it with its process, whatever becomes of that, and anybody may bind one. Nothing keeps other
//! programs off the CPU; only becalm itself looks. Abstract sockets belong to a network namespace,
//! so that containers with a network of their own do not see each other's.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io;
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr, UnixListener};

use becalm_kernel::{descriptor, socket};
use becalm_model::{CpuId, CpuSet, Limit, PlacementLimit};

use crate::SysRoot;

/// CPUs that this process has leased. Dropped, they are free again.
#[derive(Debug, Default)]
pub struct Leases {
    sockets: Vec<UnixListener>,
}

/// A CPU that somebody else has leased.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Leased {
    /// The CPU.
    pub cpu: CpuId,
    /// The process; 0 where it is in another container.
    pub holder: u32,
}

impl Leases {
    /// Leases all of `cpus`, or none and says which one is taken. A machine without abstract sockets
    /// leases nothing and refuses nothing.
    pub fn take(root: &SysRoot, cpus: &CpuSet) -> Result<Self, Leased> {
        let mut sockets = Vec::with_capacity(cpus.len());
        for cpu in cpus.iter() {
            let address = SocketAddr::from_abstract_name(name(root, cpu));
            match address.and_then(|address| UnixListener::bind_addr(&address)) {
                Ok(socket) => sockets.push(socket),
                Err(error) if error.kind() == io::ErrorKind::AddrInUse => {
                    return Err(Leased { cpu, holder: holder(root, cpu).unwrap_or(0) });
                }
                Err(_) => {}
            }
        }
        Ok(Self { sockets })
    }

    /// Lets the leases live on with the program that this process becomes, for as long as that, or what it
    /// starts, lives.
    pub fn keep_over_exec(self) {
        for socket in self.sockets {
            // Where it is refused the CPU is only not leased any more.
            let _ = descriptor::keep_over_exec(&socket);
            std::mem::forget(socket);
        }
    }
}

/// Returns those of `cpus` that somebody has leased.
pub fn leased(root: &SysRoot, cpus: &CpuSet) -> Vec<Leased> {
    let taken = |cpu| holder(root, cpu).map(|holder| Leased { cpu, holder });
    cpus.iter().filter_map(taken).collect()
}

/// Says that the CPUs of a subject are used by other measurements too; nothing if they are not.
pub fn shared(leased: &[Leased], subject: &CpuSet) -> Option<Limit> {
    let here = || leased.iter().filter(|one| subject.contains(one.cpu));
    let cpus: CpuSet = here().map(|one| one.cpu).collect();
    let mut holders: Vec<u32> = here().map(|one| one.holder).collect();
    holders.sort_unstable();
    holders.dedup();
    (!cpus.is_empty()).then(|| PlacementLimit::MeasuredByOthers { cpus, holders }.into())
}

fn holder(root: &SysRoot, cpu: CpuId) -> Option<u32> {
    socket::owner_of_socket(name(root, cpu).as_bytes())
}

/// The name of a CPU. Folders that stand for machines have CPUs of their own.
fn name(root: &SysRoot, cpu: CpuId) -> String {
    if root.is_live() {
        return format!("becalm/cpu/{cpu}");
    }
    let mut hash = DefaultHasher::new();
    root.path().hash(&mut hash);
    format!("becalm/cpu/{cpu}/{:016x}", hash.finish())
}

#[cfg(test)]
mod tests {
    use super::*;
    use becalm_testkit::FakeTree;

    fn set(list: &str) -> CpuSet {
        list.parse().unwrap()
    }

    #[test]
    fn a_cpu_is_leased_once_and_the_holder_is_known() {
        let tree = FakeTree::new();
        let root = SysRoot::new(tree.path());
        let first = Leases::take(&root, &set("1-2")).unwrap();
        let me = std::process::id();
        assert_eq!(
            Leases::take(&root, &set("0,2")).unwrap_err(),
            Leased { cpu: CpuId(2), holder: me }
        );
        // A lease that was refused as a whole keeps nothing.
        let other = Leases::take(&root, &set("0")).unwrap();
        let taken = leased(&root, &set("0-3"));
        assert_eq!(taken.iter().map(|one| one.cpu.0).collect::<Vec<_>>(), [0, 1, 2]);
        drop((first, other));
        assert_eq!(leased(&root, &set("0-3")), []);
    }

    #[test]
    fn folders_that_stand_for_machines_do_not_share_cpus() {
        let (one, other) = (FakeTree::new(), FakeTree::new());
        let _first = Leases::take(&SysRoot::new(one.path()), &set("0")).unwrap();
        assert!(Leases::take(&SysRoot::new(other.path()), &set("0")).is_ok());
    }

    #[test]
    fn who_else_measures_is_named() {
        let taken = [Leased { cpu: CpuId(1), holder: 7 }, Leased { cpu: CpuId(2), holder: 0 }];
        assert_eq!(shared(&taken, &set("0,3")), None);
        let by = |cpus, holders| {
            Some(PlacementLimit::MeasuredByOthers { cpus: set(cpus), holders }.into())
        };
        assert_eq!(shared(&taken, &set("1")), by("1", vec![7]));
        assert_eq!(shared(&taken, &set("0-2")), by("1-2", vec![0, 7]));
    }
}
