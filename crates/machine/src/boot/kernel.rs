//! What the kernel was built with.

use std::io::Read as _;

use flate2::read::GzDecoder;

use crate::sysroot::SysRoot;

/// No list of options is longer; what is, is no list of options.
const LONGEST: u64 = 4 << 20;

/// Whether an option is built in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Built {
    /// It is.
    Yes,
    /// It is not.
    No,
    /// No list of options can be read.
    Unknown,
}

/// The options that reserving CPUs depends on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KernelOptions {
    /// Release of the kernel, where it says so.
    pub release: Option<String>,
    /// The list that was read.
    pub source: Option<String>,
    /// `CONFIG_NO_HZ_FULL`.
    pub nohz_full: Built,
    /// `CONFIG_RCU_NOCB_CPU`.
    pub rcu_nocb: Built,
    /// `CONFIG_CPU_ISOLATION`.
    pub isolation: Built,
}

impl KernelOptions {
    /// Reads the list of the kernel itself, else those that distributions put beside it.
    pub fn read(root: &SysRoot) -> Self {
        let release = root.read("/proc/sys/kernel/osrelease").value();
        let beside = release.iter().flat_map(|release| {
            [format!("/boot/config-{release}"), format!("/lib/modules/{release}/config")]
        });
        let found = packed(root).map(|text| ("/proc/config.gz".to_owned(), text)).or_else(|| {
            beside.into_iter().find_map(|path| Some((path.clone(), root.read(path).value()?)))
        });
        let text = found.as_ref().map(|(_, text)| text.as_str());
        let built = |option: &str| text.map_or(Built::Unknown, |text| built(text, option));
        Self {
            nohz_full: built("CONFIG_NO_HZ_FULL"),
            rcu_nocb: built("CONFIG_RCU_NOCB_CPU"),
            isolation: built("CONFIG_CPU_ISOLATION"),
            source: found.map(|(path, _)| path),
            release,
        }
    }
}

fn packed(root: &SysRoot) -> Option<String> {
    let limit = usize::try_from(LONGEST).unwrap_or(usize::MAX);
    let bytes = root.read_start("/proc/config.gz", limit).value()?;
    let mut text = String::new();
    GzDecoder::new(bytes.as_slice()).take(LONGEST).read_to_string(&mut text).ok()?;
    Some(text)
}

fn built(text: &str, option: &str) -> Built {
    let value = text.lines().find_map(|line| line.strip_prefix(option)?.strip_prefix('='));
    if value.is_some_and(|value| value.trim() == "y") { Built::Yes } else { Built::No }
}
