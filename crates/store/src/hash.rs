//! Hashes that are kept: of series, machines and contents.

use sha2::{Digest, Sha256};

/// Collects what is hashed. Every part is preceded by its length, so that two lists of parts are never
/// taken for one another.
pub(crate) struct Hash(Sha256);

impl Hash {
    pub(crate) fn new() -> Self {
        Self(Sha256::new())
    }

    pub(crate) fn part(&mut self, bytes: &[u8]) {
        self.0.update((bytes.len() as u64).to_le_bytes());
        self.0.update(bytes);
    }

    /// Returns the first `digits` of the hash, in hexadecimal.
    pub(crate) fn digits(self, digits: usize) -> String {
        let mut text = String::new();
        for byte in self.0.finalize() {
            let digit = |value: u8| char::from_digit(value.into(), 16).expect("four bits");
            text.extend([digit(byte >> 4), digit(byte & 15)]);
        }
        text.truncate(digits);
        text
    }
}

/// Makes a number of a name.
pub(crate) fn number_of(name: &str) -> i32 {
    let [a, b, c, d, ..]: [u8; 32] = Sha256::digest(name).into();
    i32::from_be_bytes([a, b, c, d])
}

/// Hashes what makes a series: benchmark, metric, unit, direction, parameters, fingerprint and branch.
pub(crate) fn series_key(parts: &[&str; 7]) -> String {
    let mut hash = Hash::new();
    for part in parts {
        hash.part(part.as_bytes());
    }
    hash.digits(40)
}
