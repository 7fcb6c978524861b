//! Sessions on another machine whose connection is cut at random moments: the machine is as before, no finished round is lost,
//! and none is made twice.

mod cut;
mod logs;
mod near;

use anyhow::{Result, ensure};

use self::cut::{Chance, Cut, Kind};
use self::near::NearEnd;
use super::{Body, Machines, Test};
use crate::vm::guest::{Depth, Ended, EndedBy};
use crate::vm::lab::Place;

pub(super) const TESTS: &[Test] = &[
    test("elsewhere_killed_connections_lose_nothing", &["acpi-cpufreq"], |place| {
        campaign(place, Kind::KILLS, [6, 24, 180])
    }),
    test("elsewhere_frozen_connections_lose_nothing", &[], |place| {
        campaign(place, Kind::FREEZES, [3, 3, 20])
    }),
];

const fn test(
    name: &'static str,
    sample: &'static [&'static str],
    body: fn(&Place<'_>) -> Result<()>,
) -> Test {
    Test { name, machines: Machines::Only(&["acpi-cpufreq"]), sample, body: Body::Place(body) }
}

/// After so many cuts the machine begins anew.
const CUTS_OF_ONE_MACHINE: u32 = 45;

/// Cuts sessions by these means, in turns; how often for each depth.
fn campaign(place: &Place<'_>, kinds: &[Kind], counts: [u32; 3]) -> Result<()> {
    let manner = &place.lab.manner;
    let [sample, whole, every] = counts;
    let count = manner.cuts.count.unwrap_or(match manner.depth {
        Depth::Sample => sample,
        Depth::Whole => whole,
        Depth::Every => every,
    });
    let mut chance = Chance::new(manner.cuts.seed);
    let mut failures = Vec::new();
    let (mut machine, mut spans) = (None, None);
    let (mut done, mut harmless, mut crashes) = (0, 0, 0);
    while done < count {
        if done % CUTS_OF_ONE_MACHINE == 0 {
            machine = None;
        }
        let near = match &mut machine {
            Some(near) => near,
            none => none.insert(NearEnd::new(place.guest()?, &mut spans)?),
        };
        let kind = kinds[done as usize % kinds.len()];
        let cut = Cut::draw(kind, &mut chance, near.is_open());
        let result = near.cut(&cut).and_then(|found| {
            println!("    {:>3} {cut}: {found}", done + 1);
            harmless += u32::from(found.is_harmless);
            let is_last = done + 1 == count || (done + 1) % CUTS_OF_ONE_MACHINE == 0;
            if is_last || cut.is_completed { near.complete(&cut) } else { Ok(()) }
        });
        let result = result.and_then(|()| crate::vm::no_complaints(&near.guest().console()));
        if let Err(error) = result {
            machine = None;
            if crashes < 5 && error.downcast_ref::<Ended>().is_some_and(is_of_emulation) {
                println!("    again: {error:#}");
                crashes += 1;
                continue;
            }
            manner.deaths.differed();
            println!("    {:>3} FAILED {cut}: {error:#}", done + 1);
            failures.push(format!("{} {cut}: {error:#}", done + 1));
        }
        manner.deaths.cut();
        done += 1;
    }
    println!("    {count} cuts with the seed {}, {harmless} of them harmless", manner.cuts.seed);
    ensure!(
        failures.is_empty(),
        "{} of {count} cuts (seed {}):\n{}",
        failures.len(),
        manner.cuts.seed,
        failures.join("\n")
    );
    Ok(())
}

fn is_of_emulation(ended: &Ended) -> bool {
    ended.by() != EndedBy::Panic
}
