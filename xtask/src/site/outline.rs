//! What is a page of the site, and in which group of the navigation it stands.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};

use super::paths::ends;

/// A group of the navigation.
pub(super) struct Group {
    pub(super) name: &'static str,
    pub(super) files: &'static [&'static str],
}

/// All pages, in the order in which they are read.
pub(super) const GROUPS: [Group; 5] = [
    Group {
        name: "Start",
        files: &[
            "README.md",
            "docs/INSTALL.md",
            "docs/START.md",
            "docs/EXAMPLES.md",
            "docs/COMING-FROM.md",
        ],
    },
    Group {
        name: "Guides",
        files: &[
            "docs/RESULTS.md",
            "docs/SUITES.md",
            "docs/HARNESSES.md",
            "docs/HISTORY.md",
            "docs/DASHBOARD.md",
            "docs/CI.md",
            "docs/LOAD.md",
            "docs/NOISE.md",
            "docs/MACHINE.md",
            "docs/ELSEWHERE.md",
        ],
    },
    Group {
        name: "Reference",
        files: &["docs/COMMANDS.md", "docs/FORMATS.md", "docs/SECURITY.md", "docs/LIMITS.md"],
    },
    Group {
        name: "How it works",
        files: &[
            "docs/METHODOLOGY.md",
            "docs/methodology/estimates.md",
            "docs/methodology/stopping.md",
            "docs/methodology/metrics.md",
            "docs/methodology/conditions.md",
            "docs/methodology/noise.md",
            "docs/methodology/iterations.md",
            "docs/methodology/harnesses.md",
            "docs/methodology/change-points.md",
            "docs/methodology/bisection.md",
            "docs/methodology/gates.md",
            "docs/methodology/servers.md",
            "docs/methodology/fleets.md",
            "docs/methodology/calibration.md",
            "docs/methodology/real-data.md",
            "docs/methodology/references.md",
        ],
    },
    Group { name: "Development", files: &["ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"] },
];

/// Folders whose Markdown files have to be pages.
const FOLDERS: [&str; 3] = ["", "docs", "docs/methodology"];

/// Fails with the name of the first Markdown file that stands in no group.
pub(super) fn check(top: &Path) -> Result<()> {
    for folder in FOLDERS {
        let Ok(entries) = fs::read_dir(top.join(folder)) else { continue };
        for entry in entries {
            let name = entry.context("cannot list the documentation")?.file_name();
            let name = name.to_string_lossy();
            let path =
                if folder.is_empty() { name.into_owned() } else { format!("{folder}/{name}") };
            let is_listed = GROUPS.iter().any(|group| group.files.contains(&path.as_str()));
            ensure!(
                !ends(&path, "md") || is_listed,
                "{path} stands in no group of xtask/src/site/outline.rs"
            );
        }
    }
    Ok(())
}
