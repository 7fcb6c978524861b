//! Paths as text that JSON can hold: bytes that are not UTF-8, control characters and `%` are written as `%XX`.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize as _, Deserializer, Serializer, de::Error as _};

/// Writes a path.
pub(crate) fn serialize<S: Serializer>(path: &Path, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(&escaped(path))
}

/// Reads a path.
pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<PathBuf, D::Error> {
    let text = String::deserialize(from)?;
    path(&text).ok_or_else(|| D::Error::custom("a path with a broken %XX"))
}

fn escaped(path: &Path) -> String {
    let mut text = String::new();
    for chunk in path.as_os_str().as_bytes().utf8_chunks() {
        for c in chunk.valid().chars() {
            if c == '%' || c.is_control() {
                let mut bytes = [0; 4];
                escape(c.encode_utf8(&mut bytes).as_bytes(), &mut text);
            } else {
                text.push(c);
            }
        }
        escape(chunk.invalid(), &mut text);
    }
    text
}

fn escape(bytes: &[u8], text: &mut String) {
    for byte in bytes {
        // Writing to a string cannot fail.
        let _ = write!(text, "%{byte:02x}");
    }
}

fn path(text: &str) -> Option<PathBuf> {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let [first, more @ ..] = rest {
        rest = more;
        if *first != b'%' {
            bytes.push(*first);
            continue;
        }
        let (digits, more) = rest.split_at_checked(2)?;
        bytes.push(u8::from_str_radix(str::from_utf8(digits).ok()?, 16).ok()?);
        rest = more;
    }
    Some(PathBuf::from(OsString::from_vec(bytes)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_path_comes_back() {
        for bytes in [&b"plain/name"[..], b"100%", b"caf\xc3\xa9", b"\xff\xfe x", b"new\nline"] {
            let before = PathBuf::from(OsString::from_vec(bytes.to_vec()));
            let text = escaped(&before);
            assert!(!text.contains(char::is_control), "{text}");
            assert_eq!(path(&text), Some(before));
        }
        assert_eq!(path("%4"), None);
        assert_eq!(path("%zz"), None);
    }
}
