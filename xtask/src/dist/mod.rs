//! `cargo xtask dist`: a release of becalm that runs anywhere, from one commit always the same bytes.
//!
//! It makes a static program for each processor with its line tables in another file, archives, packages for Debian,
//! manual pages and completions, the list of what is in them, and checksums. docs/INSTALL.md says what each is for.

mod arch;
mod binary;
mod debian;
mod documents;
mod notices;
mod parts;
mod release;
mod sbom;
mod start;
mod tar;
mod toolchain;
mod twice;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use self::arch::Arch;
use self::documents::Documents;
use self::parts::Part;
use self::release::Release;
use self::sbom::Other;
use self::tar::{File, Files};
use self::toolchain::Toolchain;
use crate::workspace::{root, target};

/// Make a release: static programs, archives, Debian packages, an SBOM and checksums, in target/dist/release
///
/// It needs the sources of Rust's standard library (`rustup component add rust-src`, or Debian's rustc-web,
/// rust-web-src and llvm) and Python, with which it installs a C compiler under target/dist.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// For which processors
    #[arg(long, value_enum, value_delimiter = ',', default_values_t = Arch::ALL)]
    arch: Vec<Arch>,

    /// Make it once more in another folder, and fail if any byte differs
    #[arg(long)]
    twice: bool,
}

/// Makes everything.
pub(crate) fn run(args: &Args) -> Result<()> {
    let release = Release::here()?;
    if release.is_changed {
        ensure!(!args.twice, "--twice needs a commit, and the working tree has changes");
        println!("warning: the working tree has changes, so no commit makes these files again");
    }
    let target = target()?.join("dist");
    let toolchain = Toolchain::ready(&target)?;
    let parts = parts::linked(&args.arch)?;
    let others = others(&toolchain, &parts)?;
    let documents = documents::made(&target, &release.date)?;
    let texts: Vec<_> =
        others.iter().map(|(other, file)| (other.clone(), file.as_deref())).collect();
    let notices = notices::text(&parts, &texts)?.into_bytes();
    let mut files = Vec::new();
    for arch in &args.arch {
        let binary = binary::build(&toolchain, *arch, &target, &release)?;
        files.push(archive(&release, *arch, &binary.program, &documents, &notices)?);
        files.push(debian::package(&release, *arch, &binary.program, &documents, &notices)?);
        files.push(line_tables(&release, *arch, &binary.lines)?);
    }
    files.push(bill(&release, &parts, &others)?);
    let sums = release::checksums(&files);
    files.push(("SHA256SUMS".to_owned(), sums.into_bytes()));
    write(&target.join("release"), &files)?;
    if args.twice { twice::again(&args.arch, &target) } else { Ok(()) }
}

/// Returns the archive for one processor: a folder with the program and what goes along with it.
fn archive(
    release: &Release,
    arch: Arch,
    program: &[u8],
    documents: &Documents,
    notices: &[u8],
) -> Result<(String, Vec<u8>)> {
    let mut files = Files::from([
        ("becalm".to_owned(), File::program(program.to_vec())),
        ("THIRD-PARTY.txt".to_owned(), File::text(notices)),
    ]);
    for (name, page) in &documents.pages {
        files.insert(format!("man/man1/{name}"), File::text(page.clone()));
    }
    for (name, text) in &documents.completions {
        files.insert(format!("completions/{name}"), File::text(text.clone()));
    }
    for (name, text) in &documents.texts {
        files.insert((*name).to_owned(), File::text(text.clone()));
    }
    let name = name(release, arch);
    let bytes = tar::gzip(&tar::archive(&files, &format!("{name}/"), release.time)?)?;
    Ok((format!("{name}.tar.gz"), bytes))
}

/// Returns the archive with what a debugger needs for one processor.
fn line_tables(release: &Release, arch: Arch, lines: &Path) -> Result<(String, Vec<u8>)> {
    let name = name(release, arch);
    let content = fs::read(lines).with_context(|| format!("cannot read {}", lines.display()))?;
    let files = Files::from([("becalm.debug".to_owned(), File::text(content))]);
    let bytes = tar::gzip(&tar::archive(&files, &format!("{name}/"), release.time)?)?;
    Ok((format!("{name}-debug.tar.gz"), bytes))
}

/// Returns the list of what is in the program.
fn bill(
    release: &Release,
    parts: &[Part],
    others: &[(Other, Option<PathBuf>)],
) -> Result<(String, Vec<u8>)> {
    let lock = fs::read_to_string(root().join("Cargo.lock")).context("cannot read Cargo.lock")?;
    let others: Vec<Other> = others.iter().map(|(other, _)| other.clone()).collect();
    let document = sbom::document(release, parts, &parts::checksums(&lock), &others);
    let text = serde_json::to_string_pretty(&document)? + "\n";
    Ok((format!("becalm-{}.cdx.json", release.version), text.into_bytes()))
}

