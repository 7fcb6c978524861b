//! What users may ask the service for.

use std::time::Duration;

use becalm_model::CpuSet;
use serde::{Deserialize, Serialize};

use crate::knobs::thp::THP;
use crate::knobs::{Frequency, KNOBS, Smt, TuningRequest};

/// What the administrator lets users do with the machine.
#[derive(Debug, Clone, PartialEq)]
pub struct Policy {
    /// Profiles by name. A user may have what one of them does, or less.
    pub profiles: Vec<(String, TuningRequest)>,
    /// Most CPUs that a user may take away from everybody else.
    pub isolated_cpus: usize,
    /// How long a user may have the machine.
    pub limit: Duration,
}

impl Default for Policy {
    /// Returns what nobody else on the machine will miss.
    fn default() -> Self {
        Self {
            profiles: vec![("safe".to_owned(), TuningRequest::default())],
            isolated_cpus: 0,
            limit: Duration::from_secs(60 * 60),
        }
    }
}

/// Why the service does not do what it was asked for. Nothing was changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
pub enum NotAllowed {
    /// It is more than every profile that is allowed.
    #[error(
        "the service of this machine does not allow that: a request must lie within one of its \
         profiles ({})",
        .0.join(", ")
    )]
    Knobs(Vec<String>),
    /// The CPUs are not those of this machine.
    #[error("the service cannot quiet {0}: these CPUs are not online")]
    Cpus(CpuSet),
    /// A session changes the machine a few times only.
    #[error("the service has changed the machine {0} times for this session, which is its limit")]
    TooOften(usize),
}

impl Policy {
    /// Says whether a request lies within an allowed profile.
    pub(crate) fn allows(&self, request: &TuningRequest) -> bool {
        self.profiles.iter().any(|(_, profile)| is_within(request, profile))
    }

    /// Returns the names of the allowed profiles.
    pub(crate) fn names(&self) -> Vec<String> {
        self.profiles.iter().map(|(name, _)| name.clone()).collect()
    }
}

/// Says whether a request turns no knob that `profile` leaves alone, and none of them further.
fn is_within(request: &TuningRequest, profile: &TuningRequest) -> bool {
    // All of it, so that what is added to requests is compared here or does not compile.
    let TuningRequest { profile: _, only: _, skip: _, also: _, frequency, smt, thp, units } =
        request;
    let is_known = |unit: &String| profile.units.contains(unit);
    KNOBS.iter().all(|knob| !request.selects(knob) || profile.selects(knob))
        && (units.is_empty() || profile.allows("services"))
        && units.iter().all(is_known)
        && (*frequency == Frequency::Keep || *frequency == profile.frequency)
        && (*smt == Smt::Idle || *smt == profile.smt)
        && (!request.selects(&THP) || *thp == profile.thp)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::knobs::{Profile, Thp};

    fn words(all: &[&str]) -> Vec<String> {
        all.iter().map(|one| (*one).to_owned()).collect()
    }

    fn strict() -> TuningRequest {
        TuningRequest { profile: Profile::Strict, ..TuningRequest::default() }
    }

    #[test]
    fn less_than_a_profile_is_allowed_and_more_is_not() {
        let policy = Policy::default();
        assert!(policy.allows(&TuningRequest::default()));
        let skip = TuningRequest { skip: words(&["governor"]), ..TuningRequest::default() };
        assert!(policy.allows(&skip));
        // None of it is of another profile.
        let only = TuningRequest { only: words(&["governor"]), ..strict() };
        assert!(policy.allows(&only));
        for (what, more) in [
            ("strict", strict()),
            ("also", TuningRequest { also: words(&["aslr"]), ..TuningRequest::default() }),
            ("only", TuningRequest { only: words(&["network"]), ..TuningRequest::default() }),
            ("units", TuningRequest { units: words(&["sshd"]), ..TuningRequest::default() }),
            ("frequency", TuningRequest { frequency: Frequency::Base, ..TuningRequest::default() }),
            ("smt", TuningRequest { smt: Smt::Off, ..TuningRequest::default() }),
        ] {
            assert!(!policy.allows(&more), "{what}");
        }
    }

    #[test]
    fn what_a_profile_turns_one_way_nobody_turns_another() {
        let own = |profile: &TuningRequest| Policy {
            profiles: vec![("own".to_owned(), profile.clone())],
            ..Policy::default()
        };
        let never = strict();
        let always = TuningRequest { thp: Thp::Always, ..strict() };
        assert!(own(&never).allows(&never) && own(&always).allows(&always));
        assert!(!own(&never).allows(&always) && !own(&always).allows(&never));
        // Nothing comes of it where huge pages are left alone.
        let skip = words(&["thp"]);
        assert!(own(&never).allows(&TuningRequest { skip, ..always.clone() }));
        assert!(Policy::default().allows(&TuningRequest { profile: Profile::Safe, ..always }));
        let slow = TuningRequest { frequency: Frequency::Share(0.5), ..strict() };
        let base = TuningRequest { frequency: Frequency::Base, ..strict() };
        assert!(own(&slow).allows(&slow) && !own(&slow).allows(&base));
        let off = TuningRequest { smt: Smt::Off, ..strict() };
        assert!(own(&off).allows(&off) && own(&off).allows(&strict()));
    }

    #[test]
    fn every_knob_is_refused_that_no_profile_turns() {
        let all = words(&KNOBS.iter().map(|knob| knob.name).collect::<Vec<_>>());
        for knob in KNOBS {
            let others = all.iter().filter(|name| *name != knob.name).cloned().collect();
            let profile = TuningRequest { only: others, ..TuningRequest::default() };
            let policy =
                Policy { profiles: vec![("own".to_owned(), profile)], ..Policy::default() };
            let request = TuningRequest { only: words(&[knob.name]), ..TuningRequest::default() };
            assert!(!policy.allows(&request), "{}", knob.name);
        }
    }

    #[test]
    fn a_profile_that_stops_some_units_lets_nobody_stop_others() {
        let profile = TuningRequest { units: words(&["a.service"]), ..TuningRequest::default() };
        let own =
            |profile| Policy { profiles: vec![("own".to_owned(), profile)], ..Policy::default() };
        let policy = own(profile.clone());
        assert!(policy.allows(&profile));
        let units = words(&["a.service", "b.service"]);
        assert!(!policy.allows(&TuningRequest { units, ..TuningRequest::default() }));
        // The knob by its name stops what is known to be noisy, too.
        let also = TuningRequest { also: words(&["services"]), ..profile.clone() };
        assert!(!policy.allows(&also));
        let skipped = TuningRequest { skip: words(&["services"]), ..profile.clone() };
        assert!(!own(skipped).allows(&profile), "the administrator has left it out");
    }
}
