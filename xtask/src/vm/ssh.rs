//! OpenSSH for a guest that has no libraries: the programs of this machine, with everything that they are linked to.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use super::cpio::Cpio;
use crate::install::find;
use crate::workspace::capture;

const PROGRAMS: [&str; 3] = ["ssh", "ssh-keygen", "sshd"];

/// What newer servers start for a connection.
const PARTS: [&str; 2] = ["/usr/lib/openssh/sshd-session", "/usr/lib/openssh/sshd-auth"];

/// Returns an archive of them, at the paths that they have here.
pub(super) fn archive() -> Result<Vec<u8>> {
    let mut files = BTreeSet::new();
    for name in PROGRAMS {
        files.insert(find(name).with_context(|| format!("{name} is not here"))?);
    }
    files.extend(PARTS.map(PathBuf::from).into_iter().filter(|path| path.is_file()));
    for program in files.clone() {
        files.extend(libraries(&capture(Command::new("ldd").arg(&program))?));
    }
    let mut archive = Cpio::default();
    for file in files {
        let name = file.strip_prefix("/").unwrap_or(&file).display().to_string();
        archive.copy(&name, &file)?;
    }
    Ok(archive.finish())
}

/// Returns the files that `ldd` names.
fn libraries(said: &str) -> impl Iterator<Item = PathBuf> {
    said.split_whitespace().filter(|word| word.starts_with('/')).map(|word| Path::new(word).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_loader_counts_as_a_library() {
        let said = "\tlinux-vdso.so.1 (0x7f)\n\tlibc.so.6 => /lib/x/libc.so.6 (0x7f)\n\t/lib64/ld.so.2 (0x7f)\n";
        let found: Vec<PathBuf> = libraries(said).collect();
        assert_eq!(found, ["/lib/x/libc.so.6", "/lib64/ld.so.2"].map(PathBuf::from));
    }
}
