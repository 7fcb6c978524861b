//! Profiles from TOML files.

use std::path::Path;

use becalm_machine::knobs::{Profile, Request, Smt};
use serde::Deserialize;

use super::flags::frequency;
use crate::error::CommandError;

/// What a profile file may say. Words are those of the flags.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
struct ProfileFile {
    profile: Option<Named>,
    only: Vec<String>,
    skip: Vec<String>,
    also: Vec<String>,
    frequency: Option<String>,
    smt: Option<Threads>,
    stop: Vec<String>,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Named {
    Safe,
    Strict,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Threads {
    Idle,
    Off,
}

/// Reads a profile file.
pub(super) fn read(path: &Path) -> Result<Request, CommandError> {
    let shown = path.display();
    let text = std::fs::read_to_string(path).map_err(|error| {
        CommandError::usage(format!("cannot read the profile {shown}: {error}"))
    })?;
    parse(&text).map_err(|error| {
        CommandError::usage(format!("the profile {shown} makes no sense: {}", error.trim_end()))
            .hint("it may set profile, only, skip, also, frequency, smt and stop")
    })
}

fn parse(text: &str) -> Result<Request, String> {
    let file: ProfileFile = toml::from_str(text).map_err(|error| error.to_string())?;
    Ok(Request {
        profile: match file.profile {
            Some(Named::Strict) => Profile::Strict,
            Some(Named::Safe) | None => Profile::Safe,
        },
        only: file.only,
        skip: file.skip,
        also: file.also,
        frequency: file.frequency.as_deref().map(frequency).transpose()?.unwrap_or_default(),
        smt: match file.smt {
            Some(Threads::Off) => Smt::Off,
            Some(Threads::Idle) | None => Smt::Idle,
        },
        units: file.stop,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use becalm_machine::knobs::Frequency;

    #[test]
    fn a_profile_says_what_flags_could_say() {
        let request =
            parse("profile = \"strict\"\nskip = [\"smt\"]\nfrequency = \"base\"\n").unwrap();
        assert_eq!((request.profile, request.frequency), (Profile::Strict, Frequency::Base));
        assert_eq!(request.skip, ["smt"]);
        assert_eq!(parse("").unwrap(), Request::default());
    }

    #[test]
    fn what_is_not_known_is_refused() {
        assert!(parse("sikp = []").unwrap_err().contains("unknown field `sikp`"));
        assert!(parse("frequency = \"fast\"").unwrap_err().contains("expected base"));
        assert!(parse("profile = 3").is_err());
    }
}
