//! Where a tracer of the kernel is, and whether somebody uses one.

use becalm_machine::tune::task;
use becalm_machine::{Reading, SysRoot};

use super::ProbeError;

/// Name of the tracing instance, and of the changes in the journal.
pub const INSTANCE: &str = "becalm-noise-probe";

/// Where tracefs is mounted; the second place is that of old systems.
const FOLDERS: [&str; 2] = ["/sys/kernel/tracing", "/sys/kernel/debug/tracing"];

/// Finds the folder of tracefs in which there is a tracer, built in by `option`, that nobody uses; or says why there is
/// none. The terms of tracers are shared, so whoever traces would be disturbed.
pub(super) fn find(root: &SysRoot, tracer: &str, option: &str) -> Result<&'static str, String> {
    let place = FOLDERS.into_iter().find_map(|folder| {
        Some((folder, root.read(format!("{folder}/available_tracers")).value()?))
    });
    let Some((folder, tracers)) = place else {
        let file = format!("{}/available_tracers", FOLDERS[0]);
        return Err(match root.read(&file) {
            Reading::Absent => format!("tracefs is not mounted at {}", FOLDERS[0]),
            other => format!("{file} {}", other.why_not().unwrap_or_default()),
        });
    };
    if !tracers.split_whitespace().any(|one| one == tracer) {
        return Err(format!("this kernel has no {tracer} tracer ({option})"));
    }
    let instances = root.list_dir(format!("{folder}/instances")).value().unwrap_or_default();
    let instances = instances.into_iter().map(|name| format!("{folder}/instances/{name}"));
    let busy = std::iter::once(folder.to_owned()).chain(instances).find_map(|folder| {
        let file = format!("{folder}/current_tracer");
        let tracer = root.read(&file).value()?;
        (tracer != "nop").then(|| format!("another program uses the tracer `{tracer}` ({file})"))
    });
    busy.map_or(Ok(folder), Err)
}

/// Writes to a file of a tracer.
pub(super) fn set(root: &SysRoot, path: &str, value: &str) -> Result<(), ProbeError> {
    root.write(path, value).map_err(|source| ProbeError::TracerWrite {
        path: path.to_owned(),
        value: value.trim().to_owned(),
        source,
    })
}

/// Finds a thread of the kernel by its name. Every program can call itself so.
pub(super) fn thread(root: &SysRoot, name: &str) -> Option<u32> {
    let pids = root.list_dir("/proc").value()?;
    pids.into_iter().filter_map(|pid| pid.parse::<u32>().ok()).find(|pid| {
        root.read(format!("/proc/{pid}/comm")).value().as_deref() == Some(name)
            && task::is_of_kernel(root, *pid)
    })
}
