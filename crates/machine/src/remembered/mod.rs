//! What becalm remembers about this machine from one command to the next.
//!
//! Each thing is a small JSON file that says which machine it is about. A file of another machine, one
//! of a newer version and one that makes no sense are as good as none.

mod effects;
mod ranking;

use std::env;
use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;

pub use effects::MitigationEffects;
pub use ranking::{NoiseRanking, Rank};

use crate::facts::CpuInfo;
use crate::sysroot::SysRoot;
use crate::tune::journal::{boot_id, make_folder};

/// Root's place. Only root may write there, as the journal of tuning lies there too.
const OF_ROOT: &str = "/var/lib/becalm";

/// What a file is about.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Identity {
    boot_id: String,
    kernel: String,
    cpu_model: String,
}

impl Identity {
    fn read(root: &SysRoot) -> Self {
        Self {
            boot_id: boot_id(root),
            kernel: root.read("/proc/sys/kernel/osrelease").value().unwrap_or_default(),
            cpu_model: CpuInfo::read(root).model().unwrap_or_default(),
        }
    }
}

/// Reads the files called `name` that can be read as what they should be.
fn read<T: DeserializeOwned>(root: &SysRoot, name: &str) -> impl Iterator<Item = T> {
    places(root, name)
        .into_iter()
        .filter_map(|place| serde_json::from_str(&root.read(place).value()?).ok())
}

/// Saves a file called `name` in the first place that takes it, and returns where.
fn save(root: &SysRoot, name: &str, text: &str) -> io::Result<PathBuf> {
    let mut failure = io::Error::other("neither XDG_STATE_HOME nor HOME is set");
    for place in places(root, name) {
        match put(root, &place, text) {
            Ok(()) => return Ok(place),
            Err(error) => failure = named(&error, &place),
        }
    }
    Err(failure)
}

/// Returns where a file may lie, the place to save it to first: where the user says, root's place, the
/// user's usual one. A folder that stands for a machine has nobody's home.
fn places(root: &SysRoot, name: &str) -> Vec<PathBuf> {
    let of_root = Path::new(OF_ROOT).join(name);
    if !root.is_live() {
        return vec![of_root];
    }
    let set = |name: &str| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let below = |folder: PathBuf| folder.join("becalm").join(name);
    let home = set("HOME").map(|home| below(home.join(".local/state")));
    set("XDG_STATE_HOME").map(below).into_iter().chain([of_root]).chain(home).collect()
}

fn put(root: &SysRoot, place: &Path, text: &str) -> io::Result<()> {
    let folder = root.resolve(place.parent().unwrap_or(place));
    if place.starts_with(OF_ROOT) {
        make_folder(&folder)?;
    } else {
        DirBuilder::new().mode(0o700).recursive(true).create(folder)?;
    }
    root.put_file(place, &format!("{text}\n"))
}

fn named(error: &io::Error, place: &Path) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", place.display()))
}
