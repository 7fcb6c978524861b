//! The SHA-256 of files, by which the other machine knows what it already has.

use std::fmt::Write as _;
use std::io::{self, Read, Write};

use sha2::{Digest as _, Sha256};

/// Copies everything to `to`; returns its hash as 64 hexadecimal digits, and how many bytes it has.
pub(crate) fn copy(mut from: impl Read, mut to: impl Write) -> io::Result<(String, u64)> {
    let mut hash = Sha256::new();
    let mut buffer = vec![0; 1 << 17];
    let mut bytes = 0;
    loop {
        let read = match from.read(&mut buffer) {
            Ok(0) => break,
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        hash.update(&buffer[..read]);
        to.write_all(&buffer[..read])?;
        bytes += read as u64;
    }
    let mut digits = String::new();
    for byte in hash.finalize() {
        // Writing to a string cannot fail.
        let _ = write!(digits, "{byte:02x}");
    }
    Ok((digits, bytes))
}

/// Returns the hash of what is read, and how many bytes it has.
pub(crate) fn of(from: impl Read) -> io::Result<(String, u64)> {
    copy(from, io::sink())
}

/// Says whether a text could be a hash, and so is safe as the name of a file.
pub(crate) fn is_hash(text: &str) -> bool {
    text.len() == 64 && is_hexadecimal(text)
}

/// Says whether a text has only the digits of hashes.
pub(crate) fn is_hexadecimal(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_known_hash() {
        let (hash, bytes) = of(&b"abc"[..]).unwrap();
        assert_eq!(bytes, 3);
        assert_eq!(hash, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        assert!(is_hash(&hash));
        assert!(!is_hash("../etc/passwd"));
    }
}
