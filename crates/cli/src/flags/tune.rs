//! The flags that say what to tune.

use becalm_machine::knobs::{Frequency, Smt, Thp, TuningRequest};
use becalm_model::parse_duration;
use becalm_model::terms::{TuneProfile, TuneWait};
use becalm_session::service::installed_profile;
use becalm_session::{frequency, profile};

use super::{replace, replace_all};
use crate::error::CommandError;

/// Reads a profile: `safe`, `strict`, a file, or the name that the administrator has given to one.
pub(crate) fn parse_profile(text: &str) -> Result<TuneProfile, String> {
    match text {
        "safe" => Ok(TuneProfile::Safe),
        "strict" => Ok(TuneProfile::Strict),
        file if file.contains('/') || file.strip_suffix(".toml").is_some() => {
            Ok(TuneProfile::File(file.into()))
        }
        name => installed_profile(name).map(TuneProfile::File).ok_or_else(|| {
            "expected safe, strict or a TOML file (a path with / or .toml, or the name of a file \
             in /etc/becalm/profiles)"
                .to_owned()
        }),
    }
}

/// What to tune.
#[derive(Debug, clap::Args)]
pub(crate) struct RequestFlags {
    /// How far to go: `safe` (no other user will notice), `strict` or a TOML file
    #[arg(long, value_parser = parse_profile, default_value = "safe", value_name = "PROFILE")]
    pub(crate) profile: TuneProfile,

    /// Only these knobs (comma-separated; `--plan` names them)
    #[arg(long, value_delimiter = ',', value_name = "KNOB")]
    pub(crate) only: Vec<String>,

    /// Skip these knobs
    #[arg(long, value_delimiter = ',', value_name = "KNOB")]
    pub(crate) skip: Vec<String>,

    /// These knobs too, whatever the profile says
    #[arg(long, value_delimiter = ',', value_name = "KNOB")]
    pub(crate) also: Vec<String>,

    /// Fix the frequency: `base` (the highest without turbo), a share of it (80%) or kHz
    #[arg(long, value_parser = frequency, value_name = "FREQUENCY")]
    pub(crate) frequency: Option<Frequency>,

    /// Second threads of cores: leave them idle, or switch them off
    #[arg(long, value_enum, value_name = "MODE")]
    pub(crate) smt: Option<SmtFlag>,

    /// Transparent huge pages for no program or for every one, whatever the profile says
    #[arg(long, value_enum, value_name = "MODE")]
    pub(crate) thp: Option<ThpFlag>,

    /// Stop this systemd unit too, and start it again afterwards, whatever the profile says; may be
    /// repeated
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

/// See [`Thp`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum ThpFlag {
    /// No program gets them.
    Never,
    /// Every program gets them.
    Always,
}

impl RequestFlags {
    /// Returns the request; flags take precedence over a profile file.
    pub(crate) fn request(&self) -> Result<TuningRequest, CommandError> {
        let mut request = profile(&self.profile)?;
        replace_all(&mut request.only, &self.only);
        request.skip.extend_from_slice(&self.skip);
        request.also.extend_from_slice(&self.also);
        request.units.extend_from_slice(&self.units);
        replace(&mut request.frequency, self.frequency);
        let smt = |flag| if flag == SmtFlag::Off { Smt::Off } else { Smt::Idle };
        replace(&mut request.smt, self.smt.map(smt));
        let thp = |flag| if flag == ThpFlag::Always { Thp::Always } else { Thp::Never };
        replace(&mut request.thp, self.thp.map(thp));
        for (is_given, flag, knob) in [
            (!self.units.is_empty(), "--stop", "services"),
            (self.frequency.is_some(), "--frequency", "frequency"),
            (self.smt == Some(SmtFlag::Off), "--smt off", "smt"),
            (self.thp.is_some(), "--thp", "thp"),
        ] {
            if is_given && !request.allows(knob) {
                return Err(CommandError::usage(format!(
                    "{flag} is for the knob `{knob}`, which --only or --skip excludes"
                )));
            }
        }
        if self.thp.is_some() {
            request.also.push("thp".to_owned());
        }
        Ok(request)
    }
}

/// What `--wait` without a value stands for.
const FOREVER: &str = "forever";

/// How long to queue while another becalm tunes the machine.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct WaitFlag {
    /// Wait while another becalm tunes the machine, without limit or for a duration
    #[arg(long, value_name = "DURATION", num_args = 0..=1, require_equals = true, default_missing_value = FOREVER, value_parser = waiting)]
    pub(crate) wait: Option<TuneWait>,
}

fn waiting(text: &str) -> Result<TuneWait, String> {
    if text == FOREVER {
        return Ok(TuneWait::Forever);
    }
    parse_duration(text).map(TuneWait::For).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn profiles_are_read_as_people_write_them() {
        assert_eq!(parse_profile("strict"), Ok(TuneProfile::Strict));
        assert_eq!(parse_profile("./mine"), Ok(TuneProfile::File("./mine".into())));
        assert!(parse_profile("strickt").is_err());
    }
}
