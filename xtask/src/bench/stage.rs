//! The folder in which becalm and its peers are put for a benchmark, and whom they run as.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};

use crate::install;
use crate::workspace::{Profile, build_becalm};

/// The user and group `nobody` of Debian.
const NOBODY: u32 = 65534;

/// Whom a tool runs as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Who {
    /// Root.
    Root,
    /// A user without privileges: `nobody` when we are root, else ourselves.
    User,
}

impl Who {
    /// Returns everybody whom this process can become.
    pub(super) fn all() -> &'static [Self] {
        if install::is_root() { &[Self::Root, Self::User] } else { &[Self::User] }
    }

    /// Returns the name in tables.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Root => "root",
            Self::User => "user",
        }
    }
}

/// Programs in a folder that everybody can read; removed when dropped.
pub(super) struct Stage {
    folder: tempfile::TempDir,
}

impl Stage {
    /// Builds becalm optimised, finds hyperfine and copies both, and the becalm `against` which it is held.
    pub(super) fn new(against: Option<&Path>) -> Result<Self> {
        let becalm = build_becalm(Profile::Release)?;
        let hyperfine = install::hyperfine()?;
        let folder = tempfile::Builder::new()
            .prefix("becalm-bench-")
            .permissions(Permissions::from_mode(0o755))
            .tempdir()?;
        let stage = Self { folder };
        let other = against.map(|other| (other, "tool/other"));
        let ours: [(&Path, &str); 3] =
            [(&becalm, "tool/becalm"), (&hyperfine, "tool/hyperfine"), (&becalm, "program/becalm")];
        for (program, place) in ours.into_iter().chain(other) {
            let place = stage.path(place);
            fs::create_dir_all(place.parent().expect("a file in a folder"))?;
            fs::copy(program, &place)
                .with_context(|| format!("cannot copy {}", program.display()))?;
        }
        let home = stage.path("home");
        fs::create_dir(&home)?;
        if install::is_root() {
            chown(&home, Some(NOBODY), Some(NOBODY))?;
            ensure!(install::find("setpriv").is_some(), "setpriv (util-linux) is not in the path");
        }
        Ok(stage)
    }

    /// Returns a path in the folder.
    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Returns a command of becalm.
    pub(super) fn becalm(&self, who: Who) -> Command {
        self.command(who, &self.path("tool/becalm"))
    }

    /// Says whether becalm is held against another.
    pub(super) fn has_other_becalm(&self) -> bool {
        self.path("tool/other").exists()
    }

    /// Returns a command of the becalm that it is held against.
    pub(super) fn other_becalm(&self, who: Who) -> Command {
        self.command(who, &self.path("tool/other"))
    }

    /// Returns a command of hyperfine.
    pub(super) fn hyperfine(&self, who: Who) -> Command {
        self.command(who, &self.path("tool/hyperfine"))
    }

    /// Returns a command that runs as `who`, in the home folder, without input.
    pub(super) fn command(&self, who: Who, program: &Path) -> Command {
        let home = self.path("home");
        let mut command = if who == Who::User && install::is_root() {
            let mut command = Command::new("setpriv");
            let (user, group) = (format!("--reuid={NOBODY}"), format!("--regid={NOBODY}"));
            command.args([&user, &group, "--clear-groups"]).arg(program);
            command.env("HOME", &home).env("XDG_STATE_HOME", &home);
            command
        } else {
            Command::new(program)
        };
        command.current_dir(home).stdin(Stdio::null());
        command
    }
}
