//! Keeps the generator's threads off the CPUs of the server, where it can be known which those are.

use std::net::{IpAddr, Ipv4Addr};

use becalm_load::Target;
use becalm_load::serve::Listening;
use becalm_machine::{Socket, SysRoot, Topology, listeners};
use becalm_model::CpuSet;
use becalm_model::load::{GeneratorPlace, Separation};
use becalm_runner::pin_self;
use becalm_session::Machine;

use crate::error::CommandError;

/// Puts this thread, and with it those that it will start, on CPUs of its own, and says how that went.
pub(super) fn keep_apart(
    target: &Target,
    chosen: Option<&CpuSet>,
    Machine { root, topology, .. }: &Machine,
) -> Result<GeneratorPlace, CommandError> {
    let (cpus, separation) = match chosen {
        Some(cpus) => {
            let missing = cpus.difference(&topology.allowed);
            if !missing.is_empty() {
                return Err(CommandError::usage(format!(
                    "--cpus: becalm may not use {}",
                    missing.named()
                )));
            }
            (cpus.clone(), Separation::Chosen)
        }
        None => place_of(topology, server(target, root)),
    };
    if cpus != topology.allowed
        && let Err(error) = pin_self(&cpus)
    {
        let separation = Separation::Refused { error: error.to_string() };
        return Ok(GeneratorPlace { cpus: topology.allowed.clone(), separation, awake: None });
    }
    Ok(GeneratorPlace { cpus, separation, awake: None })
}

/// What is known about the server's CPUs.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Server {
    /// It is not of this machine, or not only.
    Elsewhere,
    /// It is here, and this process may not see who it is.
    Hidden,
    /// It is here.
    Here { name: String, cpus: CpuSet },
}

fn server(target: &Target, root: &SysRoot) -> Server {
    let at = target.at();
    let found = match &at {
        Listening::Tcp(address) => {
            let is_here = match address.ip() {
                IpAddr::V4(ip) => ip.is_loopback() || ip == Ipv4Addr::UNSPECIFIED,
                IpAddr::V6(ip) => ip.is_loopback() || ip.is_unspecified(),
            };
            if !is_here {
                return Server::Elsewhere;
            }
            listeners(root, Socket::Tcp(*address))
        }
        Listening::Unix(path) => listeners(root, Socket::Unix(path)),
    };
    let Some(first) = found.first() else { return Server::Hidden };
    let cpus = found.iter().fold(CpuSet::new(), |all, one| all.union(&one.cpus));
    Server::Here { name: first.name.clone(), cpus }
}

/// Returns the CPUs for the generator: those whose cores the server cannot use, if there are any; else half of the cores, so
/// that the server finds others, on which no thread of the generator is in its way.
fn place_of(topology: &Topology, server: Server) -> (CpuSet, Separation) {
    let all = topology.allowed.clone();
    match server {
        Server::Elsewhere => (all, Separation::Elsewhere),
        Server::Hidden => (all, Separation::Hidden),
        Server::Here { name, cpus } => {
            let others = all.difference(&topology.whole_cores(&cpus));
            let (server, server_cpus) = (name, cpus);
            if others.is_empty() {
                (second_half(topology), Separation::Shared { server, server_cpus })
            } else {
                (others, Separation::Apart { server, server_cpus })
            }
        }
    }
}

/// Returns the CPUs of half of the cores; all of them if there is only one core.
fn second_half(topology: &Topology) -> CpuSet {
    let mut cores: Vec<CpuSet> = topology.allowed.iter().map(|cpu| topology.core_of(cpu)).collect();
    cores.sort();
    cores.dedup();
    let half = cores[cores.len() / 2..].iter().fold(CpuSet::new(), |all, core| all.union(core));
    half.intersection(&topology.allowed)
}

#[cfg(test)]
mod tests {
    use becalm_testkit::FakeMachine;

    use super::*;

    /// Where the generator goes on a machine of two cores with two threads each, of which it may use these.
    fn place(allowed: &'static str, server: &str) -> (String, Separation) {
        let machine =
            FakeMachine { packages: 1, cores: 2, threads: 2, allowed, ..FakeMachine::default() };
        let tree = machine.tree();
        let topology = Topology::read(&SysRoot::new(tree.path())).unwrap();
        let cpus: CpuSet = server.parse().unwrap();
        let (cpus, separation) = place_of(&topology, Server::Here { name: "s".to_owned(), cpus });
        // Nobody measures beside a sibling of the server's CPUs.
        if let Separation::Apart { server_cpus, .. } = &separation {
            let cores = topology.whole_cores(server_cpus);
            assert!(cpus.intersection(&cores).is_empty(), "{cpus} {cores}");
        }
        (cpus.to_string(), separation)
    }

    #[test]
    fn the_generator_gets_the_cores_that_the_server_cannot_use() {
        let (cpus, separation) = place("", "0");
        assert!(matches!(separation, Separation::Apart { .. }), "{separation:?}");
        assert_eq!(cpus.parse::<CpuSet>().unwrap().len(), 2);
        let (cpus, separation) = place("", "0-3");
        assert_eq!(cpus.parse::<CpuSet>().unwrap().len(), 2);
        assert!(matches!(separation, Separation::Shared { .. }), "{separation:?}");
        // What it may not use is of no use to it.
        let (_, separation) = place("0", "0");
        assert!(matches!(separation, Separation::Shared { .. }), "{separation:?}");
    }

    #[test]
    fn what_is_not_known_changes_nothing() {
        let tree = FakeMachine::default().tree();
        let topology = Topology::read(&SysRoot::new(tree.path())).unwrap();
        for (server, separation) in
            [(Server::Elsewhere, Separation::Elsewhere), (Server::Hidden, Separation::Hidden)]
        {
            assert_eq!(place_of(&topology, server), (topology.allowed.clone(), separation));
        }
    }
}
