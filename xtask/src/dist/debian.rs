//! Packages for Debian and its descendants.
//!
//! Format: deb(5), an `ar` archive of two tar archives. They are written here and not by `dpkg-deb`, so that every system
//! makes the same bytes and none needs root.

use std::fs;

use anyhow::{Context, Result};
use md5::{Digest as _, Md5};

use super::arch::Arch;
use super::documents::Documents;
use super::release::Release;
use super::tar::{File, Files, archive, gzip};
use crate::workspace::root;

/// The number of the package among those of one release of becalm.
const REVISION: &str = "1";

/// Where the parts are that do not change: the description, the licences.
const FOLDER: &str = "packaging/debian";

const DOC: &str = "usr/share/doc/becalm";

/// Returns the name of the package's file and its content.
pub(super) fn package(
    release: &Release,
    arch: Arch,
    program: &[u8],
    documents: &Documents,
    notices: &[u8],
) -> Result<(String, Vec<u8>)> {
    let version = format!("{}-{REVISION}", release.version);
    let files = files(release, &version, program, documents, notices)?;
    let control = control(&read("control")?, &version, arch, &files);
    let sums = Files::from([
        ("control".to_owned(), File::text(control)),
        ("md5sums".to_owned(), File::text(sums(&files))),
    ]);
    let packed = |files: &Files| gzip(&archive(files, "./", release.time)?);
    let members = [
        ("debian-binary", b"2.0\n".to_vec()),
        ("control.tar.gz", packed(&sums)?),
        ("data.tar.gz", packed(&files)?),
    ];
    let name = format!("becalm_{version}_{}.deb", arch.debian());
    Ok((name, ar(&members, release.time)))
}

/// Returns what is installed.
fn files(
    release: &Release,
    version: &str,
    program: &[u8],
    documents: &Documents,
    notices: &[u8],
) -> Result<Files> {
    let mut files = Files::new();
    files.insert("usr/bin/becalm".to_owned(), File::program(program.to_vec()));
    for (name, page) in &documents.pages {
        files.insert(format!("usr/share/man/man1/{name}.gz"), File::text(gzip(page)?));
    }
    for (name, text) in &documents.completions {
        let path = match *name {
            "becalm.bash" => "usr/share/bash-completion/completions/becalm".to_owned(),
            "becalm.fish" => format!("usr/share/fish/vendor_completions.d/{name}"),
            name => format!("usr/share/zsh/vendor-completions/{name}"),
        };
        files.insert(path, File::text(text.clone()));
    }
    for (name, text) in &documents.texts {
        match *name {
            "CHANGELOG.md" => files.insert(format!("{DOC}/changelog.gz"), File::text(gzip(text)?)),
            "README.md" => files.insert(format!("{DOC}/README.md.gz"), File::text(gzip(text)?)),
            // They are in `copyright`.
            _ => None,
        };
    }
    let changelog =
        read("changelog")?.replace("@VERSION@", version).replace("@DATE@", &release.mail_date);
    files.insert(format!("{DOC}/changelog.Debian.gz"), File::text(gzip(changelog.as_bytes())?));
    files.insert(format!("{DOC}/copyright"), File::text(read("copyright")?));
    files.insert(format!("{DOC}/THIRD-PARTY.txt.gz"), File::text(gzip(notices)?));
    files.insert(
        "usr/share/lintian/overrides/becalm".to_owned(),
        File::text(read("lintian-overrides")?),
    );
    Ok(files)
}

fn read(name: &str) -> Result<String> {
    let path = format!("{FOLDER}/{name}");
    fs::read_to_string(root().join(&path)).with_context(|| format!("cannot read {path}"))
}

/// Fills in what differs between packages; the size is in kibibytes, each file rounded up.
fn control(template: &str, version: &str, arch: Arch, files: &Files) -> String {
    let kibibytes: usize = files.values().map(|file| file.content.len().div_ceil(1024)).sum();
    template
        .replace("@VERSION@", version)
        .replace("@ARCHITECTURE@", arch.debian())
        .replace("@SIZE@", &kibibytes.to_string())
}

/// Returns the sums by which `dpkg --verify` finds damaged files.
fn sums(files: &Files) -> String {
    let line = |(path, file): (&String, &File)| {
        format!("{}  {path}\n", super::release::hex(&Md5::digest(&file.content)))
    };
    files.iter().map(line).collect()
}

/// Returns an archive of these members.
fn ar(members: &[(&str, Vec<u8>)], time: u64) -> Vec<u8> {
    let mut bytes = b"!<arch>\n".to_vec();
    for (name, content) in members {
        let size = content.len();
        bytes.extend(
            format!("{name:<16}{time:<12}{:<6}{:<6}{:<8}{size:<10}`\n", 0, 0, 100_644).bytes(),
        );
        bytes.extend(content);
        if size % 2 == 1 {
            bytes.push(b'\n');
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Files {
        Files::from([
            ("usr/bin/becalm".to_owned(), File::program(vec![0; 1025])),
            ("usr/share/x".to_owned(), File::text("x\n")),
        ])
    }

    #[test]
    fn the_control_file_is_complete_and_needs_no_package() {
        let text = control(&read("control").unwrap(), "1.2.3-1", Arch::Arm, &sample());
        assert!(text.contains("\nVersion: 1.2.3-1\nArchitecture: arm64\n"), "{text}");
        assert!(text.contains("\nInstalled-Size: 3\n"), "{text}");
        for field in [
            "Package: becalm\n",
            "\nMaintainer: ",
            "\nDescription: ",
            "\nSection: ",
            "\nPriority: ",
        ] {
            assert!(text.contains(field), "{field} in {text}");
        }
        assert!(!text.contains("Depends:") && text.ends_with('\n'));
        for placeholder in ["@VERSION@", "@ARCHITECTURE@", "@SIZE@"] {
            assert!(!text.contains(placeholder), "{text}");
        }
    }

    #[test]
    fn sums_are_those_of_md5sum() {
        let x = "401b30e3b8b5d629635a5c613cdb7919  usr/share/x\n";
        assert!(sums(&sample()).ends_with(x), "{}", sums(&sample()));
    }

    #[test]
    fn members_begin_at_even_places() {
        let bytes = ar(&[("a", b"1".to_vec()), ("b", b"22".to_vec())], 5);
        let text = String::from_utf8(bytes).unwrap();
        let expected = "!<arch>\n\
                        a               5           0     0     100644  1         `\n1\n\
                        b               5           0     0     100644  2         `\n22";
        assert_eq!(text, expected);
    }
}
