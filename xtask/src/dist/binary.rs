//! The program itself: built, parted from its line tables, and held against what it has to be.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use super::arch::Arch;
use super::release::Release;
use super::start::{Program, start};
use super::toolchain::Toolchain;
use crate::workspace::{Profile, build_becalm, run};

/// Most bytes that the program may have.
const LARGEST: usize = 12 << 20;

/// A program for one processor.
pub(super) struct Binary {
    pub(super) program: Vec<u8>,
    /// Its line tables, for debuggers.
    pub(super) lines: PathBuf,
}

/// Builds it in a folder for builds, with files of its own beside that.
pub(super) fn build(
    toolchain: &Toolchain,
    arch: Arch,
    target: &Path,
    release: &Release,
) -> Result<Binary> {
    let triple = arch.triple();
    println!("building {triple}");
    let folder = target.join("cargo");
    run(&mut toolchain.cargo(arch, &folder, release.time)?)?;
    let built = folder.join(triple).join("dist/becalm");
    let own = target.join(triple);
    fs::create_dir_all(&own)?;
    let (stripped, lines) = (own.join("becalm"), own.join("becalm.debug"));
    toolchain.part(&built, &stripped, &lines)?;
    let program =
        fs::read(&stripped).with_context(|| format!("cannot read {}", stripped.display()))?;
    println!("  {} bytes", program.len());
    check(&program)
        .and_then(|()| {
            let program = Program { arch, file: &stripped, version: &release.version };
            start(&program, &build_becalm(Profile::Dev)?, target)
        })
        .with_context(|| format!("{} is not to be shipped", stripped.display()))?;
    Ok(Binary { program, lines })
}

/// Fails if a program is too large, or asks for a loader of libraries.
fn check(program: &[u8]) -> Result<()> {
    ensure!(program.len() <= LARGEST, "it has {} bytes, more than {LARGEST}", program.len());
    ensure!(!asks_for_loader(program)?, "it is not static");
    Ok(())
}

/// Says whether an ELF file of 64 bits names the program that would load its libraries.
fn asks_for_loader(elf: &[u8]) -> Result<bool> {
    const INTERP: usize = 3;
    ensure!(elf.starts_with(b"\x7fELF\x02\x01"), "it is not an ELF file of 64 bits");
    let number = |at: usize, bytes: usize| -> Result<usize> {
        let field = elf.get(at..at + bytes).context("it ends in its own header")?;
        Ok(field.iter().rev().fold(0, |number, byte| number << 8 | usize::from(*byte)))
    };
    // Where the program headers are, how large each is, and how many.
    let (start, size, count) = (number(32, 8)?, number(54, 2)?, number(56, 2)?);
    for index in 0..count {
        if number(start + index * size, 4)? == INTERP {
            return Ok(true);
        }
    }
    Ok(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A header that says there is one program header, of this kind.
    fn elf(kind: u8) -> Vec<u8> {
        let mut elf = b"\x7fELF\x02\x01".to_vec();
        elf.resize(64, 0);
        (elf[32], elf[54], elf[56]) = (64, 56, 1);
        elf.push(kind);
        elf.resize(64 + 56, 0);
        elf
    }

    #[test]
    fn a_program_that_needs_a_loader_is_not_static() {
        assert!(check(&elf(1)).is_ok());
        assert_eq!(check(&elf(3)).unwrap_err().to_string(), "it is not static");
        assert!(check(b"#!/bin/sh").is_err() && check(&elf(1)[..60]).is_err());
    }

    #[test]
    fn what_runs_the_tests_is_read_as_it_is() {
        let own = fs::read("/proc/self/exe").unwrap();
        assert_eq!(asks_for_loader(&own).unwrap(), cfg!(not(target_feature = "crt-static")));
    }

    #[test]
    fn a_program_that_has_grown_too_large_is_not_shipped() {
        let mut large = elf(1);
        large.resize(LARGEST + 1, 0);
        assert!(check(&large).unwrap_err().to_string().contains("more than"));
    }
}
