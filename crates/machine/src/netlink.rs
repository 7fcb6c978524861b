//! Messages to and from the kernel about network interfaces and routes: rtnetlink(7).
//!
//! Only what saving and putting back needs: whole messages in, whole messages out. What an attribute means
//! is left to the kernel wherever possible, so that nothing is lost on the way.
//! <https://docs.kernel.org/userspace-api/netlink/intro.html>

use std::fs::File;
use std::io::{self, Read as _, Write as _};

use becalm_kernel::socket::route_socket;

/// `struct nlmsghdr`: length, type, flags, sequence number, port.
pub(crate) const HEADER: usize = 16;

const ERROR: u16 = 2;
const DONE: u16 = 3;

const REQUEST: u16 = 0x1;
const ACKNOWLEDGE: u16 = 0x4;
const DUMP: u16 = 0x300;
/// In an answer: what was listed changed meanwhile.
const INTERRUPTED: u16 = 0x10;

/// `NLM_F_CREATE | NLM_F_EXCL`: make it, unless it is there.
pub(crate) const CREATE: u16 = 0x400 | 0x200;

/// The kernel never sends more at once (`NLMSG_GOODSIZE` and its growth in `netlink_recvmsg`).
const BUFFER: usize = 128 << 10;

/// How often a list that changes is read again.
const ATTEMPTS: u32 = 5;

/// Asks for one thing to be done.
pub(crate) fn request(kind: u16, flags: u16, payload: &[u8]) -> io::Result<()> {
    let mut socket = send(kind, flags | ACKNOWLEDGE, payload)?;
    let mut buffer = vec![0; BUFFER];
    let length = socket.read(&mut buffer)?;
    match messages(&buffer[..length]).next() {
        Some(answer) if kind_of(answer) == ERROR => failure(answer),
        _ => Err(io::Error::other("the kernel did not say whether it was done")),
    }
}

/// Asks for a list, and returns its messages, each with its header.
pub(crate) fn dump(kind: u16, payload: &[u8]) -> io::Result<Vec<Vec<u8>>> {
    for _ in 0..ATTEMPTS {
        if let Some(list) = list(send(kind, DUMP, payload)?)? {
            return Ok(list);
        }
    }
    Err(io::Error::other("the list keeps changing while it is read"))
}

/// Reads a list to its end; `None` if it changed meanwhile.
fn list(mut socket: File) -> io::Result<Option<Vec<Vec<u8>>>> {
    let mut all = Vec::new();
    let mut is_whole = true;
    let mut buffer = vec![0; BUFFER];
    loop {
        let length = socket.read(&mut buffer)?;
        for message in messages(&buffer[..length]) {
            is_whole &= u16_at(message, 6) & INTERRUPTED == 0;
            match kind_of(message) {
                DONE => return Ok(is_whole.then_some(all)),
                ERROR => failure(message)?,
                _ => all.push(message.to_vec()),
            }
        }
    }
}

fn send(kind: u16, flags: u16, payload: &[u8]) -> io::Result<File> {
    let mut socket = File::from(route_socket()?);
    let message = message(kind, flags | REQUEST, payload);
    // A datagram goes as a whole or not at all.
    socket.write_all(&message)?;
    Ok(socket)
}

/// Puts a message together.
pub(crate) fn message(kind: u16, flags: u16, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(HEADER + payload.len()).expect("messages are short");
    let mut message = length.to_ne_bytes().to_vec();
    message.extend(kind.to_ne_bytes());
    message.extend(flags.to_ne_bytes());
    message.extend([0; 8]);
    message.extend(payload);
    message
}

/// Goes through the messages that came together. What does not fit its own length ends them.
fn messages(mut bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    std::iter::from_fn(move || {
        let length = usize::try_from(u32_at(bytes.get(..HEADER)?, 0)).ok()?;
        let message = bytes.get(..length).filter(|message| message.len() >= HEADER)?;
        bytes = bytes.get(aligned(length)..).unwrap_or_default();
        Some(message)
    })
}

/// Goes through the attributes of a message: type and whole attribute, header included.
pub(crate) fn attributes(mut bytes: &[u8]) -> impl Iterator<Item = (u16, &[u8])> {
    const ATTRIBUTE_HEADER: usize = 4;
    /// Without the bits for nesting and byte order.
    const TYPE: u16 = 0x3fff;
    std::iter::from_fn(move || {
        let header = bytes.get(..ATTRIBUTE_HEADER)?;
        let length = usize::from(u16_at(header, 0));
        let whole = bytes.get(..length).filter(|whole| whole.len() >= ATTRIBUTE_HEADER)?;
        bytes = bytes.get(aligned(length)..).unwrap_or_default();
        Some((u16_at(whole, 2) & TYPE, whole))
    })
}

/// Everything starts at a multiple of four.
pub(crate) fn aligned(length: usize) -> usize {
    length.next_multiple_of(4)
}

fn kind_of(message: &[u8]) -> u16 {
    u16_at(message, 4)
}

/// Reads `struct nlmsgerr`: no error is an acknowledgement.
fn failure(message: &[u8]) -> io::Result<()> {
    match message.get(HEADER..HEADER + 4).map(|bytes| u32_at(bytes, 0).cast_signed()) {
        Some(0) => Ok(()),
        Some(error) => Err(io::Error::from_raw_os_error(error.saturating_neg())),
        None => Err(io::Error::other("the kernel's answer is cut off")),
    }
}

pub(crate) fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_ne_bytes([bytes[at], bytes[at + 1]])
}

pub(crate) fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_ne_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_and_attributes_are_cut_where_they_say() {
        let mut both = message(24, 0, &[1, 2, 3]);
        both.push(0);
        both.extend(message(25, 0, &[4; 4]));
        let found: Vec<_> = messages(&both).map(|one| (kind_of(one), one.len())).collect();
        assert_eq!(found, [(24, 19), (25, 20)]);
        assert_eq!(messages(&both[..30]).count(), 1);
        assert_eq!(messages(&[0; HEADER]).count(), 0);

        let mut bytes = Vec::new();
        for (kind, content) in [(1_u16, &[7_u8, 7][..]), (0x8009, &[8; 4])] {
            bytes.extend(u16::try_from(4 + content.len()).unwrap().to_ne_bytes());
            bytes.extend(kind.to_ne_bytes());
            bytes.extend(content);
            bytes.resize(aligned(bytes.len()), 0);
        }
        let found: Vec<_> = attributes(&bytes).map(|(kind, one)| (kind, one.len())).collect();
        assert_eq!(found, [(1, 6), (9, 8)]);
        assert_eq!(attributes(&bytes[..9]).count(), 1);
        assert_eq!(attributes(&[0; 8]).count(), 0);
    }
}
