//! The flags that say what to tune.

use std::path::PathBuf;

use becalm_machine::knobs::{Frequency, Profile, Request, Smt};
use becalm_machine::tune::Wait;
use becalm_model::{parse_duration, parse_share};

use super::profile;
use crate::error::CommandError;

/// Which profile, by name or by file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ProfileFlag {
    /// A built-in one.
    Named(Profile),
    /// A TOML file.
    File(PathBuf),
}

impl ProfileFlag {
    /// Returns what the profile asks for.
    pub(crate) fn request(&self) -> Result<Request, CommandError> {
        match self {
            Self::Named(profile) => Ok(Request { profile: *profile, ..Request::default() }),
            Self::File(path) => profile::read(path),
        }
    }
}

/// Reads a profile: `safe`, `strict` or a file.
pub(crate) fn parse_profile(text: &str) -> Result<ProfileFlag, String> {
    match text {
        "safe" => Ok(ProfileFlag::Named(Profile::Safe)),
        "strict" => Ok(ProfileFlag::Named(Profile::Strict)),
        file if file.contains('/') || file.strip_suffix(".toml").is_some() => {
            Ok(ProfileFlag::File(file.into()))
        }
        _ => Err("expected safe, strict or a TOML file (a path with / or .toml)".to_owned()),
    }
}

/// What to tune.
#[derive(Debug, clap::Args)]
pub(crate) struct RequestFlags {
    /// How far to go: `safe` (nobody else will miss it), `strict` or a TOML file
    #[arg(long, value_parser = parse_profile, default_value = "safe", value_name = "PROFILE")]
    pub(crate) profile: ProfileFlag,

    /// Only these knobs (comma-separated; `--plan` names them)
    #[arg(long, value_delimiter = ',', value_name = "KNOB")]
    pub(crate) only: Vec<String>,

    /// None of these knobs
    #[arg(long, value_delimiter = ',', value_name = "KNOB")]
    pub(crate) skip: Vec<String>,

    /// These knobs too, whatever their profile
    #[arg(long, value_delimiter = ',', value_name = "KNOB")]
    pub(crate) also: Vec<String>,

    /// Fixed frequency: `base` (the highest without turbo), a share of it (80%) or kHz
    #[arg(long, value_parser = frequency, value_name = "FREQUENCY")]
    pub(crate) frequency: Option<Frequency>,

    /// Second threads of cores: left idle, or switched off
    #[arg(long, value_enum, value_name = "MODE")]
    pub(crate) smt: Option<SmtFlag>,

    /// Stop this systemd unit too, and start it again, whatever the profile (may be repeated)
    #[arg(long = "stop", value_name = "UNIT")]
    pub(crate) units: Vec<String>,
}

/// See [`Smt`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum SmtFlag {
    /// They stay on, and idle.
    Idle,
    /// They are switched off.
    Off,
}

impl RequestFlags {
    /// Returns the request; what flags say comes after what a profile file says.
    pub(crate) fn request(&self) -> Result<Request, CommandError> {
        let mut request = self.profile.request()?;
        if !self.only.is_empty() {
            request.only.clone_from(&self.only);
        }
        request.skip.extend_from_slice(&self.skip);
        request.also.extend_from_slice(&self.also);
        request.units.extend_from_slice(&self.units);
        if let Some(frequency) = self.frequency {
            request.frequency = frequency;
        }
        match self.smt {
            Some(SmtFlag::Off) => request.smt = Smt::Off,
            Some(SmtFlag::Idle) => request.smt = Smt::Idle,
            None => {}
        }
        for (is_given, flag, knob) in [
            (!self.units.is_empty(), "--stop", "services"),
            (self.frequency.is_some(), "--frequency", "frequency"),
            (self.smt == Some(SmtFlag::Off), "--smt off", "smt"),
        ] {
            if is_given && !request.allows(knob) {
                return Err(CommandError::usage(format!(
                    "{flag} is for the knob `{knob}`, which --only or --skip excludes"
                )));
            }
        }
        Ok(request)
    }
}

/// Reads a frequency: `base`, `80%` or kilohertz.
pub(super) fn frequency(text: &str) -> Result<Frequency, String> {
    if text == "base" {
        return Ok(Frequency::Base);
    }
    if text.ends_with('%') {
        let share = parse_share(text).map_err(|error| error.to_string())?;
        return if share > 0.0 && share <= 1.0 {
            Ok(Frequency::Share(share))
        } else {
            Err("a share of the frequency without turbo lies above 0 % and up to 100 %".to_owned())
        };
    }
    match text.parse() {
        Ok(kilohertz) if kilohertz > 0 => Ok(Frequency::Kilohertz(kilohertz)),
        _ => {
            Err("expected base, a share such as 80%, or a number of kHz such as 2400000".to_owned())
        }
    }
}

/// What `--wait` without a value stands for.
const FOREVER: &str = "forever";

/// How long to queue where another becalm tunes the machine.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct WaitFlag {
    /// Wait while another becalm tunes the machine, for as long as it takes or for a duration
    #[arg(long, value_name = "DURATION", num_args = 0..=1, require_equals = true, default_missing_value = FOREVER, value_parser = waiting)]
    pub(crate) wait: Option<Wait>,
}

fn waiting(text: &str) -> Result<Wait, String> {
    if text == FOREVER {
        return Ok(Wait::Forever);
    }
    parse_duration(text).map(Wait::For).map_err(|error| error.to_string())
}

/// Returns the queue that a flag asks for.
pub(crate) fn wait(flag: &WaitFlag) -> Wait {
    flag.wait.unwrap_or(Wait::No)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frequencies_and_profiles_are_read_as_people_write_them() {
        assert_eq!(frequency("base"), Ok(Frequency::Base));
        assert_eq!(frequency("80%"), Ok(Frequency::Share(0.8)));
        assert_eq!(frequency("2400000"), Ok(Frequency::Kilohertz(2_400_000)));
        for wrong in ["0", "0%", "120%", "fast", "-1", ""] {
            assert!(frequency(wrong).is_err(), "{wrong}");
        }
        assert_eq!(parse_profile("strict"), Ok(ProfileFlag::Named(Profile::Strict)));
        assert_eq!(parse_profile("./mine"), Ok(ProfileFlag::File("./mine".into())));
        assert!(parse_profile("strickt").is_err());
    }
}
