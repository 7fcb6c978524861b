//! Sockets that the standard library has no type for, or asks less of.

use std::ffi::CString;
use std::io::{self, Write as _};
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd as _, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::net::UnixStream;
use std::path::Path;

pub use libc::{AF_INET, AF_INET6};

use crate::{checked, owned, process};

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
    // An abstract name starts with a zero byte.
    match connect_at_once(&[&[0], name].concat()) {
        Ok(socket) => Some(peer_of(&socket).map_or(0, |peer| peer.pid)),
        // A full queue has a listener too, who cannot be asked for the name any more.
        Err(error) => (error.kind() == io::ErrorKind::WouldBlock).then_some(0),
    }
}

/// Returns `Ok` if somebody listens on the socket at this path, else what the kernel says of it. It does not wait, not even
/// if the queue of connections that the listener has yet to take is full.
pub fn has_listener(path: &Path) -> io::Result<()> {
    match connect_at_once(&[path.as_os_str().as_bytes(), &[0]].concat()) {
        Err(error) if error.kind() != io::ErrorKind::WouldBlock => Err(error),
        _ => Ok(()),
    }
}

/// Connects to a local socket; `EAGAIN` if its queue is full.
fn connect_at_once(place: &[u8]) -> io::Result<OwnedFd> {
    let kind = libc::SOCK_STREAM | libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC;
    // SAFETY: plain numbers.
    let socket = owned(unsafe { libc::socket(libc::AF_UNIX, kind, 0) })?;
    // SAFETY: all bytes zero is a valid address.
    let mut address: libc::sockaddr_un = unsafe { std::mem::zeroed() };
    address.sun_family = libc::sa_family_t::try_from(libc::AF_UNIX).map_err(io::Error::other)?;
    let path = address.sun_path.get_mut(..place.len()).ok_or(io::ErrorKind::InvalidFilename)?;
    for (to, from) in path.iter_mut().zip(place) {
        *to = libc::c_char::from_ne_bytes([*from]);
    }
    let length = std::mem::offset_of!(libc::sockaddr_un, sun_path) + place.len();
    let length = libc::socklen_t::try_from(length).map_err(io::Error::other)?;
    // SAFETY: `address` is an initialised address of at least `length` bytes, which is only read.
    checked(unsafe { libc::connect(socket.as_raw_fd(), (&raw const address).cast(), length) })?;
    Ok(socket)
}

/// The process at the other end of a socket, as the kernel knows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Peer {
    /// Its number; 0 where it is in another container.
    pub pid: u32,
    /// Effective user when it connected or listened.
    pub uid: u32,
    /// Effective group.
    pub gid: u32,
}

impl From<libc::ucred> for Peer {
    fn from(peer: libc::ucred) -> Self {
        Self { pid: u32::try_from(peer.pid).unwrap_or(0), uid: peer.uid, gid: peer.gid }
    }
}

/// Returns who made the other end of a socket (`SO_PEERCRED`).
pub fn peer_of(socket: &impl AsRawFd) -> io::Result<Peer> {
    let mut peer = libc::ucred { pid: 0, uid: 0, gid: 0 };
    let mut size = SIZE_OF_PEER;
    // SAFETY: `peer` is a valid place of `size` bytes, and both outlive the call.
    checked(unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_PEERCRED,
            (&raw mut peer).cast(),
            &raw mut size,
        )
    })?;
    Ok(peer.into())
}

/// Says whether a socket waits for connections.
pub fn is_listening(socket: &impl AsRawFd) -> bool {
    option(socket, libc::SO_ACCEPTCONN).is_ok_and(|is_listening| is_listening != 0)
}

fn option(socket: &impl AsRawFd, name: libc::c_int) -> io::Result<libc::c_int> {
    let (mut value, mut size) = (0, SIZE_OF_NUMBER);
    // SAFETY: `value` is a valid place of `size` bytes, and both outlive the call.
    checked(unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            name,
            (&raw mut value).cast(),
            &raw mut size,
        )
    })?;
    Ok(value)
}

