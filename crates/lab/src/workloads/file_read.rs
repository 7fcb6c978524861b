//! A file read from the page cache, or from the disk.
//!
//! *Cold* means cold for this kernel: its pages of the file are dropped (`POSIX_FADV_DONTNEED`) before each
//! reading, without being timed. The disk has a cache of its own, and under a virtual machine the host has
//! another.

use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use becalm_kernel::file::{forget, is_in_memory};

use super::{Prepared, Random, WorkloadError};

/// Whether the kernel has the file in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cache {
    Warm,
    Cold,
}

/// Bytes per unit of amount.
const UNIT: usize = 1 << 20;

/// Bytes that one call reads.
const PIECE: usize = 64 << 10;

/// Largest file: more would fill a disk rather than measure one.
const LARGEST: u64 = 4096;

/// Prepares to read a file of `amount` MiB from start to end. Its name is removed before it is filled, so
/// that nothing is left of it however this process ends.
pub(super) fn prepare(amount: u64, cache: Cache) -> Result<Prepared, WorkloadError> {
    if amount > LARGEST {
        return Err(WorkloadError::TooLarge { amount, largest: LARGEST });
    }
    let folder = folder();
    let unusable = |source| WorkloadError::File { folder: folder.clone(), source };
    let file = unnamed(&folder).map_err(unusable)?;
    fill(&file, amount).map_err(unusable)?;
    let file = Rc::new(file);
    let mut piece = vec![0; PIECE];
    let same = Rc::clone(&file);
    let reading = Prepared::new(move || read(&same, &mut piece));
    match cache {
        Cache::Warm => Ok(reading),
        Cache::Cold if is_in_memory(&file).map_err(unusable)? => {
            Err(WorkloadError::AlwaysWarm { folder })
        }
        Cache::Cold => Ok(reading.after(move || forget(&file))),
    }
}

/// Returns where temporary files lie, on a disk rather than in memory if nobody chose.
fn folder() -> PathBuf {
    const ON_DISK: &str = "/var/tmp";
    match std::env::var_os("TMPDIR") {
        Some(folder) if !folder.is_empty() => folder.into(),
        _ if Path::new(ON_DISK).is_dir() => ON_DISK.into(),
        _ => std::env::temp_dir(),
    }
}

/// Makes a file without a name. Not every file system has `O_TMPFILE`, so it has one for a moment.
fn unnamed(folder: &Path) -> io::Result<File> {
    let name = format!("becalm-workload-{}-{:?}", std::process::id(), std::thread::current().id());
    let path = folder.join(name);
    let file =
        OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).open(&path)?;
    std::fs::remove_file(&path)?;
    Ok(file)
}

/// Writes the content to the disk: only clean pages can be dropped.
fn fill(mut file: &File, amount: u64) -> io::Result<()> {
    let mut random = Random::new(0xF11E_C0DE_0BAD_CAFE);
    let content: Vec<u8> = (0..UNIT / 8).flat_map(|_| random.next().to_le_bytes()).collect();
    for _ in 0..amount {
        file.write_all(&content)?;
    }
    file.sync_all()
}

#[inline(never)]
fn read(file: &File, piece: &mut [u8]) -> io::Result<u64> {
    let (mut offset, mut total) = (0_u64, 0_u64);
    loop {
        let length = file.read_at(piece, offset)?;
        if length == 0 {
            return Ok(total ^ offset);
        }
        offset += length as u64;
        // One byte of each line is enough to have had it.
        let sum =
            piece[..length].iter().step_by(64).fold(0_u64, |sum, &byte| sum + u64::from(byte));
        total = total.wrapping_add(sum);
    }
}
