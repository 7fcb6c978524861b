//! `becalm workload serve`: a server of which it is known when it has to answer.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use becalm_load::serve::{Busy, Listening, Options, Server, ServiceTime, Stalls};
use becalm_model::parse_duration;

use crate::error::CommandError;
use crate::exit::Exit;
use crate::measuring::interrupt;
use crate::ui::Ui;

/// Serve HTTP with known service times, to test a generator of load
///
/// Requests wait in one queue for the workers, in the order in which they come. The server prints its URL once it listens,
/// and runs until a signal ends it.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// How long a request takes a worker: 1ms, exponential:1ms or bimodal:1ms,50ms,1%
    #[arg(long, value_name = "TIME", default_value = "0")]
    service: ServiceTime,

    /// How many requests are worked on at the same time
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    workers: u32,

    /// What a worker does meanwhile
    #[arg(long, value_enum, default_value_t = BusyFlag::Sleep)]
    busy: BusyFlag,

    /// Stop all work for this long
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    stall: Option<Duration>,

    /// When the first pause begins, counted from the first request
    #[arg(long, value_name = "TIME", default_value = "5s", value_parser = parse_duration, requires = "stall")]
    stall_after: Duration,

    /// From the beginning of one pause to that of the next [default: one pause]
    #[arg(long, value_name = "TIME", value_parser = parse_duration, requires = "stall")]
    stall_every: Option<Duration>,

    /// Bytes of each answer's body
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u32).range(..=100_000_000))]
    answer_bytes: u32,

    /// Seed of random service times
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,

    /// Port; with 0 the system chooses one
    #[arg(long, value_name = "PORT", default_value_t = 0)]
    port: u16,

    /// Address to listen on; with any but a loopback address, other machines can reach the server
    #[arg(long, value_name = "IP", default_value_t = IpAddr::V4(Ipv4Addr::LOCALHOST))]
    address: IpAddr,

    /// Listen at this Unix socket instead
    #[arg(long, value_name = "PATH", conflicts_with_all = ["port", "address"])]
    unix_socket: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum BusyFlag {
    /// It waits, as for a disk: answers come exactly when they leave the queue
    Sleep,
    /// It computes
    Cpu,
}

pub(super) fn run(args: &Args, ui: &Ui) -> Result<Exit, CommandError> {
    if let (Some(length), Some(every)) = (args.stall, args.stall_every)
        && every <= length
    {
        return Err(CommandError::usage(
            "--stall-every is not longer than --stall, so no worker would ever work",
        ));
    }
    let at = match &args.unix_socket {
        Some(path) => Listening::Unix(path.clone()),
        None => Listening::Tcp(SocketAddr::new(args.address, args.port)),
    };
    let nanos = |time: Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX / 4);
    let options = Options {
        at,
        service: args.service,
        workers: args.workers as usize,
        stalls: args.stall.map(|length| Stalls {
            first: nanos(args.stall_after),
            length: nanos(length),
            every: args.stall_every.map(nanos),
        }),
        busy: match args.busy {
            BusyFlag::Sleep => Busy::Sleep,
            BusyFlag::Cpu => Busy::Cpu,
        },
        answer_bytes: args.answer_bytes as usize,
        seed: args.seed,
    };
    let interrupt = interrupt()?;
    let server = Server::start(&options)
        .map_err(|error| CommandError::measure(format!("cannot listen: {error}")))?;
    let place = match server.at() {
        Listening::Unix(path) => path.display().to_string(),
        Listening::Tcp(_) => server.url(),
    };
    ui.print(&format!("{place}\n"))?;
    while interrupt.sleep(Duration::from_secs(3600)) {}
    ui.say(format!("{} requests were answered", server.answered()));
    Ok(Exit::Done)
}