/// Has the kernel say of every message that comes by this socket which process has sent it (`SO_PASSCRED`).
pub fn ask_for_senders(socket: &UnixStream) -> io::Result<()> {
    let on: libc::c_int = 1;
    // SAFETY: `on` is a number of the size stated, which is only read.
    checked(unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_PASSCRED,
            (&raw const on).cast(),
            SIZE_OF_NUMBER,
        )
    })
    .map(drop)
}

/// Receives one byte, and says which process has sent it, by the kernel's word; `None` where the other end is closed. For
/// a socket that was [asked for it](ask_for_senders).
pub fn receive_sender(socket: &UnixStream) -> io::Result<Option<Peer>> {
    let mut byte = 0u8;
    let mut part = libc::iovec { iov_base: (&raw mut byte).cast(), iov_len: 1 };
    let mut room = Room([0; 64]);
    // SAFETY: computes with numbers only.
    let space = unsafe { libc::CMSG_SPACE(SIZE_OF_PEER) };
    let mut message = room.message(&mut part, space);
    // A file that comes along has no room beside the sender: it is seen here, and stays where it is.
    if receive(socket, &mut message, libc::MSG_DONTWAIT | libc::MSG_PEEK)? == 0 {
        return Ok(None);
    }
    if has_no_room(&message) {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let mut message = room.message(&mut part, space);
    if receive(socket, &mut message, libc::MSG_DONTWAIT)? == 0 {
        return Ok(None);
    }
    // SAFETY: the kernel has filled in the header that `message` names, with the value that belongs to its type.
    let sender = unsafe {
        let header = libc::CMSG_FIRSTHDR(&raw const message);
        let is_sender = !header.is_null() && (*header).cmsg_type == libc::SCM_CREDENTIALS;
        is_sender.then(|| libc::CMSG_DATA(header).cast::<libc::ucred>().read_unaligned())
    };
    sender.map(|sender| Some(sender.into())).ok_or_else(|| io::ErrorKind::InvalidData.into())
}

/// Sends bytes, and with them one open file where there is one (`SCM_RIGHTS`).
pub fn send_with_file(
    socket: &UnixStream,
    bytes: &[u8],
    file: Option<BorrowedFd<'_>>,
) -> io::Result<()> {
    let mut part = libc::iovec { iov_base: bytes.as_ptr().cast_mut().cast(), iov_len: bytes.len() };
    let mut room = Room([0; 64]);
    // SAFETY: computes with numbers only.
    let space = unsafe { libc::CMSG_SPACE(SIZE_OF_NUMBER) };
    let mut message = room.message(&mut part, space);
    if let Some(file) = file {
        // SAFETY: `message` names `room`, which is large enough for one header and one number, and aligned for both.
        unsafe {
            let header = libc::CMSG_FIRSTHDR(&raw const message);
            (*header).cmsg_level = libc::SOL_SOCKET;
            (*header).cmsg_type = libc::SCM_RIGHTS;
            (*header).cmsg_len = libc::CMSG_LEN(SIZE_OF_NUMBER) as _;
            libc::CMSG_DATA(header).cast::<RawFd>().write_unaligned(file.as_raw_fd());
        }
    } else {
        message.msg_controllen = 0;
    }
    // SAFETY: the message names `part` and `room`, which outlive the call; the kernel only reads them.
    let sent = unsafe { libc::sendmsg(socket.as_raw_fd(), &raw const message, libc::MSG_NOSIGNAL) };
    let sent = usize::try_from(checked(sent as i64)?).unwrap_or(0);
    (&*socket).write_all(&bytes[sent..])
}

/// Receives up to `bytes.len()` bytes, and the one open file that comes with them. For a socket whose other end is trusted:
/// closing a file can take as long as whoever has sent it likes.
pub fn receive_with_file(
    socket: &UnixStream,
    bytes: &mut [u8],
) -> io::Result<(usize, Option<OwnedFd>)> {
    let mut part = libc::iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: bytes.len() };
    let mut room = Room([0; 64]);
    // With padding behind it there would be room for a second one, which nobody would close.
    // SAFETY: computes with numbers only.
    let space = unsafe { libc::CMSG_LEN(SIZE_OF_NUMBER) };
    let mut message = room.message(&mut part, space);
    let got = receive(socket, &mut message, 0)?;
    // SAFETY: the kernel has filled in the headers that `message` names, and made the number for this process.
    let file = unsafe {
        let header = libc::CMSG_FIRSTHDR(&raw const message);
        if header.is_null() || (*header).cmsg_type != libc::SCM_RIGHTS {
            None
        } else {
            let number = libc::CMSG_DATA(header).cast::<RawFd>().read_unaligned();
            Some(OwnedFd::from_raw_fd(number))
        }
    };
    Ok((got, file))
}

