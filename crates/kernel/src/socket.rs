//! Sockets that the standard library has no type for, or asks less of.

use std::ffi::CString;
use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd};

pub use libc::{AF_INET, AF_INET6};

use crate::{checked, owned};

/// Opens a socket for messages about network interfaces and routes.
pub fn route_socket() -> io::Result<OwnedFd> {
    let kind = libc::SOCK_RAW | libc::SOCK_CLOEXEC;
    // SAFETY: plain numbers.
    owned(unsafe { libc::socket(libc::AF_NETLINK, kind, libc::NETLINK_ROUTE) })
}

/// Returns the number of a network interface.
pub fn interface_index(name: &str) -> io::Result<u32> {
    let name = CString::new(name)?;
    // SAFETY: the name ends with a zero byte and outlives the call, which only reads it.
    match unsafe { libc::if_nametoindex(name.as_ptr()) } {
        0 => Err(io::Error::last_os_error()),
        index => Ok(index),
    }
}

/// Returns which process listens on an abstract socket, 0 if it is in another container; `None` if
/// nobody does. The listener is not disturbed.
pub fn owner_of_socket(name: &[u8]) -> Option<u32> {
    let kind = libc::SOCK_STREAM | libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC;
    // SAFETY: plain numbers.
    let socket = owned(unsafe { libc::socket(libc::AF_UNIX, kind, 0) }).ok()?;
    // SAFETY: all bytes zero is a valid address.
    let mut address: libc::sockaddr_un = unsafe { std::mem::zeroed() };
    address.sun_family = libc::sa_family_t::try_from(libc::AF_UNIX).ok()?;
    // An abstract name starts with a zero byte, which is there already.
    let place = address.sun_path.get_mut(1..=name.len())?;
    for (to, from) in place.iter_mut().zip(name) {
        *to = libc::c_char::from_ne_bytes([*from]);
    }
    let length = std::mem::offset_of!(libc::sockaddr_un, sun_path) + 1 + name.len();
    let length = libc::socklen_t::try_from(length).ok()?;
    // SAFETY: `address` is an initialised address of at least `length` bytes, which is only read.
    let connected =
        unsafe { libc::connect(socket.as_raw_fd(), (&raw const address).cast(), length) };
    if let Err(error) = checked(connected) {
        // A full queue has a listener too, who cannot be asked for the name any more.
        return (error.raw_os_error() == Some(libc::EAGAIN)).then_some(0);
    }
    let mut owner = libc::ucred { pid: 0, uid: 0, gid: 0 };
    let mut size = libc::socklen_t::try_from(size_of_val(&owner)).ok()?;
    // SAFETY: `owner` is a valid place of `size` bytes, and both outlive the call.
    let got = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_PEERCRED,
            (&raw mut owner).cast(),
            &raw mut size,
        )
    };
    Some(if got < 0 { 0 } else { u32::try_from(owner.pid).unwrap_or(0) })
}
