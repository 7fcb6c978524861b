//! Whether a network interface is up.

use std::io;

use becalm_kernel::socket::interface_index;

use crate::{Reading, SysRoot, netlink};

/// Value of an interface that is used.
pub(crate) const UP: &str = "up";
/// Value of one that is not.
pub(crate) const DOWN: &str = "down";

/// `IFF_UP` of `linux/if.h`.
const IFF_UP: u32 = 1;

/// Returns whether an interface is up, as somebody has set it: a cable may still be missing.
pub(super) fn read(root: &SysRoot, name: &str) -> Reading {
    match root.read(flags(name)) {
        Reading::Value(text) => match parse(&text) {
            Some(flags) => Reading::Value(if flags & IFF_UP == 0 { DOWN } else { UP }.to_owned()),
            None => Reading::Unreadable { reason: format!("has the flags {text}") },
        },
        other => other,
    }
}

/// Takes an interface up or down.
pub(super) fn write(root: &SysRoot, name: &str, value: &str) -> io::Result<()> {
    const RTM_NEWLINK: u16 = 16;
    let wanted = if value == UP { IFF_UP } else { 0 };
    if !root.is_live() {
        // A folder that stands for a machine has no interfaces, only what is said of them.
        let now = root.read(flags(name)).value().as_deref().and_then(parse).unwrap_or(0);
        return root.write(flags(name), &format!("{:#x}\n", (now & !IFF_UP) | wanted));
    }
    // `struct ifinfomsg`: family, padding, type, index, flags, which of them to change.
    let mut payload = vec![0; 4];
    payload.extend(interface_index(name)?.to_ne_bytes());
    payload.extend(wanted.to_ne_bytes());
    payload.extend(IFF_UP.to_ne_bytes());
    netlink::request(RTM_NEWLINK, 0, &payload)
}

fn flags(name: &str) -> String {
    format!("/sys/class/net/{name}/flags")
}

fn parse(text: &str) -> Option<u32> {
    u32::from_str_radix(text.strip_prefix("0x")?, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use becalm_testkit::FakeTree;

    #[test]
    fn one_flag_says_whether_it_is_up() {
        let tree = FakeTree::new().file("/sys/class/net/eth0/flags", "0x1003\n");
        let root = SysRoot::new(tree.path());
        assert_eq!(read(&root, "eth0"), Reading::Value(UP.into()));
        write(&root, "eth0", DOWN).unwrap();
        assert_eq!(root.read(flags("eth0")).value().as_deref(), Some("0x1002"));
        assert_eq!(read(&root, "eth0"), Reading::Value(DOWN.into()));
        write(&root, "eth0", UP).unwrap();
        assert_eq!(root.read(flags("eth0")).value().as_deref(), Some("0x1003"));
        assert_eq!(read(&root, "eth1"), Reading::Absent);
    }

    #[test]
    fn an_interface_that_is_not_there_is_an_error() {
        let error = write(&SysRoot::default(), "becalm-none", DOWN).unwrap_err();
        assert_eq!(error.raw_os_error(), Some(becalm_kernel::errno::ENODEV), "{error}");
    }
}
