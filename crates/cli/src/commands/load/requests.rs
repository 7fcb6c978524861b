//! Flags of `becalm load` about requests.

use std::path::PathBuf;
use std::time::Duration;

use becalm_load::{Bodies, Contents};
use becalm_model::load::{Authentication, ExpectedBody, Scenario};
use becalm_model::wire::MixOf;
use becalm_session::{contents_of, read_body, read_mix, read_values};

use super::{asked, duration};
use crate::error::CommandError;

/// Flags about requests.
#[derive(Debug, clap::Args)]
pub(super) struct RequestFlags {
    /// Method of the requests [default: GET, or POST with a body]
    #[arg(long, short = 'X', value_name = "METHOD", help_heading = "Requests")]
    method: Option<String>,

    /// Header of the requests, as 'Name: value'; may be repeated
    #[arg(long, short = 'H', value_name = "HEADER", value_parser = asked::header, help_heading = "Requests")]
    header: Vec<(String, String)>,

    /// Body of the requests
    #[arg(long, short = 'd', value_name = "TEXT", help_heading = "Requests")]
    body: Option<String>,

    /// Body of the requests, from a file; `-` is standard input
    #[arg(long, value_name = "FILE", conflicts_with = "body", help_heading = "Requests")]
    body_file: Option<PathBuf>,

    /// Make unary gRPC calls to the method that the URL names, http://HOST:PORT/package.Service/Method; the serialized
    /// message is in --body-file, and without one is empty. An answer with a gRPC status other than 0 has failed
    #[arg(long, conflicts_with_all = ["method", "body", "follow", "new_connections"], help_heading = "Requests")]
    grpc: bool,

    /// Mix the requests in a file by their weights: JSON with one on each line, or TOML with [[request]]
    #[arg(long, value_name = "FILE", help_heading = "Requests")]
    requests: Option<PathBuf>,

    /// Fill in {NAME} in paths, headers and bodies from the columns of this CSV file, row by row; {counter} counts the
    /// requests, with or without a file
    #[arg(long, value_name = "FILE", help_heading = "Requests")]
    values: Option<PathBuf>,

    /// Basic authentication: a file with NAME:PASSWORD, or env:VARIABLE
    #[arg(long, value_name = "WHERE", help_heading = "Requests")]
    user: Option<String>,

    /// Authentication by a token: a file with it, or env:VARIABLE
    #[arg(long, value_name = "WHERE", conflicts_with = "user", help_heading = "Requests")]
    bearer: Option<String>,

    /// Follow up to N redirects of each request, on the same server [default: 0, a redirect is an answer]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(..=20), help_heading = "Requests")]
    follow: Option<u64>,

    /// Expected statuses; an answer with any other has failed [default: 200 to 399; with --grpc those of gRPC: 0]
    #[arg(long, value_name = "STATUS", value_delimiter = ',', help_heading = "Requests")]
    expect_status: Vec<u16>,

    /// Text that the body of an answer has to contain; an answer without it has failed
    #[arg(long, value_name = "TEXT", help_heading = "Requests")]
    expect_body: Option<String>,

    /// The whole body that an answer has to have; an answer with any other has failed
    #[arg(long, value_name = "TEXT", conflicts_with = "expect_body", help_heading = "Requests")]
    expect_exact_body: Option<String>,

    /// Time after which a request without a complete answer has failed [default: 10s]
    #[arg(long, value_name = "TIME", value_parser = duration, help_heading = "Requests")]
    timeout: Option<Duration>,
}

impl RequestFlags {
    /// Puts what was given into a scenario, and reads what its files have.
    pub(super) fn apply(&self, scenario: &mut Scenario) -> Result<Contents, CommandError> {
        if let Some(method) = &self.method {
            scenario.method.clone_from(method);
        }
        scenario.headers.retain(|(name, _)| {
            !self.header.iter().any(|(given, _)| given.eq_ignore_ascii_case(name))
        });
        scenario.headers.extend(self.header.iter().cloned());
        if let Some(text) = &self.body {
            (scenario.body, scenario.body_file) = (Some(text.clone()), None);
        }
        let mut read = Bodies::new();
        if let Some(file) = &self.body_file {
            let (bytes, kept) = read_body(file).map_err(CommandError::usage)?;
            read.insert(kept.file.clone(), bytes.into());
            (scenario.body, scenario.body_file) = (None, Some(kept));
        }
        if self.grpc {
            (scenario.grpc, scenario.http2) = (true, true);
        }
        if let Some(file) = &self.requests {
            let of = if scenario.grpc { MixOf::Calls } else { MixOf::Requests };
            scenario.requests = read_mix(file, of).map_err(CommandError::usage)?;
        }
        if let Some(file) = &self.values {
            let (_, kept) = read_values(file).map_err(CommandError::usage)?;
            scenario.values = Some(kept);
        }
        let user = self.user.clone().map(Authentication::Basic);
        let given = user.or_else(|| self.bearer.clone().map(Authentication::Bearer));
        scenario.authentication = given.or_else(|| scenario.authentication.take());
        scenario.follow = self.follow.unwrap_or(scenario.follow);
        if !self.expect_status.is_empty() {
            scenario.expected_status.clone_from(&self.expect_status);
        }
        let contains = self.expect_body.clone().map(ExpectedBody::Contains);
        let given = contains.or_else(|| self.expect_exact_body.clone().map(ExpectedBody::Is));
        scenario.expected_body = given.or_else(|| scenario.expected_body.take());
        if let Some(timeout) = self.timeout {
            scenario.time_limit = timeout.as_secs_f64();
        }
        contents_of(scenario, read).map_err(CommandError::usage)
    }
}
