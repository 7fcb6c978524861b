//! The routes through a network interface, which the kernel forgets when it goes down.
//!
//! Saved as the kernel's own messages, so that every attribute comes back, also one that becalm does not
//! know: `ip route save` and `ip route restore` do the same. Those that the kernel or a router makes by
//! themselves are left out, because they come back by themselves. With one exception: `NetworkManager` gives
//! an interface addresses for which the kernel is to make no route (`IFA_F_NOPREFIXROUTE`), and makes that
//! itself, in the kernel's name. Where there is such an address the kernel's routes are saved too; those that
//! it has made again by then are found there, and left.

use std::fmt::Write as _;
use std::io;

use becalm_kernel::socket;

use crate::netlink::{self, HEADER, aligned, attributes, u32_at};
use crate::{Reading, SysRoot};

const RTM_NEWROUTE: u16 = 24;
const RTM_GETROUTE: u16 = 26;
const RTM_GETADDR: u16 = 22;

/// `struct rtmsg`: family, lengths of two prefixes, tos, table, protocol, scope, type, flags.
const ROUTE: usize = 12;

/// `struct ifaddrmsg`: family, length of the prefix, flags, scope, interface.
const ADDRESS: usize = 8;

/// Attribute of `linux/if_addr.h`.
const IFA_FLAGS: u16 = 8;

/// Attributes of `linux/rtnetlink.h`.
const RTA_OIF: u16 = 4;
const RTA_MULTIPATH: u16 = 9;
/// When it was used, and when it ends: never twice the same.
const RTA_CACHEINFO: u16 = 12;
const RTA_EXPIRES: u16 = 23;

/// The one flag that is asked for; the others say what the kernel found (`RTNH_F_DEAD` ...).
const RTNH_F_ONLINK: u8 = 4;

/// Returns the routes through an interface, in hexadecimal digits, sorted.
pub(super) fn read(root: &SysRoot, name: &str) -> Reading {
    // A folder that stands for a machine tells of none.
    if !root.is_live() {
        return Reading::Value(String::new());
    }
    let Ok(index) = socket::interface_index(name) else { return Reading::Absent };
    match routes(index) {
        Ok(mut routes) => {
            routes.sort();
            Reading::Value(routes.join(" "))
        }
        Err(error) => Reading::Unreadable { reason: format!("cannot be listed: {error}") },
    }
}

/// Makes the routes that are missing.
pub(super) fn write(root: &SysRoot, value: &str) -> io::Result<()> {
    if !root.is_live() {
        return Ok(());
    }
    let mut missing: Vec<Vec<u8>> =
        value.split_whitespace().map(bytes).collect::<Option<_>>().ok_or_else(|| {
            io::Error::new(io::ErrorKind::InvalidData, "the saved routes cannot be read")
        })?;
    // A gateway has to be reachable before there is a route through it: some come in a later turn.
    loop {
        let before = missing.len();
        let mut why = None;
        missing.retain(|message| {
            match netlink::request(RTM_NEWROUTE, netlink::CREATE, &message[HEADER..]) {
                Ok(()) => false,
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => false,
                Err(error) => {
                    why = Some(error);
                    true
                }
            }
        });
        match why {
            None => return Ok(()),
            Some(error) if missing.len() == before => return Err(error),
            Some(_) => {}
        }
    }
}

fn routes(index: u32) -> io::Result<Vec<String>> {
    let mut all = Vec::new();
    for family in [socket::AF_INET, socket::AF_INET6] {
        let family = u8::try_from(family).expect("families are small numbers");
        let mut payload = vec![0; ROUTE];
        payload[0] = family;
        let found = netlink::dump(RTM_GETROUTE, &payload)?;
        let lacks_some = lacks_routes(family, index)?;
        // Without IPv6 the kernel answers with what it has.
        let found = found.iter().filter_map(|message| message.get(HEADER..));
        all.extend(
            found
                .filter(|route| route.first() == Some(&family))
                .filter(|route| is_chosen(route, index, lacks_some))
                .map(|route| digits(&netlink::message(RTM_NEWROUTE, 0, &lasting(route)))),
        );
    }
    Ok(all)
}

