//! Processes that disturb a CPU on purpose.

use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result};

/// How a CPU is disturbed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Some milliseconds of work every ten, at a higher priority than any tool.
    Realtime,
    /// Work without end, at the priority of everybody.
    Hog,
    /// Work for 0.2 s, again after a second or so, which differs from CPU to CPU.
    Spells,
}

/// Something that takes a CPU until it is dropped.
pub(super) struct Disturber {
    child: Child,
}

impl Disturber {
    pub(super) fn start(kind: Kind, cpu: u32) -> Result<Self> {
        let script = match kind {
            Kind::Realtime => {
                "while :; do n=0; while [ $n -lt 5000 ]; do n=$((n + 1)); done; sleep 0.01; done"
                    .to_owned()
            }
            Kind::Hog => "while :; do :; done".to_owned(),
            Kind::Spells => format!(
                "while :; do timeout 0.2 sh -c 'while :; do :; done'; sleep 1.{:02}; done",
                (cpu * 13) % 100
            ),
        };
        let class: &[&str] = match kind {
            Kind::Realtime => &["--fifo", "10"],
            Kind::Hog | Kind::Spells => &["--other", "0"],
        };
        let child = Command::new("chrt")
            .args(class)
            .args(["taskset", "--cpu-list", &cpu.to_string(), "sh", "-c", &script])
            .stdout(Stdio::null())
            .spawn()
            .context("cannot start chrt (package util-linux)")?;
        Ok(Self { child })
    }
}

impl Drop for Disturber {
    fn drop(&mut self) {
        // What it runs at this moment ends by itself within 0.2 s.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
