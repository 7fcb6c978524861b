//! Commands whose processes are killed at some of their calls.

use std::collections::BTreeMap;

use anyhow::{Context, Result, ensure};

use super::expect::as_before;
use crate::vm::guest::{Depth, Guest};
use crate::vm::state::State;

/// A command whose processes are killed, and what has to put everything back afterwards.
#[derive(Clone, Copy)]
pub(super) struct Death {
    /// Makes the machine ready for the command.
    pub(super) before: &'static str,
    pub(super) command: &'static str,
    /// Which processes die, as `kill_at` calls them.
    pub(super) whom: &'static str,
    /// What puts everything back then.
    pub(super) after: &'static str,
}

/// Lets the command die at its system calls that change something: values, the journal, control
/// groups, affinities, processes. Afterwards the machine must be as before.
pub(super) fn sweep(guest: &mut Guest, death: &Death) -> Result<()> {
    let before = guest.state()?;
    let n_calls = n_calls(&die(guest, death, 0, &before)?)?;
    let n_kills = match guest.depth() {
        Depth::Sample => 3.min(n_calls),
        Depth::Whole => 8.min(n_calls),
        Depth::Every => n_calls,
    };
    let mut died = BTreeMap::<String, u32>::new();
    for kill in 1..=n_kills {
        // The last is always one of them.
        let at = kill * n_calls / n_kills;
        let said = die(guest, death, at, &before)?;
        // How many calls there are changes a little from time to time: the last may not be reached.
        if let Some(call) = killed_at(&said) {
            *died.entry(call.to_owned()).or_default() += 1;
        }
    }
    let n_died: u32 = died.values().sum();
    let at: Vec<String> = died.iter().map(|(call, count)| format!("{call} {count}")).collect();
    println!("    {n_died} kills ({}) of {n_calls} calls", at.join(", "));
    ensure!(n_died > 0 && n_died + 10 > n_kills, "only {n_died} of {n_kills} were killed");
    Ok(())
}

/// Returns how many calls a command made that nothing has killed.
pub(super) fn n_calls(said: &str) -> Result<u32> {
    said.lines()
        .find_map(|line| line.strip_prefix("ended with 0 after ")?.strip_suffix(" calls"))
        .with_context(|| format!("the command does not end well when nothing kills it:\n{said}"))?
        .parse()
        .context("number of calls")
}

/// Returns the call at which something was killed.
fn killed_at(said: &str) -> Option<&str> {
    let at = said.lines().find_map(|line| line.strip_prefix("killed at "))?;
    Some(at.split_once(": ").map_or(at, |(_, call)| call))
}

/// Lets the command die at one call and compares the machine; returns what was said.
fn die(guest: &mut Guest, death: &Death, at: u32, before: &State) -> Result<String> {
    let Death { before: first, command, whom, after } = death;
    let output = guest.run(&format!(
        "{first} >/dev/null 2>&1 || exit 98\nkill_at '{whom}' {at} {command} || exit 97\n\
         {after} || exit 96"
    ))?;
    if killed_at(&output.text).is_some() {
        guest.deaths().killed();
    }
    let told = || {
        let said = output.text.trim_end();
        format!("when {whom} of `{command}` dies at call {at}:\n{said}")
    };
    ensure!(output.status == 0, "status {} {}", output.status, told());
    let result = as_before(guest, before).with_context(told);
    if result.is_err() {
        guest.deaths().differed();
    }
    result.map(|()| output.text)
}