/// Receives up to `bytes.len()` bytes from somebody who may be hostile, and has to send no open file: where one comes, it
/// stays in the socket, and this fails with `InvalidData`. The kernel would close it, which can take for ever (a
/// connection that lingers, see `SO_LINGER` in socket(7)).
pub fn receive_bytes(socket: &UnixStream, bytes: &mut [u8]) -> io::Result<usize> {
    let seen = receive_bare(socket, bytes, libc::MSG_PEEK)?;
    // What was seen has no file with it. The next message may.
    if seen == 0 { Ok(0) } else { receive_bare(socket, &mut bytes[..seen], libc::MSG_DONTWAIT) }
}

fn receive_bare(socket: &UnixStream, bytes: &mut [u8], flags: libc::c_int) -> io::Result<usize> {
    let mut part = libc::iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: bytes.len() };
    // SAFETY: all bytes zero is a valid message, without anything in it.
    let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
    message.msg_iov = &raw mut part;
    message.msg_iovlen = 1;
    let got = receive(socket, &mut message, flags)?;
    if has_no_room(&message) {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "an open file came along"));
    }
    Ok(got)
}

/// Closes a socket whose other end may be hostile. An open file that lies in it is left to a process that ends: at the end
/// of a process nothing lingers. For a process that has only one thread yet.
pub fn let_go(socket: UnixStream) {
    // After this nothing more can be sent to it.
    let is_shut = socket.shutdown(std::net::Shutdown::Both).is_ok();
    if is_shut && is_empty(&socket) {
        return;
    }
    if let Err(file) = process::close_elsewhere(socket.into()) {
        // Rather one descriptor too many than a process that waits.
        std::mem::forget(file);
    }
}

/// Reads all that lies in a socket to which nobody can send; says whether that was bytes alone.
fn is_empty(socket: &UnixStream) -> bool {
    let mut bytes = [0; 4 << 10];
    let mut reads = (0..MOST_READS).map(|_| receive_bytes(socket, &mut bytes));
    matches!(reads.find(|read| !matches!(read, Ok(1..))), Some(Ok(0)))
}

/// Reads of 4 KiB within which a socket is empty: its buffer has some 200 KiB.
const MOST_READS: usize = 128;

fn receive(
    socket: &UnixStream,
    message: &mut libc::msghdr,
    flags: libc::c_int,
) -> io::Result<usize> {
    let flags = flags | libc::MSG_CMSG_CLOEXEC;
    // SAFETY: the message names places that outlive the call and have the lengths stated.
    let got = unsafe { libc::recvmsg(socket.as_raw_fd(), message, flags) };
    Ok(usize::try_from(checked(got as i64)?).unwrap_or(0))
}

/// Says whether something came beside the bytes for which there is no room.
fn has_no_room(message: &libc::msghdr) -> bool {
    message.msg_flags & libc::MSG_CTRUNC != 0
}

/// Room for the header of one open file or one sender, aligned as the kernel wants it.
#[repr(C, align(8))]
struct Room([u8; 64]);

/// Bytes of what the kernel says of a process.
const SIZE_OF_PEER: libc::c_uint = 12;
const _: () = assert!(size_of::<libc::ucred>() == SIZE_OF_PEER as usize);

/// Bytes of a descriptor's number.
const SIZE_OF_NUMBER: libc::c_uint = 4;
const _: () = assert!(size_of::<RawFd>() == SIZE_OF_NUMBER as usize);

