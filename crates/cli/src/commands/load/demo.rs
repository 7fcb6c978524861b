//! `becalm load --demo`: what the rate, the due times and the verdict are for, in half a minute.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use becalm_load::serve::{Busy, Listening, Options, Server, ServiceTime, Stalls};
use becalm_load::{About, Pause, Plan, Schedule, Target, Way, document, load};
use becalm_model::load::{Arrivals, KeepAwake, LoadRunDocument, Scenario, Stage};
use becalm_report::{LoadDemo, distrust, load_demo_text, load_progress_line};
use becalm_session::Machine;

use super::machine::keep_cpus_awake;
use super::{Args, Asked, not_loaded, progress};
use crate::error::CommandError;
use crate::exit::Exit;
use crate::measuring::interrupt;
use crate::ui::Ui;

/// How long each of the three loads is.
const DURATION: Duration = Duration::from_secs(8);

/// Requests in a second.
const RATE: f64 = 1000.0;

/// For how long server and generator stop.
const STOP: Duration = Duration::from_millis(200);

/// How long the server takes for a request.
const SERVICE: f64 = 100e-6;

/// So few that hardly a request of a thousand meets the stop, and as many as a usual generator has.
const FEW: u64 = 5;

pub(super) fn run(args: &Args, ui: &Ui) -> Result<Exit, CommandError> {
    let length = args.duration.unwrap_or(DURATION);
    let begins = length / 2;
    let stops = Stalls {
        first: u64::try_from(begins.as_nanos()).unwrap_or(u64::MAX),
        length: u64::try_from(STOP.as_nanos()).unwrap_or(u64::MAX),
        every: None,
    };
    let pause = Pause { begins, length: STOP };
    let loads = [(Some(stops), 1000, None), (Some(stops), FEW, None), (None, 1000, Some(pause))];
    let machine = Machine::read()?;
    let _awake = keep_cpus_awake(&machine, KeepAwake::Auto, &machine.topology.allowed);
    let mut documents = Vec::new();
    for (stalls, connections, pause) in loads {
        let document = one(length, stalls, (connections, pause), &machine, ui)?;
        if let Some(signal) = document.signal {
            return Ok(Exit::Signal(signal));
        }
        documents.push(document);
    }
    let [stalled, closed, paused] = &documents[..] else { unreachable!("three loads were sent") };
    let demo = LoadDemo { stop: STOP.as_secs_f64(), stalled, closed, paused };
    ui.print(&load_demo_text(&demo, ui.style()))?;
    Ok(Exit::Done)
}

/// Starts a server, and loads it.
fn one(
    length: Duration,
    stalls: Option<Stalls>,
    (connections, pause): (u64, Option<Pause>),
    machine: &Machine,
    ui: &Ui,
) -> Result<LoadRunDocument, CommandError> {
    let options = Options {
        at: Listening::Tcp(([127, 0, 0, 1], 0).into()),
        service: ServiceTime::Fixed(SERVICE),
        workers: 8,
        stalls,
        busy: Busy::Sleep,
        answer_bytes: 2,
        seed: 1,
    };
    let server = Server::start(&options).map_err(CommandError::measure)?;
    let duration = length.as_secs_f64();
    let stages = vec![Stage { seconds: duration, from: RATE, to: RATE }];
    let scenario = Scenario {
        arrivals: Arrivals::Even,
        stages: stages.clone(),
        connections,
        threads: Some(1),
        ..Scenario::default()
    };
    let asked = Asked::plain(server.url(), scenario);
    let target = Target::new(&asked.url, Way::default()).map_err(CommandError::measure)?;
    let schedule = Schedule::new(stages, Arrivals::Even, 1);
    let plan = Plan { pause, ..asked.plan(target, schedule, RATE, 1)? };
    let terms = asked.terms(1);
    let (started, interrupt) = (SystemTime::now(), interrupt()?);
    let loaded = load(plan, interrupt, &mut |live| {
        ui.progress_line(&load_progress_line(&progress(live, &terms), ui.style()));
    });
    ui.progress_line("");
    let about = About {
        becalm: env!("CARGO_PKG_VERSION"),
        started_at: started.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64(),
        machine: machine.facts.clone(),
        terms,
        place: None,
        objectives: &[],
        signal: interrupt.signal(),
        words: distrust,
    };
    Ok(document(&loaded.map_err(not_loaded)?, about))
}
