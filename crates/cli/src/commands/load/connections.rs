//! Flags of `becalm load` about connections.

use std::path::PathBuf;
use std::time::Duration;

use becalm_model::load::{KeepAwake, LONGEST_BATCH, Scenario};
use becalm_model::{CpuSet, parse_duration};

use crate::flags::checked;

/// Flags about connections.
#[derive(Debug, clap::Args)]
pub(super) struct ConnectionFlags {
    /// Largest number of connections at the same time; becalm opens them on demand [default: 1000]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000), help_heading = "Connections")]
    connections: Option<u32>,

    /// Open a connection for each request; opening it is part of the service time
    #[arg(long, help_heading = "Connections")]
    new_connections: bool,

    /// Connect to this Unix socket; the URL still gives host and path
    #[arg(long, value_name = "PATH", help_heading = "Connections")]
    unix_socket: Option<PathBuf>,

    /// Speak HTTP/2; without TLS, from the first byte on
    #[arg(long, conflicts_with = "new_connections", help_heading = "Connections")]
    http2: bool,

    /// Largest number of requests at the same time on one HTTP/2 connection [default: 100]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000), help_heading = "Connections")]
    streams: Option<u32>,

    /// Also trust the authorities in this file (PEM)
    #[arg(long, value_name = "FILE", help_heading = "Connections")]
    cacert: Option<PathBuf>,

    /// Accept any certificate
    #[arg(long, short = 'k', conflicts_with = "cacert", help_heading = "Connections")]
    insecure: bool,

    /// Threads that send [default: half of the generator's CPUs, at most 4]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=64), help_heading = "Connections")]
    threads: Option<u32>,

    /// Send requests that are due together, each at most so late (0.9ms at most): the generator needs
    /// less CPU time, and the wait is a part of lag and response time [default: 0, or 0.2ms if a single CPU
    /// sends at least 40,000 requests per second, without --find]
    #[arg(long, value_name = "TIME", value_parser = batch, help_heading = "Connections")]
    batch: Option<Duration>,

    /// CPUs for the generator [default: those whose cores the server cannot use, if it is on this machine]
    #[arg(long, value_name = "CPUS", help_heading = "Connections")]
    pub(super) cpus: Option<CpuSet>,

    /// Keep idle CPUs from stopping, which makes them late when they wake up: auto does so in a virtual
    /// machine without a CPU quota [default: auto]
    #[arg(long, value_enum, value_name = "WHEN", help_heading = "Connections")]
    keep_awake: Option<KeepAwakeFlag>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum KeepAwakeFlag {
    /// In a virtual machine without a quota of CPU time, at most 16 CPUs, below 20,000 requests per second: a
    /// thread on each wakes up every 0.1 ms
    Auto,
    /// Always: a thread on each spins. It takes up to half of a CPU from processes of other control groups
    /// and sessions
    Spin,
    /// Never
    Off,
}

impl From<KeepAwakeFlag> for KeepAwake {
    fn from(flag: KeepAwakeFlag) -> Self {
        match flag {
            KeepAwakeFlag::Auto => Self::Auto,
            KeepAwakeFlag::Spin => Self::Spin,
            KeepAwakeFlag::Off => Self::Off,
        }
    }
}

fn batch(text: &str) -> Result<Duration, String> {
    let is_short = |time: &Duration| time.as_secs_f64() <= LONGEST_BATCH;
    checked(
        parse_duration(text),
        is_short,
        "the longest batch is 0.9ms: its wait is a lag of the generator",
    )
}

impl ConnectionFlags {
    /// Puts what was given into a scenario.
    pub(super) fn apply(&self, scenario: &mut Scenario) {
        if let Some(connections) = self.connections {
            scenario.connections = connections.into();
        }
        scenario.new_connections |= self.new_connections;
        if let Some(path) = &self.unix_socket {
            scenario.unix_socket = Some(path.display().to_string());
        }
        scenario.http2 |= self.http2;
        if let Some(streams) = self.streams {
            scenario.streams = streams.into();
        }
        if let Some(file) = &self.cacert {
            (scenario.cacert, scenario.insecure) = (Some(file.display().to_string()), false);
        }
        if self.insecure {
            (scenario.cacert, scenario.insecure) = (None, true);
        }
        scenario.threads = self.threads.map(u64::from).or(scenario.threads);
        scenario.batch = self.batch.map(|time| time.as_secs_f64()).or(scenario.batch);
        scenario.keep_awake = self.keep_awake.map_or(scenario.keep_awake, KeepAwake::from);
    }
}
