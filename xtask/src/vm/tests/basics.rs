//! The lab itself, and commands that change nothing.

use anyhow::{Result, ensure};

use super::{Body, Machines, Test};
use crate::vm::guest::Guest;

pub(super) const TESTS: &[Test] = &[
    Test {
        name: "a_machine_left_alone_does_not_differ",
        machines: Machines::All,
        sample: &["acpi-cpufreq"],
        body: Body::Guest(left_alone),
    },
    Test {
        name: "becalm_starts",
        machines: Machines::Only(&["acpi-cpufreq"]),
        sample: &["acpi-cpufreq"],
        body: Body::Guest(starts),
    },
];

/// Else no comparison would mean anything.
fn left_alone(guest: &mut Guest) -> Result<()> {
    let before = guest.state()?;
    ensure!(before.n_files() > 1500, "only {} files were read", before.n_files());
    guest.ok("becalm --version; sleep 1")?;
    let after = guest.state()?;
    no_difference(&before.differences(&after))
}

fn starts(guest: &mut Guest) -> Result<()> {
    let version = guest.ok("becalm --version")?;
    ensure!(version.starts_with("becalm "), "{version}");
    Ok(())
}

fn no_difference(differences: &[crate::vm::state::Difference]) -> Result<()> {
    let lines: Vec<String> = differences.iter().map(ToString::to_string).collect();
    ensure!(lines.is_empty(), "{} values differ:\n{}", lines.len(), lines.join("\n"));
    Ok(())
}
