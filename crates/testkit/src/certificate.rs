//! Certificates for servers of tests.

use std::path::Path;
use std::process::Command;

/// Makes a certificate for a host name, and its key, as the files `cert` and `key` of a folder; or says why not: then the test
/// is to be [`crate::skipped`].
pub fn self_made_certificate(folder: &Path, name: &str) -> Result<(), &'static str> {
    make(folder, name, "-keyout key -out cert")
}

/// The same of one that an authority has signed, whose certificate is the file `authority`.
pub fn signed_certificate(folder: &Path, name: &str) -> Result<(), &'static str> {
    make(folder, "An authority", "-keyout authority-key -out authority")?;
    let signed = "-keyout key -out cert -CA authority -CAkey authority-key \
                  -addext basicConstraints=critical,CA:FALSE";
    make(folder, name, signed)
}

fn make(folder: &Path, name: &str, how: &str) -> Result<(), &'static str> {
    let command = format!("req -x509 -newkey rsa:2048 -nodes -days 2 {how}");
    let made = Command::new("openssl")
        .args(command.split_whitespace())
        .args(["-subj", &format!("/CN={name}"), "-addext", &format!("subjectAltName=DNS:{name}")])
        .current_dir(folder)
        .output();
    let is_made = made.is_ok_and(|output| output.status.success());
    if is_made { Ok(()) } else { Err("openssl is not installed") }
}
