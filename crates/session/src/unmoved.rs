//! Interrupts that stay on the measured CPUs.

use becalm_machine::SysRoot;
use becalm_machine::tune::{Applied, Effect};
use becalm_model::{PlacementLimit, Target};

/// Says which interrupts stay on the measured CPUs, and why; `None` if all were moved.
pub fn unmoved(root: &SysRoot, applied: &[Applied]) -> Option<PlacementLimit> {
    let (mut locked, mut refused) = (Vec::new(), Vec::new());
    for one in applied.iter().filter(|one| !one.is_failure()) {
        let (Target::File(path), Effect::Refused { reason, .. }) =
            (&one.change.target, &one.effect)
        else {
            continue;
        };
        let number = path
            .strip_prefix("/proc/irq/")
            .and_then(|path| path.strip_suffix("/smp_affinity_list"));
        // Without a device it interrupts nobody.
        let Some((number, device)) =
            number.and_then(|number| Some((number, device(root, number)?)))
        else {
            continue;
        };
        if one.is_the_kernels() {
            locked.push(format!("{number} ({device})"));
        } else {
            refused.push(format!("{number} ({device}): {reason}"));
        }
    }
    let is_any = !locked.is_empty() || !refused.is_empty();
    is_any.then_some(PlacementLimit::InterruptsStay { locked, refused })
}

/// Returns the device of an interrupt, after which the kernel names a folder.
fn device(root: &SysRoot, number: &str) -> Option<String> {
    let folder = format!("/proc/irq/{number}");
    let names = root.list_dir(&folder).value().unwrap_or_default();
    names.into_iter().find(|name| root.list_dir(format!("{folder}/{name}")).value().is_some())
}

#[cfg(test)]
mod tests {
    use super::*;
    use becalm_model::{Change, Nature};
    use becalm_testkit::FakeTree;

    #[test]
    fn interrupts_that_stay_are_told_with_the_reason() {
        let tree = FakeTree::new()
            .file("/proc/irq/24/nvme0q1/x", "")
            .file("/proc/irq/25/eth0/x", "")
            .file("/proc/irq/26/spurious", "");
        let applied = [(24, 5), (25, 28), (26, 5)].map(|(number, code)| {
            let path = format!("/proc/irq/{number}/smp_affinity_list");
            let reason = std::io::Error::from_raw_os_error(code).to_string();
            Applied {
                change: Change::file("irq-affinity", path, "0-3", "0", "why")
                    .with(Nature::MayBeRefused),
                effect: Effect::Refused { reason, code: Some(code) },
            }
        });
        let told = unmoved(&SysRoot::new(tree.path()), &applied).unwrap();
        let (locked, refused) = (
            vec!["24 (nvme0q1)".to_owned()],
            vec!["25 (eth0): No space left on device (os error 28)".to_owned()],
        );
        assert_eq!(told, PlacementLimit::InterruptsStay { locked, refused });
    }
}
