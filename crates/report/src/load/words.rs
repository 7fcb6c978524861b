//! Why a load is invalid, and what to change: one sentence for each reason.

use becalm_model::load::{Distrust, GeneratorPlace, Separation};

use super::{requests_of, time};
use crate::quantity::percent;
use crate::style::Style;

/// How times are written in a sentence that goes into documents.
const PLAIN: Style = Style { width: 80, colour: false, unicode: true };

/// Returns the sentence of a reason.
pub fn distrust(reason: &Distrust) -> String {
    let time = |seconds: f64| time(seconds, &PLAIN);
    match reason {
        Distrust::LateGenerator { lag_p99, limit, waited } => {
            let waited = waited
                .filter(|waited| *waited >= 0.01)
                .map(|waited| {
                    format!("; one of its threads waited for a CPU {} of the time", percent(waited))
                })
                .unwrap_or_default();
            format!(
                "the generator was late, not the server: the 99th percentile of the lag is {}, more than {}{waited}; \
                 ask for a lower --rate, or leave the generator a CPU of its own",
                time(*lag_p99),
                time(*limit)
            )
        }
        Distrust::PoolTooSmall { starved, scheduled, connections, lag_p99, limit } => format!(
            "{} of {} found all {connections} connections in use and waited for one: the 99th percentile of the lag is \
             {}, more than {}; permit more --connections, or ask for a lower --rate",
            starved,
            requests_of(*scheduled),
            time(*lag_p99),
            time(*limit)
        ),
        Distrust::SlowConnecting { lag_p99, limit, connections } => format!(
            "requests waited while {} opened: the 99th percentile of the lag is {}, more than {}; \
             load for longer, or raise the rate in steps",
            if *connections == 1 {
                "one connection was".to_owned()
            } else {
                format!("{connections} connections were")
            },
            time(*lag_p99),
            time(*limit)
        ),
        Distrust::Unsent { requests, scheduled } => format!(
            "{requests} of {} were never sent, because no connection became free; permit more --connections, or ask \
             for a lower --rate",
            requests_of(*scheduled)
        ),
        Distrust::Exhausted { requests, scheduled } => format!(
            "{requests} of {} failed because this machine had no local port or descriptor for another connection; open \
             fewer connections (without --new-connections, if the server keeps them open), ask for a lower --rate, or \
             raise `ulimit -n`",
            requests_of(*scheduled)
        ),
        Distrust::BusyPacer { share, limit } => format!(
            "the thread that watches the due times used {} of its CPU, more than {}, so it may have been \
             late; ask for a lower --rate",
            percent(*share),
            percent(*limit)
        ),
    }
}

/// Says on which CPUs the generator was, and what could not be done about those of the server.
pub(super) fn place(place: &GeneratorPlace) -> String {
    let GeneratorPlace { cpus, separation, awake } = place;
    let own = cpus.named();
    let where_it_was = match separation {
        Separation::Chosen => format!("Its threads had {own}, as asked."),
        Separation::Apart { server, server_cpus } => format!(
            "Its threads had {own}, separate from those of the server ({}, {}).",
            crate::printable(server),
            server_cpus.named()
        ),
        Separation::Shared { server, server_cpus } => format!(
            "Its threads had {own}, and the server ({}, {}) may run there, too: give each its own CPUs, the server with \
             `taskset` and the generator with --cpus.",
            crate::printable(server),
            server_cpus.named()
        ),
        Separation::Elsewhere => {
            format!("Its threads had {own}; the server is not on this machine's loopback.")
        }
        Separation::Hidden => format!(
            "Its threads had {own}. becalm cannot see which process is the server, so they may share CPUs with it; --cpus \
             chooses them."
        ),
        Separation::Refused { error } => {
            format!("Its threads had {own}: the kernel refused others ({error}).")
        }
    };
    match awake {
        Some(cpus) => format!("{where_it_was} becalm kept {} awake.", cpus.named()),
        None => where_it_was,
    }
}
