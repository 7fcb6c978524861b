//! A partition inside a slice of systemd.
//!
//! Where systemd keeps the control groups it takes the `cpuset` controller away from the top as soon
//! as it looks at its units again, and a partition made by hand dies with it. A slice with
//! `AllowedCPUs=` makes systemd itself hand the controller on.

use becalm_model::Target;

use super::unified::{check, expected, make_partition};
use super::{IsolateError, Isolating, Isolation, Leftover, change, folder, groups_below};
use crate::SysRoot;
use crate::tune::ABSENT;

/// The slice. Its group is right below the top.
const SLICE: &str = "becalm.slice";

/// Its file up to the CPUs, by which a becalm knows it again.
const TEXT: &str = "[Unit]\nDescription=CPUs that becalm measures on\n[Slice]\nAllowedCPUs=";

pub(super) fn plan(request: &Isolating<'_>, top: &str) -> Result<Isolation, IsolateError> {
    check(request, top)?;
    let cpus = request.cpus.to_string();
    let slice = format!("{top}/{SLICE}");
    // Processes live in leaves only.
    let group = format!("{slice}/subject");
    let mut changes = request.chosen_affinities();
    let file = Target::UnitFile(format!("/run/systemd/system/{SLICE}"));
    changes.push(change(file, ABSENT, &format!("{TEXT}{cpus}\n")));
    changes.push(change(Target::Unit(SLICE.to_owned()), "inactive", "active"));
    changes.push(make_partition(&slice, request.partition));
    changes.push(folder(&group));
    let expected = expected(&slice, &cpus, request.partition);
    Ok(request.isolation(group, changes, expected))
}

/// Returns what there may be of the slice if nobody has stopped it. It is becalm's if its file is, and nobody
/// has put units of their own into it.
pub(super) fn leftovers(root: &SysRoot, top: &str) -> Vec<Leftover> {
    let file = format!("/run/systemd/system/{SLICE}");
    let slice = format!("{top}/{SLICE}");
    let inside = format!("{slice}/subject");
    let is_becalms = root.read(&file).value().is_some_and(|text| text.starts_with(TEXT))
        && groups_below(root, &slice)
            .is_ok_and(|groups| groups.iter().all(|group| *group == inside));
    let one = |path: &str, target: Target, value: &'static str| Leftover {
        path: path.to_owned(),
        target,
        value,
        is_becalms,
    };
    vec![
        one(&inside, Target::Folder(inside.clone()), ABSENT),
        one(&slice, Target::Unit(SLICE.to_owned()), "inactive"),
        one(&file, Target::UnitFile(file.clone()), ABSENT),
    ]
}
