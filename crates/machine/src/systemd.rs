//! systemd, where it runs the machine.
//!
//! Asked through `systemctl`, which speaks D-Bus to it: a D-Bus library would weigh more than the rest
//! of becalm's dependencies together, for a handful of calls that take milliseconds each.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::process::{Command, Stdio};

use crate::SysRoot;

/// Value of a unit that runs, or of a timer or socket that waits for its moment.
pub(crate) const ACTIVE: &str = "active";
/// Value of a unit that does not.
pub(crate) const INACTIVE: &str = "inactive";

/// What a unit does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum UnitState {
    /// It runs, or waits for its moment as timers and sockets do.
    Active,
    /// It is being started. A service that only does a piece of work is so while it works.
    Starting,
    /// It does not run.
    Inactive,
}

/// Says whether systemd runs this machine. A folder that stands for a machine has none to talk to.
pub(crate) fn is_there(root: &SysRoot) -> bool {
    root.is_live() && root.exists("/run/systemd/system")
}

/// Returns what these units do, by the names given; those that do not exist are left out.
pub(crate) fn states(names: &[String]) -> io::Result<BTreeMap<String, UnitState>> {
    let mut arguments = vec!["show", "--property=LoadState,ActiveState", "--"];
    arguments.extend(names.iter().map(String::as_str));
    Ok(parse_units(names, &systemctl(&arguments)?))
}

/// Returns, for these units and for those that this comes to, what systemd stops along with each, whether or not
/// it runs. Nothing starts that again when the unit is started.
/// <https://www.freedesktop.org/software/systemd/man/latest/systemd.unit.html>
pub(crate) fn stopped_along(names: &[String]) -> io::Result<BTreeMap<String, Vec<String>>> {
    // The first one only so that no block is empty.
    const PROPERTIES: &str =
        "--property=LoadState,RequiredBy,RequisiteOf,BoundBy,ConsistsOf,PropagatesStopTo";
    let mut along = BTreeMap::new();
    let mut open: BTreeSet<String> = names.iter().cloned().collect();
    while !open.is_empty() {
        let asked: Vec<String> = open.into_iter().collect();
        let mut arguments = vec!["show", PROPERTIES, "--"];
        arguments.extend(asked.iter().map(String::as_str));
        along.extend(parse_along(&asked, &systemctl(&arguments)?));
        let is_new = |name: &&String| !along.contains_key(*name);
        open = along.values().flatten().filter(is_new).cloned().collect();
    }
    Ok(along)
}

/// Says whether a name is one of a single unit: no pattern, and no option of `systemctl`.
pub(crate) fn is_unit_name(name: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || ":_.\\@-".contains(c);
    !name.is_empty() && !name.starts_with(['-', '.']) && name.chars().all(is_part)
}

/// Starts or stops a unit. A target is started alone: systemd would start everything that it requires and
/// wants, and what these want, which somebody may have stopped by hand.
pub(crate) fn set_unit(name: &str, value: &str) -> io::Result<()> {
    let arguments: &[&str] = match value {
        ACTIVE if name.ends_with(".target") => {
            &["start", "--job-mode=ignore-requirements", "--", name]
        }
        ACTIVE => &["start", "--", name],
        _ => &["stop", "--", name],
    };
    systemctl(arguments).map(|_| ())
}

/// Returns what `graphical.target` wants and `multi-user.target` does not: the display manager and its like.
pub(crate) fn wanted_by_graphical() -> io::Result<Vec<String>> {
    let text =
        systemctl(&["show", "--property=Wants", "--", "graphical.target", "multi-user.target"])?;
    Ok(parse_wants(&text))
}

/// Makes it read its unit files again.
pub(crate) fn look_again() -> io::Result<()> {
    systemctl(&["daemon-reload"]).map(|_| ())
}

/// Reads the `Wants=` of the two targets.
fn parse_wants(text: &str) -> Vec<String> {
    let mut wants = text.lines().filter_map(|line| line.strip_prefix("Wants=")).map(|names| {
        names.split_whitespace().filter(|name| is_unit_name(name)).collect::<Vec<_>>()
    });
    let (graphical, multi_user) =
        (wants.next().unwrap_or_default(), wants.next().unwrap_or_default());
    graphical.into_iter().filter(|name| !multi_user.contains(name)).map(str::to_owned).collect()
}

/// Has systemd do something that is no matter of states.
pub(crate) fn order(arguments: &[&str]) -> io::Result<()> {
    systemctl(arguments).map(|_| ())
}

