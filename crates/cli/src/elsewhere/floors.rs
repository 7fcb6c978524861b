//! The latest noise floor of each host, kept in the user's state folder.

use std::collections::BTreeMap;
use std::path::PathBuf;

use becalm_model::Record;
use becalm_model::wire::HostFloor;
use becalm_session::{files, last_session};

/// Returns the noise floors, by the names of the hosts.
pub(crate) fn floors() -> BTreeMap<String, HostFloor> {
    let text = file().and_then(|path| std::fs::read_to_string(path).ok());
    // What was damaged is measured again some day.
    text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default()
}

/// Keeps the noise floor of a comparison that was made on a host. If it cannot be kept, only `becalm hosts` lacks it.
pub(super) fn keep(host: &str, record: &Record) {
    let deciding = record.comparisons.iter().filter(|one| one.primary);
    let floor = deciding.filter_map(|one| one.noise_floor).filter(|one| one.is_finite());
    let (Some(change), Some(path)) = (floor.reduce(f64::max), file()) else { return };
    let mut all = floors();
    all.insert(host.to_owned(), HostFloor { change, at: record.started_at });
    if path.parent().is_some_and(|folder| files::make_folder(folder).is_ok()) {
        let text = serde_json::to_string(&all).expect("numbers and names can be written");
        let _ = files::write_atomically(&path, &text);
    }
}

fn file() -> Option<PathBuf> {
    last_session().map(|path| path.with_file_name("hosts.json"))
}
