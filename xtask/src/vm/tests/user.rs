//! Who a subject runs as.

use anyhow::{Result, ensure};

use super::{Body, Machines, Test};
use crate::vm::guest::Guest;

pub(super) const TESTS: &[Test] = &[Test {
    name: "under_sudo_a_subject_runs_as_the_invoking_user",
    machines: Machines::Only(&["acpi-cpufreq", "plain"]),
    sample: &["acpi-cpufreq"],
    body: Body::Guest(under_sudo),
}];

/// What sudo sets.
const SUDO: &str =
    "export SUDO_UID=1000 SUDO_GID=1000 SUDO_USER=tester SUDO_COMMAND=becalm HOME=/root;";

/// What a subject tells about itself.
const WHO: &str = "sh -c \"id -u; id -g; id -G; echo \\$HOME; grep -E CapEff\\|CapPrm\\|CapInh\\|CapAmb /proc/self/status; touch /tmp/its\"";

fn under_sudo(guest: &mut Guest) -> Result<()> {
    for command in [
        format!("becalm tune --hold -- {WHO}"),
        format!("becalm run --tune --rounds 1 --warmup 0 --output inherit -- {WHO}"),
    ] {
        let said = guest.ok(&format!("{SUDO} {command} 2>/dev/null"))?;
        let expect = [
            "1000",
            "1000",
            "1000 1001",
            "/home/tester",
            "CapInh:\t0000000000000000",
            "CapPrm:\t0000000000000000",
            "CapEff:\t0000000000000000",
            "CapAmb:\t0000000000000000",
        ];
        let lines: Vec<&str> = said.lines().take(expect.len()).collect();
        ensure!(lines == expect, "`{command}` says\n{said}");
        let owner = guest.ok("stat -c %u:%g /tmp/its; rm /tmp/its")?;
        ensure!(owner == "1000:1000", "a file of the subject belongs to {owner}");
    }
    Ok(())
}
