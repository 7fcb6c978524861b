//! How far a machine is tuned: built-in profiles, and those of TOML files.

use std::path::{Path, PathBuf};

use becalm_machine::knobs::{Frequency, Profile, Smt, Thp, TuningRequest};
use becalm_model::parse_share;
use becalm_model::terms::TuneProfile;
use serde::Deserialize;

/// Why there is no such profile.
#[derive(Debug, thiserror::Error)]
pub enum ProfileError {
    /// Its file cannot be read.
    #[error("cannot read the profile {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// Its file is invalid.
    #[error("the profile {} is invalid: {why}", path.display())]
    Senseless {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        why: String,
    },
}

/// Returns what a profile asks for.
pub fn profile(profile: &TuneProfile) -> Result<TuningRequest, ProfileError> {
    let named = |profile| Ok(TuningRequest { profile, ..TuningRequest::default() });
    match profile {
        TuneProfile::Safe => named(Profile::Safe),
        TuneProfile::Strict => named(Profile::Strict),
        TuneProfile::File(path) => read(path),
    }
}

/// Reads a frequency: `base`, `80%` or kilohertz.
pub fn frequency(text: &str) -> Result<Frequency, String> {
    if text == "base" {
        return Ok(Frequency::Base);
    }
    if text.ends_with('%') {
        let share = parse_share(text).map_err(|error| error.to_string())?;
        return if share > 0.0 && share <= 1.0 {
            Ok(Frequency::Share(share))
        } else {
            Err("a share of the frequency without turbo must be above 0 % and at most 100 %"
                .to_owned())
        };
    }
    match text.parse() {
        Ok(kilohertz) if kilohertz > 0 => Ok(Frequency::Kilohertz(kilohertz)),
        _ => {
            Err("expected base, a share such as 80%, or a number of kHz such as 2400000".to_owned())
        }
    }
}

/// What a profile file may contain. Words are those of the flags.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
struct ProfileFile {
    profile: Option<Named>,
    only: Vec<String>,
    skip: Vec<String>,
    also: Vec<String>,
    frequency: Option<String>,
    smt: Option<Threads>,
    thp: Option<HugePages>,
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
enum HugePages {
    Never,
    Always,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Threads {
    Idle,
    Off,
}

fn read(path: &Path) -> Result<TuningRequest, ProfileError> {
    let text = std::fs::read_to_string(path)
        .map_err(|source| ProfileError::Read { path: path.to_owned(), source })?;
    parse(&text).map_err(|error| ProfileError::Senseless {
        path: path.to_owned(),
        why: error.trim_end().to_owned(),
    })
}

pub(crate) fn parse(text: &str) -> Result<TuningRequest, String> {
    let file: ProfileFile = toml::from_str(text).map_err(|error| error.to_string())?;
    let mut also = file.also;
    if file.thp.is_some() {
        also.push("thp".to_owned());
    }
    Ok(TuningRequest {
        profile: match file.profile {
            Some(Named::Strict) => Profile::Strict,
            Some(Named::Safe) | None => Profile::Safe,
        },
        only: file.only,
        skip: file.skip,
        also,
        frequency: file.frequency.as_deref().map(frequency).transpose()?.unwrap_or_default(),
        smt: match file.smt {
            Some(Threads::Off) => Smt::Off,
            Some(Threads::Idle) | None => Smt::Idle,
        },
        thp: match file.thp {
            Some(HugePages::Always) => Thp::Always,
            Some(HugePages::Never) | None => Thp::Never,
        },
        units: file.stop,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_profile_says_what_flags_could_say() {
        let request = parse("thp = \"always\"\n").unwrap();
        assert_eq!((request.thp, &request.also[..]), (Thp::Always, &["thp".to_owned()][..]));
        let request =
            parse("profile = \"strict\"\nskip = [\"smt\"]\nfrequency = \"base\"\n").unwrap();
        assert_eq!((request.profile, request.frequency), (Profile::Strict, Frequency::Base));
        assert_eq!(request.skip, ["smt"]);
        assert_eq!(parse("").unwrap(), TuningRequest::default());
    }

    #[test]
    fn frequencies_are_read_as_people_write_them() {
        assert_eq!(frequency("base"), Ok(Frequency::Base));
        assert_eq!(frequency("80%"), Ok(Frequency::Share(0.8)));
        assert_eq!(frequency("2400000"), Ok(Frequency::Kilohertz(2_400_000)));
        for wrong in ["0", "0%", "120%", "fast", "-1", ""] {
            assert!(frequency(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn what_is_not_known_is_refused() {
        assert!(parse("sikp = []").unwrap_err().contains("unknown field `sikp`"));
        assert!(parse("frequency = \"fast\"").unwrap_err().contains("expected base"));
        assert!(parse("profile = 3").is_err());
    }
}