/// Returns what is linked in besides crates, each with the file that has its licence.
fn others(toolchain: &Toolchain, parts: &[Part]) -> Result<Vec<(Other, Option<PathBuf>)>> {
    let c = toolchain.c_sources();
    let musl = defined(&c.join("libc/musl/src/internal/version.h"), "VERSION")?;
    let sqlite = parts.iter().find(|part| part.name == "libsqlite3-sys");
    let sqlite = sqlite.context("SQLite is not among the crates")?;
    let sqlite = defined(&sqlite.folder.join("sqlite3/sqlite3.h"), "SQLITE_VERSION")?;
    let other = |name, version, licence| Other { name, version, licence };
    Ok(vec![
        // Its licences are becalm's own.
        (other("rust-std", toolchain.rustc_version()?, "MIT OR Apache-2.0"), None),
        (other("musl", musl, "MIT"), Some(c.join("libc/musl/COPYRIGHT"))),
        (
            other("libunwind", format!("zig-{}", toolchain::ZIG), "Apache-2.0 WITH LLVM-exception"),
            Some(c.join("libunwind/LICENSE.TXT")),
        ),
        // In the public domain.
        (other("sqlite", sqlite, "blessing"), None),
    ])
}

/// Returns the text that a header of C defines a name as.
fn defined(header: &Path, name: &str) -> Result<String> {
    let text =
        fs::read_to_string(header).with_context(|| format!("cannot read {}", header.display()))?;
    let value = text.lines().find_map(|line| {
        let mut words = line.strip_prefix("#define ")?.split_whitespace();
        (words.next() == Some(name)).then(|| words.next().map(|word| word.trim_matches('"')))?
    });
    Ok(value.with_context(|| format!("{} defines no {name}", header.display()))?.to_owned())
}

fn name(release: &Release, arch: Arch) -> String {
    format!("becalm-{}-{}", release.version, arch.triple())
}

fn write(folder: &Path, files: &[(String, Vec<u8>)]) -> Result<()> {
    // Nothing of an earlier release is published with this one.
    let _ = fs::remove_dir_all(folder);
    fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    for (name, bytes) in files {
        fs::write(folder.join(name), bytes).with_context(|| format!("cannot write {name}"))?;
        println!("{:>10}  {}", bytes.len(), folder.join(name).display());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::metadata;

    /// Fills in a template of cargo-binstall.
    fn filled(template: &str, release: &Release, arch: Arch) -> String {
        template
            .replace("{ repo }", "REPOSITORY")
            .replace("{ version }", &release.version)
            .replace("{ target }", arch.triple())
            .replace("{ bin }", "becalm")
    }

    #[test]
    fn cargo_binstall_and_the_page_name_what_is_made() {
        let metadata = metadata().unwrap();
        let packages = metadata["packages"].as_array().unwrap();
        let becalm = packages.iter().find(|package| package["name"] == "becalm").unwrap();
        let layout = &becalm["metadata"]["binstall"];
        assert_eq!(layout["pkg-fmt"], "tgz");
        let documents = Documents { pages: vec![], completions: vec![], texts: vec![] };
        let release = Release {
            version: "1.2.3".to_owned(),
            time: 0,
            date: String::new(),
            mail_date: String::new(),
            is_changed: false,
        };
        let page = fs::read_to_string(root().join("docs/INSTALL.md")).unwrap();
        for arch in Arch::ALL {
            let (name, bytes) = archive(&release, arch, b"program", &documents, b"").unwrap();
            let address = filled(layout["pkg-url"].as_str().unwrap(), &release, arch);
            assert_eq!(address, format!("REPOSITORY/releases/download/v1.2.3/{name}"));
            let program = filled(layout["bin-dir"].as_str().unwrap(), &release, arch);
            let folder = tempfile::tempdir().unwrap();
            fs::write(folder.path().join(&name), bytes).unwrap();
            let mut tar = std::process::Command::new("tar");
            tar.current_dir(&folder).args(["-xzf", &name]);
            crate::workspace::run(&mut tar).unwrap();
            assert_eq!(fs::read(folder.path().join(program)).unwrap(), b"program");
            let (package, _) = debian::package(&release, arch, b"", &documents, b"").unwrap();
            for (made, named) in
                [(&name, "becalm-VERSION-TARGET.tar.gz"), (&package, "becalm_VERSION-1_ARCH.deb")]
            {
                let named = named.replace("ARCH", arch.debian());
                let general = made.replace("1.2.3", "VERSION").replace(arch.triple(), "TARGET");
                assert_eq!(general, named);
            }
            for word in
                [arch.triple(), arch.debian(), "`becalm-VERSION-TARGET.tar.gz`", "`vVERSION`"]
            {
                assert!(page.contains(word), "docs/INSTALL.md does not have {word}");
            }
        }
    }

    #[test]
    fn a_version_is_read_from_a_header() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("x.h");
        fs::write(&file, "#define VERSION_NUMBER 3\n#define VERSION        \"3.50.2\"\n").unwrap();
        assert_eq!(defined(&file, "VERSION").unwrap(), "3.50.2");
        assert!(defined(&file, "OTHER").is_err());
    }
}