impl Room {
    /// Returns a message with so many bytes for such a header.
    fn message(&mut self, part: &mut libc::iovec, space: libc::c_uint) -> libc::msghdr {
        // SAFETY: all bytes zero is a valid message, without anything in it.
        let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
        message.msg_iov = part;
        message.msg_iovlen = 1;
        message.msg_control = self.0.as_mut_ptr().cast();
        message.msg_controllen = space as _;
        message
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sends a byte with so many open files.
    fn send_files(socket: &UnixStream, files: &[RawFd]) {
        let length = libc::c_uint::try_from(size_of_val(files)).unwrap();
        let mut part = libc::iovec { iov_base: c"0".as_ptr().cast_mut().cast(), iov_len: 1 };
        let mut room = Room([0; 64]);
        // SAFETY: computes with numbers only; the room is large enough for the header and a few numbers.
        unsafe {
            let mut message = room.message(&mut part, libc::CMSG_SPACE(length));
            let header = libc::CMSG_FIRSTHDR(&raw const message);
            (*header).cmsg_level = libc::SOL_SOCKET;
            (*header).cmsg_type = libc::SCM_RIGHTS;
            (*header).cmsg_len = libc::CMSG_LEN(length) as _;
            libc::CMSG_DATA(header).copy_from(files.as_ptr().cast(), size_of_val(files));
            assert_eq!(libc::sendmsg(socket.as_raw_fd(), &raw mut message, 0), 1);
        }
    }

    /// Says whether the other end of a pipe is open anywhere.
    fn is_open(reader: &io::PipeReader) -> bool {
        let mut entry = [crate::poll::Entry::readable(reader)];
        crate::poll::wait(&mut entry, Some(std::time::Duration::ZERO)).unwrap();
        !entry[0].is_ready()
    }

    /// Waits until the other end of a pipe is open nowhere. Other tests start processes, which have it for a moment.
    fn wait_for_end(reader: &io::PipeReader) {
        crate::poll::wait(&mut [crate::poll::Entry::readable(reader)], None).unwrap();
    }

    #[test]
    fn of_several_files_none_stays_open_but_the_one_that_is_taken() {
        let (ours, theirs) = UnixStream::pair().unwrap();
        let pipes = [io::pipe().unwrap(), io::pipe().unwrap()];
        send_files(&theirs, &[pipes[0].1.as_raw_fd(), pipes[1].1.as_raw_fd()]);
        let readers = pipes.map(|(reader, _)| reader);
        let (got, file) = receive_with_file(&ours, &mut [0; 8]).unwrap();
        assert_eq!((got, is_open(&readers[0])), (1, true));
        wait_for_end(&readers[1]);
        drop(file);
        wait_for_end(&readers[0]);
    }

    #[test]
    fn a_file_that_nobody_asked_for_stays_in_the_socket() {
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        let (reader, writer) = io::pipe().unwrap();
        theirs.write_all(b"12").unwrap();
        send_files(&theirs, &[writer.as_raw_fd()]);
        drop(writer);
        let mut bytes = [0; 8];
        // What came before it, or nothing, but not the file.
        let mut results = (0..2).map(|_| receive_bytes(&ours, &mut bytes));
        assert!(results.any(|one| one.is_err_and(|why| why.kind() == io::ErrorKind::InvalidData)));
        assert!(is_open(&reader), "nobody has closed it");
        let_go(ours);
        wait_for_end(&reader);
    }

    #[test]
    fn the_kernel_says_who_sends() {
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        ask_for_senders(&ours).unwrap();
        assert_eq!(receive_sender(&ours).unwrap_err().kind(), io::ErrorKind::WouldBlock);
        theirs.write_all(b"0").unwrap();
        let peer = peer_of(&ours).unwrap();
        assert_eq!(peer.pid, std::process::id());
        assert_eq!(receive_sender(&ours).unwrap(), Some(peer));
        drop(theirs);
        assert_eq!(receive_sender(&ours).unwrap(), None);
        assert!(!is_listening(&ours));
    }
}