/// Where `systemctl` is looked for: whoever called becalm as root may have named other places, with other programs.
const PLACES: [&str; 4] = ["/usr/bin", "/bin", "/usr/local/bin", "/run/current-system/sw/bin"];

fn systemctl(arguments: &[&str]) -> io::Result<String> {
    let here = SysRoot::default();
    let place =
        PLACES.iter().map(|place| format!("{place}/systemctl")).find(|path| here.exists(path));
    let program =
        place.ok_or_else(|| io::Error::other("systemctl was not found in the usual places"))?;
    let output = Command::new(program)
        .env_clear()
        .envs([("LC_ALL", "C"), ("PATH", "/usr/bin:/bin")])
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

/// Reads blocks of `Name=units` lines with empty lines between, one for each name, in order.
fn parse_along(names: &[String], text: &str) -> BTreeMap<String, Vec<String>> {
    let mut blocks = text.split("\n\n");
    let along = |block: &str| -> Vec<String> {
        let lines = block.lines().filter_map(|line| line.split_once('='));
        let units = lines.filter(|(name, _)| *name != "LoadState").flat_map(|(_, units)| {
            units.split_whitespace().filter(|name| is_unit_name(name)).map(str::to_owned)
        });
        units.collect()
    };
    let of = |name: &String| (name.clone(), blocks.next().map(along).unwrap_or_default());
    names.iter().map(of).collect()
}

/// Reads blocks of `Name=value` lines with empty lines between: one for each name, in order. systemd
/// itself would call a unit by its first name, and not by the one that was asked for.
fn parse_units(names: &[String], text: &str) -> BTreeMap<String, UnitState> {
    let blocks = text.split("\n\n").zip(names).filter_map(|(block, name)| {
        let field =
            |name: &str| block.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('='));
        let state = match field("ActiveState")? {
            "active" | "reloading" | "refreshing" => UnitState::Active,
            "activating" => UnitState::Starting,
            _ => UnitState::Inactive,
        };
        (field("LoadState")? == "loaded").then(|| (name.clone(), state))
    });
    blocks.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_that_exist_are_read_with_their_state() {
        let text = "LoadState=loaded\nActiveState=active\n\n\
                    LoadState=not-found\nActiveState=inactive\n\n\
                    LoadState=loaded\nActiveState=activating\n\n\
                    LoadState=loaded\nActiveState=inactive\n";
        let names = ["cron.service", "none.service", "man-db.service", "apt-daily.timer"];
        let names = names.map(str::to_owned);
        let units: Vec<_> = parse_units(&names, text).into_iter().collect();
        let expected = [
            ("apt-daily.timer".to_owned(), UnitState::Inactive),
            ("cron.service".to_owned(), UnitState::Active),
            ("man-db.service".to_owned(), UnitState::Starting),
        ];
        assert_eq!(units, expected);
        assert!(parse_units(&names, "rubbish").is_empty());
    }

    #[test]
    fn what_the_graphical_target_wants_beyond_the_other_is_found() {
        let text = "Wants=display-manager.service udisks2.service cron.service\n\n\
                    Wants=cron.service getty.target\n";
        assert_eq!(parse_wants(text), ["display-manager.service", "udisks2.service"]);
        assert!(parse_wants("Wants=\n\nWants=cron.service\n").is_empty());
        assert!(parse_wants("").is_empty());
    }

    #[test]
    fn what_is_stopped_along_with_a_unit_is_read() {
        let text = "LoadState=loaded\nRequiredBy=tuned-ppd.service\nConsistsOf=\n\n\
                    LoadState=loaded\nRequiredBy=\nBoundBy=a.service b.mount\n";
        let names = ["tuned.service", "x.service", "none.service"].map(str::to_owned);
        let along: Vec<_> = parse_along(&names, text).into_iter().collect();
        let expected = [
            ("none.service", vec![]),
            ("tuned.service", vec!["tuned-ppd.service"]),
            ("x.service", vec!["a.service", "b.mount"]),
        ];
        let expected = expected.map(|(name, units)| {
            (name.to_owned(), units.into_iter().map(str::to_owned).collect::<Vec<_>>())
        });
        assert_eq!(along, expected);
    }

    #[test]
    fn options_and_patterns_are_no_names() {
        for name in ["cron.service", "getty@tty1.service", r"dev-disk-by\x2duuid.swap"] {
            assert!(is_unit_name(name), "{name}");
        }
        for name in ["", "-Hroot@elsewhere", "ssh*", "a b", "../x", "ssh?.service", "[ab].service"]
        {
            assert!(!is_unit_name(name), "{name}");
        }
    }
}
