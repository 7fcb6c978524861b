//! A large history: entries with values of all series of a machine, and records of the last ones.

use std::collections::BTreeMap;

use anyhow::Result;
use becalm_model::history::Commit;
use becalm_model::{Direction, Unit};
use becalm_stats::Rng;
use becalm_store::{Access, HistoryLocation, NewEntry, NewPoint, Origin, Store, open};

use super::Args;

/// Entries of each machine whose records are kept.
pub(super) const RECORDS: usize = 10;

/// A history while it is filled.
pub(super) struct Filled {
    store: Store,
    /// The level of each series, and the point from which on it is another.
    levels: Vec<(f64, Option<usize>)>,
    entries: usize,
}

impl Filled {
    pub(super) fn new(place: &str, args: &Args, rng: &mut Rng) -> Result<Self> {
        let level = |rng: &mut Rng| {
            let step = becalm_model::place(rng.uniform() * args.points as f64);
            (1e-3 * (1.0 + 100.0 * rng.uniform()), (rng.uniform() < 0.05).then_some(step))
        };
        let levels = (0..args.series).map(|_| level(rng)).collect();
        let store = open(&HistoryLocation::parse(place), Access::Write)?;
        let mut filled = Self { store, levels, entries: 0 };
        while filled.entries < args.points * args.machines {
            filled.add(args, rng)?;
        }
        Ok(filled)
    }

    /// Adds the entry that comes next.
    pub(super) fn add(&mut self, args: &Args, rng: &mut Rng) -> Result<()> {
        let (at, machine) = (self.entries / args.machines, self.entries % args.machines);
        let keeps = at + RECORDS >= args.points;
        let entry = entry(at, machine, args, &self.levels, keeps, rng);
        self.store.add(&entry)?;
        self.entries += 1;
        Ok(())
    }
}

fn entry(
    at: usize,
    machine: usize,
    args: &Args,
    levels: &[(f64, Option<usize>)],
    keeps: bool,
    rng: &mut Rng,
) -> NewEntry {
    let point = |(case, (level, step)): (usize, &(f64, Option<usize>))| {
        let factor = if step.is_some_and(|step| at >= step) { 1.1 } else { 1.0 };
        NewPoint {
            benchmark: format!("module_{:02}.Suite.case {case}", case % 40),
            metric: "wall_time".to_owned(),
            unit: Unit::Second,
            direction: Direction::Lower,
            parameters: vec![("size".to_owned(), (case % 7 * 1000).to_string())],
            main: true,
            exact: false,
            value: level * factor * (1.0 + 0.01 * rng.normal()),
            error: Some(level * 0.004),
            runs: 10,
        }
    };
    let of_machine = levels.iter().enumerate().skip(machine).step_by(args.machines);
    let points = of_machine.map(point).collect();
    let time = 1.7e9 + 3600.0 * at as f64;
    let mut facts: BTreeMap<String, String> =
        (0..40).map(|fact| (format!("knob.number_{fact}"), "the value of it".to_owned())).collect();
    facts.insert("cpu_model".to_owned(), format!("A processor of kind {machine}"));
    facts.insert("kernel_release".to_owned(), "6.12.0".to_owned());
    let runs: Vec<String> = (0..30)
        .map(|round| {
            format!(
                "{{\"round\": {round}, \"order\": 0, \"wall_time\": {}}}",
                0.1 + 0.001 * rng.normal()
            )
        })
        .collect();
    let document = format!(
        "{{\"schema\": \"becalm/run/1\", \"confidence\": 0.95, \"subjects\": [{{\"name\": \"case\", \"command\": \
         [\"./case\"], \"runs\": [{}]}}]}}",
        runs.join(", ")
    );
    NewEntry {
        origin: Origin::Measurement,
        content: format!("{at} on {machine}"),
        measured: time + machine as f64,
        commit: Some(Commit { time: Some(time), ..Commit::named(format!("{at:040x}")) }),
        branch: "main".to_owned(),
        dirty: false,
        tags: vec!["nightly".to_owned()],
        facts,
        document: keeps.then_some(document),
        points,
    }
}