/// Says whether an interface has an address of a family for which the kernel makes no route.
fn lacks_routes(family: u8, index: u32) -> io::Result<bool> {
    const IFA_F_NOPREFIXROUTE: u32 = 0x200;
    let mut payload = vec![0; ADDRESS];
    payload[0] = family;
    let all = netlink::dump(RTM_GETADDR, &payload)?;
    let mut here = all.iter().filter_map(|message| message.get(HEADER..)).filter(|address| {
        address.len() >= ADDRESS && address[0] == family && u32_at(address, 4) == index
    });
    Ok(here.any(|address| {
        attributes(&address[ADDRESS..]).any(|(kind, whole)| {
            kind == IFA_FLAGS && whole.len() == 8 && u32_at(whole, 4) & IFA_F_NOPREFIXROUTE != 0
        })
    }))
}

/// Says whether somebody has set a route, through this interface. Where it `lacks_some` of the kernel's, one
/// in its name may be of somebody too.
fn is_chosen(route: &[u8], index: u32, lacks_some: bool) -> bool {
    const RT_TABLE_LOCAL: u8 = 255;
    const RTPROT_KERNEL: u8 = 2;
    /// Of a redirect, the kernel's, of a router's advertisement.
    const BY_THEMSELVES: [u8; 3] = [1, RTPROT_KERNEL, 9];
    const RTM_F_CLONED: u32 = 0x200;
    if route.len() < ROUTE {
        return false;
    }
    let (table, protocol, flags) = (route[4], route[5], u32_at(route, 8));
    table != RT_TABLE_LOCAL
        && (!BY_THEMSELVES.contains(&protocol) || (protocol == RTPROT_KERNEL && lacks_some))
        && flags & RTM_F_CLONED == 0
        && attributes(&route[ROUTE..]).any(|(kind, whole)| match kind {
            RTA_OIF if whole.len() == 8 => u32_at(whole, 4) == index,
            RTA_MULTIPATH => hops(whole).any(|at| u32_at(whole, at + 4) == index),
            _ => false,
        })
}

/// Returns a route without what the kernel found out about it.
fn lasting(route: &[u8]) -> Vec<u8> {
    let mut kept = route[..ROUTE].to_vec();
    kept[8..ROUTE].copy_from_slice(&(u32_at(route, 8) & u32::from(RTNH_F_ONLINK)).to_ne_bytes());
    for (kind, whole) in attributes(&route[ROUTE..]) {
        if matches!(kind, RTA_CACHEINFO | RTA_EXPIRES) {
            continue;
        }
        let start = kept.len();
        kept.extend(whole);
        if kind == RTA_MULTIPATH {
            for at in hops(whole) {
                kept[start + at + 2] &= RTNH_F_ONLINK;
            }
        }
        kept.resize(aligned(kept.len()), 0);
    }
    kept
}

/// Returns where in an attribute each `struct rtnexthop` begins: length, flags, weight, interface.
fn hops(whole: &[u8]) -> impl Iterator<Item = usize> {
    const HOP: usize = 8;
    let mut next = 4;
    std::iter::from_fn(move || {
        let at = next;
        let hop = whole.get(at..at + HOP)?;
        let length = usize::from(netlink::u16_at(hop, 0));
        next = at + aligned(length.max(HOP));
        Some(at)
    })
}

