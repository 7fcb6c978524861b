//! Flags about where runs are made.

use std::path::PathBuf;

use becalm_model::terms::Elsewhere;

/// Flags about where runs are made.
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct ElsewhereFlags {
    /// Measure on another machine: a host of `becalm hosts`, or what `ssh` understands. becalm copies itself and the programs
    /// there, and brings the results back
    #[arg(long, value_name = "HOST", help_heading = "Conditions")]
    pub(crate) on: Option<String>,

    /// With --on: send this file or folder too. Programs, and files that a command names, are sent anyway if their path is
    /// relative
    #[arg(long, value_name = "PATH", requires = "on", help_heading = "Conditions")]
    pub(crate) send: Vec<PathBuf>,
}

impl ElsewhereFlags {
    /// Puts what was given into the terms of a session.
    pub(crate) fn apply(&self, elsewhere: &mut Option<Elsewhere>) {
        if let Some(host) = &self.on {
            *elsewhere = Some(Elsewhere { host: host.clone(), send: self.send.clone() });
        }
    }
}
