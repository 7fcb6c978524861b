//! A partition inside a slice of systemd.
//!
//! Where systemd keeps the control groups it takes the `cpuset` controller away from the top as soon
//! as it looks at its units again, and a partition made by hand dies with it. A slice with
//! `AllowedCPUs=` makes systemd itself hand the controller on.

use becalm_model::{Change, Nature, Target};

use super::unified::{check, expected, make_partition};
use super::{IsolateError, Isolation, KNOB, Request, folder};
use crate::tune::ABSENT;

/// The slice. Its group is right below the top.
const SLICE: &str = "becalm.slice";

pub(super) fn plan(request: &Request<'_>, top: &str) -> Result<Isolation, IsolateError> {
    check(request, top)?;
    let cpus = request.cpus.to_string();
    let slice = format!("{top}/{SLICE}");
    // Processes live in leaves only.
    let group = format!("{slice}/subject");
    let mut changes = request.chosen_affinities();
    changes.push(Change {
        knob: KNOB.to_owned(),
        target: Target::UnitFile(format!("/run/systemd/system/{SLICE}")),
        old: ABSENT.to_owned(),
        new: Some(format!(
            "[Unit]\nDescription=CPUs that becalm measures on\n[Slice]\nAllowedCPUs={cpus}\n"
        )),
        reason: "the subject gets CPUs of its own".to_owned(),
        nature: Nature::Plain,
    });
    changes.push(Change {
        knob: KNOB.to_owned(),
        target: Target::Unit(SLICE.to_owned()),
        old: "inactive".to_owned(),
        new: Some("active".to_owned()),
        reason: "the subject gets CPUs of its own".to_owned(),
        nature: Nature::Plain,
    });
    changes.push(make_partition(&slice, request.partition));
    changes.push(folder(&group));
    Ok(Isolation {
        cpus: request.cpus.clone(),
        partition: request.partition,
        expected: expected(&slice, &cpus, request.partition),
        group,
        changes,
        limits: Vec::new(),
        moving: None,
    })
}

/// What there is of the slice if nobody has stopped it: a path by which to tell, and how to put it
/// back.
pub(super) fn leftovers(top: &str) -> Vec<(String, Target, &'static str)> {
    let file = format!("/run/systemd/system/{SLICE}");
    let inside = format!("{top}/{SLICE}/subject");
    vec![
        (inside.clone(), Target::Folder(inside), ABSENT),
        (format!("{top}/{SLICE}"), Target::Unit(SLICE.to_owned()), "inactive"),
        (file.clone(), Target::UnitFile(file), ABSENT),
    ]
}
