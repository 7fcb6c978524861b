//! Flags for subjects that are servers.

use becalm_model::load::ServerTerms;
use becalm_model::terms::Terms;
use becalm_session::ServerTermsError;
use becalm_session::suite::load_of_this_folder;

use crate::error::CommandError;

/// Flags for subjects that are servers.
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct ServerFlags {
    /// The subjects are servers, or URLs of running servers: send this load to each, and compare their response times.
    /// A rate (2000 requests per second); several settings of docs/LOAD.md (rate=2000,duration=5s); or the name of a
    /// [load.NAME] in becalm.toml
    #[arg(long, value_name = "LOAD", help_heading = "Servers")]
    pub(crate) load: Option<String>,

    /// Where the requests go. `{port}` here and in the commands is replaced by a free port
    #[arg(long, value_name = "URL", help_heading = "Servers")]
    url: Option<String>,

    /// What shows that a server is ready: another URL that answers, a port that accepts connections, or a part of a
    /// line that it prints [default: the URL answers]
    #[arg(long, value_name = "WHAT", help_heading = "Servers")]
    ready: Option<String>,

    /// Start each server once, and load them in turns; by default each run starts its own server
    #[arg(long, help_heading = "Servers")]
    keep_servers: bool,
}

impl ServerFlags {
    /// Puts what was given into the terms.
    pub(super) fn apply(&self, terms: &mut Terms) -> Result<(), CommandError> {
        if let Some(text) = &self.load {
            let load = load_of_this_folder(text)?;
            // A new session needs no warm-up round: each server has requests before those that count.
            if terms.runs.load.is_none() {
                terms.warmup = 0;
            }
            terms.runs.load = Some(Box::new(ServerTerms {
                text: text.clone(),
                scenario: load.scenario,
                url: load.url,
                ready: load.ready,
                keep: false,
            }));
        }
        let given = [
            (self.url.is_some(), "--url"),
            (self.ready.is_some(), "--ready"),
            (self.keep_servers, "--keep-servers"),
        ];
        let Some(load) = &mut terms.runs.load else {
            return match given.into_iter().find(|(is_given, _)| *is_given) {
                Some((_, flag)) => Err(ServerTermsError::OnlyForServers(flag).into()),
                None => Ok(()),
            };
        };
        load.url = self.url.clone().or(load.url.take());
        load.ready = self.ready.clone().or(load.ready.take());
        load.keep |= self.keep_servers;
        Ok(())
    }
}
