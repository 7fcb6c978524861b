//! systemd, where it runs the machine.
//!
//! Asked through `systemctl`, which speaks D-Bus to it: a D-Bus library would weigh more than the rest
//! of becalm's dependencies together, for a handful of calls that take milliseconds each.

use std::collections::BTreeMap;
use std::io;
use std::process::{Command, Stdio};

use crate::SysRoot;

/// Value of a unit that runs, or of a timer or socket that waits for its moment.
pub(crate) const ACTIVE: &str = "active";
/// Value of a unit that does not.
pub(crate) const INACTIVE: &str = "inactive";

/// Says whether systemd runs this machine. A folder that stands for a machine has none to talk to.
pub(crate) fn is_there(root: &SysRoot) -> bool {
    root.is_live() && root.exists("/run/systemd/system")
}

/// Returns which of these units are active; those that do not exist are left out.
pub(crate) fn active_units(names: &[String]) -> io::Result<BTreeMap<String, bool>> {
    let mut arguments = vec!["show", "--property=Id,LoadState,ActiveState"];
    arguments.extend(names.iter().map(String::as_str));
    Ok(parse_units(&systemctl(&arguments)?))
}

/// Starts or stops a unit.
pub(crate) fn set_unit(name: &str, value: &str) -> io::Result<()> {
    let verb = if value == ACTIVE { "start" } else { "stop" };
    systemctl(&[verb, "--", name]).map(|_| ())
}

/// Returns `graphical.target` or `multi-user.target`, whichever is reached.
pub(crate) fn reached_target() -> io::Result<String> {
    let graphical = "graphical.target".to_owned();
    let is_graphical =
        active_units(std::slice::from_ref(&graphical))?.get(&graphical) == Some(&true);
    Ok(if is_graphical { graphical } else { "multi-user.target".to_owned() })
}

/// Stops every unit that a target does not want, and starts those that it wants.
pub(crate) fn isolate_target(name: &str) -> io::Result<()> {
    systemctl(&["isolate", "--", name]).map(|_| ())
}

/// Makes it read its unit files again.
pub(crate) fn look_again() -> io::Result<()> {
    systemctl(&["daemon-reload"]).map(|_| ())
}

fn systemctl(arguments: &[&str]) -> io::Result<String> {
    let output = Command::new("systemctl")
        .args(["--no-pager", "--no-ask-password"])
        .args(arguments)
        .stdin(Stdio::null())
        .output()?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    Err(io::Error::other(format!("systemctl {}: {said}", arguments.join(" "))))
}

/// Reads blocks of `Name=value` lines with empty lines between.
fn parse_units(text: &str) -> BTreeMap<String, bool> {
    let blocks = text.split("\n\n").filter_map(|block| {
        let field =
            |name: &str| block.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('='));
        let is_active = matches!(field("ActiveState")?, "active" | "activating" | "reloading");
        (field("LoadState")? == "loaded").then(|| (field("Id").unwrap_or("").to_owned(), is_active))
    });
    blocks.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_that_exist_are_read_with_their_state() {
        let text = "Id=cron.service\nLoadState=loaded\nActiveState=active\n\n\
                    Id=none.service\nLoadState=not-found\nActiveState=inactive\n\n\
                    Id=apt-daily.timer\nLoadState=loaded\nActiveState=inactive\n";
        let units: Vec<_> = parse_units(text).into_iter().collect();
        assert_eq!(units, [("apt-daily.timer".into(), false), ("cron.service".into(), true)]);
        assert!(parse_units("rubbish").is_empty());
    }
}
