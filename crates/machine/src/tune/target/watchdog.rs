//! The parts of the kernel's watchdog, which change when they are read.
//!
//! While `watchdog` is 0 both read as 0, and the kernel makes that their own setting: switched on again,
//! they would stay off (`proc_watchdog_common` in `kernel/watchdog.c`).

use crate::SysRoot;

const ALL: &str = "/proc/sys/kernel/watchdog";
const PARTS: [&str; 2] = ["/proc/sys/kernel/nmi_watchdog", "/proc/sys/kernel/soft_watchdog"];

/// Says whether a file is a part of the watchdog while the whole is off, so that it is 0 and must not
/// be read.
pub(crate) fn is_off(root: &SysRoot, path: &str) -> bool {
    PARTS.contains(&path) && root.read(ALL).value().as_deref() == Some("0")
}

#[cfg(test)]
mod tests {
    use super::super::read;
    use crate::{Reading, SysRoot};
    use becalm_model::Target;
    use becalm_testkit::FakeTree;

    #[test]
    fn parts_are_not_read_while_the_whole_is_off() {
        let check = |all: &str, expected: Reading| {
            let tree = FakeTree::new().file(super::ALL, all).file(super::PARTS[0], "1\n");
            let root = SysRoot::new(tree.path()).denying(super::PARTS[0]);
            assert_eq!(read(&root, &Target::File(super::PARTS[0].into())), expected, "{all}");
        };
        check("0\n", Reading::Value("0".into()));
        check("1\n", Reading::NoPermission);
    }
}