fn digits(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn bytes(digits: &str) -> Option<Vec<u8>> {
    let pairs = digits.as_bytes().chunks(2);
    let bytes: Option<Vec<u8>> =
        pairs.map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()).collect();
    bytes.filter(|message| message.len() >= HEADER + ROUTE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tune::{by_hand, target::interface};
    use becalm_model::Target;
    use becalm_testkit::skipped;
    use std::process::Command;

    #[test]
    fn what_is_no_route_is_refused() {
        for text in ["x", "00", "1c00000018000000"] {
            let error = write(&SysRoot::default(), text).unwrap_err();
            assert!(error.to_string().contains("cannot be read"), "{error}");
        }
        assert_eq!(read(&SysRoot::default(), "becalm-none"), Reading::Absent);
    }

    /// Starts the test below in a network of its own.
    #[test]
    fn routes_come_back_with_all_their_attributes() {
        let test = "routes_come_back_with_all_their_attributes";
        let name = "tune::target::routes::tests::in_a_network_of_its_own";
        let mut command = Command::new("unshare");
        command.args(["--net", "--mount", "sh", "-c"]);
        command.arg(
            "mount -t sysfs none /sys && ip address add 10.1.2.3/24 dev lo && ip link set lo up && \
             ip route add 10.9.0.0/16 via 10.1.2.9 dev lo metric 7 mtu 1300 && \
             ip route add 10.8.0.1/32 dev lo scope link && \
             ip route add default via 10.8.0.1 dev lo proto dhcp table 77 && \
             ip address add 10.5.0.2/24 dev lo noprefixroute && \
             ip route add 10.5.0.0/24 dev lo proto kernel scope link src 10.5.0.2 metric 100 && \
             ip route add 10.7.0.0/16 nexthop via 10.1.2.8 dev lo weight 3 nexthop via 10.8.0.1 dev lo || exit 77; \
             exec \"$0\" --exact \"$1\" --ignored --nocapture",
        );
        let output = command.arg(std::env::current_exe().unwrap()).arg(name).output();
        match output {
            Ok(output) if output.status.success() => {
                let said = String::from_utf8_lossy(&output.stdout);
                assert!(said.contains("1 passed"), "{said}");
                said.lines().filter_map(|line| line.strip_prefix("skipped: ")).for_each(skipped);
            }
            Ok(output) if output.status.code() == Some(101) => {
                panic!("{}", String::from_utf8_lossy(&output.stdout))
            }
            Ok(output) => skipped(&format!(
                "{test}: no network of its own here: {}",
                String::from_utf8_lossy(&output.stderr)
            )),
            Err(error) => skipped(&format!("{test}: unshare: {error}")),
        }
    }

    #[test]
    #[ignore = "started by the test above"]
    fn in_a_network_of_its_own() {
        let shown = || {
            let output = Command::new("ip").args(["route", "show", "table", "all"]).output();
            String::from_utf8(output.unwrap().stdout).unwrap()
        };
        let root = SysRoot::default();
        let (before, text) = (read(&root, "lo").value().unwrap(), shown());
        assert_eq!(before.split(' ').count(), 5, "{before}");
        interface::write(&root, "lo", interface::DOWN).unwrap();
        assert_eq!(interface::read(&root, "lo"), Reading::Value("down".into()));
        assert_eq!(read(&root, "lo"), Reading::Value(String::new()));
        interface::write(&root, "lo", interface::UP).unwrap();
        write(&root, &before).unwrap();
        assert_eq!(read(&root, "lo"), Reading::Value(before.clone()));
        assert_eq!(shown(), text);
        // Nothing is missing, so nothing is done.
        write(&root, &before).unwrap();
        assert_eq!(shown(), text);

        interface::write(&root, "lo", interface::DOWN).unwrap();
        interface::write(&root, "lo", interface::UP).unwrap();
        let by_hand = by_hand(&Target::Routes("lo".into()), &before);
        let done =
            Command::new("sh").args(["-c", &format!("which xxd || exit 77; {by_hand}")]).status();
        match done.unwrap().code() {
            Some(77) => skipped("in_a_network_of_its_own: by hand: there is no xxd"),
            _ => assert_eq!(shown(), text, "{by_hand}"),
        }
    }
}
