//! Opens the events of a trace, of which there are hundreds where there are many CPUs: more than a process
//! may have files open by default.

use std::os::fd::OwnedFd;

use becalm_kernel::descriptor;
use becalm_kernel::limit::{Count, FileLimit};
use becalm_kernel::perf::event;
use becalm_kernel::perf::ring::Ring;
use becalm_machine::SysRoot;
use becalm_model::CpuSet;

use super::catalogue::{Catalogue, Meanings};
use super::error::TraceError;

/// Bytes of the buffer of one CPU; less where there are many.
const BUFFER: usize = 4 << 20;
const SMALL_BUFFER: usize = 512 << 10;
const MANY_CPUS: usize = 16;

/// Every event on every CPU.
pub(super) struct Opened {
    pub(super) events: Vec<OwnedFd>,
    /// The buffers, each with its CPU.
    pub(super) rings: Vec<(u32, Ring)>,
    pub(super) meanings: Meanings,
}

/// Opens every event on these CPUs, none of them counting yet.
pub(super) fn open_all(
    root: &SysRoot,
    catalogue: &Catalogue,
    cpus: &CpuSet,
) -> Result<Opened, TraceError> {
    let n_files = (catalogue.sources.len() + 1) * cpus.len();
    let room = Room::make(n_files as Count);
    let opened = open_on(root, catalogue, cpus, room.as_ref());
    if let Some(room) = room {
        let _ = room.limit.set();
    }
    opened
}

/// Descriptors that becalm itself needs beside those of the trace.
const OTHER_FILES: Count = 256;

/// Numbers above the limit of open files, for the events of many CPUs.
struct Room {
    /// The limit as it was, which the subjects must not see changed.
    limit: FileLimit,
}

impl Room {
    /// Raises the limit where it is too low for this many files. What is opened then has to go
    /// above the old limit: below it becalm could open nothing more once that is back.
    fn make(n_files: Count) -> Option<Self> {
        let limit = FileLimit::read().ok()?;
        if limit.files() >= n_files + OTHER_FILES {
            return None;
        }
        // If that fails, opening fails and says so.
        limit.raised_by(n_files + OTHER_FILES).set().ok().map(|()| Self { limit })
    }

    /// Moves a file up; leaves it where it is if the highest limit that there is has no room for it.
    fn take(&self, file: OwnedFd) -> OwnedFd {
        descriptor::moved_above(&file, self.limit.files()).unwrap_or(file)
    }
}

fn open_on(
    root: &SysRoot,
    catalogue: &Catalogue,
    cpus: &CpuSet,
    room: Option<&Room>,
) -> Result<Opened, TraceError> {
    let size = if cpus.len() > MANY_CPUS { SMALL_BUFFER } else { BUFFER };
    let mut opened =
        Opened { events: Vec::new(), rings: Vec::new(), meanings: Meanings::default() };
    for cpu in cpus.iter().map(|cpu| cpu.0) {
        let failed = |name: &str, source| refused(root, name, cpu, source);
        let placed = |file| match room {
            Some(room) => room.take(file),
            None => file,
        };
        let tasks = event::open_tasks(cpu)
            .map(placed)
            .map_err(|error| failed("the creation of tasks", error))?;
        let ring = Ring::map(&tasks, size).map_err(|source| TraceError::Buffer {
            kib: size >> 10,
            cpu,
            source,
        })?;
        for source in &catalogue.sources {
            let file = event::open(source.kind, source.config, cpu)
                .map(placed)
                .and_then(|file| event::redirect(&file, &tasks).map(|()| file))
                .map_err(|error| failed(&source.name, error))?;
            let id = event::id(&file).map_err(|error| failed(&source.name, error))?;
            opened.meanings.add(id, source.meaning);
            opened.events.push(file);
        }
        opened.events.push(tasks);
        opened.rings.push((cpu, ring));
    }
    Ok(opened)
}

fn refused(root: &SysRoot, name: &str, cpu: u32, source: std::io::Error) -> TraceError {
    let name = name.to_owned();
    if source.kind() == std::io::ErrorKind::PermissionDenied {
        let paranoid = root.read("/proc/sys/kernel/perf_event_paranoid");
        let paranoid = paranoid.value().unwrap_or_else(|| "unknown".to_owned());
        TraceError::Refused { name, cpu, paranoid, source }
    } else {
        TraceError::Open { name, cpu, source }
    }
}
