//! The tests, by what they are about.

mod basics;
mod callers;
mod death;
mod elsewhere;
mod expect;
mod isolation;
mod killed;
mod memory;
mod network;
mod power;
mod probe;
mod resctrl;
mod service;
mod swap;
mod systemd;
mod trace;
mod traps;
mod user;

use anyhow::Result;

use super::guest::Guest;
use super::kernel::Series;
use super::lab::Place;
use super::profile::Profile;

/// One test.
pub(super) struct Test {
    /// A sentence.
    pub(super) name: &'static str,
    /// Where it makes sense.
    pub(super) machines: Machines,
    /// The machines on which it is part of the sample.
    pub(super) sample: &'static [&'static str],
    pub(super) body: Body,
}

/// Machines by the names of their profiles.
pub(super) enum Machines {
    All,
    Only(&'static [&'static str]),
    Except(&'static [&'static str]),
}

/// What a test is given.
pub(super) enum Body {
    /// A guest that has just booted.
    Guest(fn(&mut Guest) -> Result<()>),
    /// A machine that the test starts by itself.
    Place(fn(&Place<'_>) -> Result<()>),
}

/// Tests about one thing.
pub(super) struct Group {
    pub(super) tests: &'static [Test],
    /// The kernels that can have them.
    pub(super) kernels: &'static [Series],
    /// The kernels on which they are part of the sample.
    pub(super) sampled_on: &'static [Series],
}

const fn group(tests: &'static [Test], sampled_on: &'static [Series]) -> Group {
    Group { tests, kernels: BOTH, sampled_on }
}

const BOTH: &[Series] = &[Series::V6_1, Series::V6_12];
const REAL_TIME: &[Series] = &[Series::V6_12Rt];
const NEWER: &[Series] = &[Series::V6_12];

/// All tests.
pub(super) const GROUPS: &[Group] = &[
    group(basics::TESTS, BOTH),
    group(traps::TESTS, NEWER),
    group(user::TESTS, NEWER),
    group(isolation::TESTS, BOTH),
    group(killed::TESTS, NEWER),
    group(memory::TESTS, NEWER),
    group(network::TESTS, NEWER),
    group(swap::TESTS, NEWER),
    group(resctrl::TESTS, &[]),
    group(power::TESTS, NEWER),
    group(systemd::TESTS, &[]),
    group(callers::TESTS, &[]),
    group(service::TESTS, &[]),
    group(trace::TESTS, &[]),
    group(elsewhere::TESTS, NEWER),
    Group { tests: probe::FIRMWARE, kernels: &Series::ALL, sampled_on: &[] },
    Group { tests: probe::TESTS, kernels: REAL_TIME, sampled_on: REAL_TIME },
];

impl Machines {
    /// Says whether a machine is among them.
    pub(super) fn has(&self, profile: &Profile) -> bool {
        match self {
            Self::All => true,
            Self::Only(names) => names.contains(&profile.name),
            Self::Except(names) => !names.contains(&profile.name),
        }
    }
}

impl Test {
    /// Says whether the test is part of the sample on a machine.
    pub(super) fn is_in_sample(&self, profile: &Profile) -> bool {
        self.sample.contains(&profile.name)
    }
}
