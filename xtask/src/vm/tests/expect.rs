//! What tests say about guests.

use anyhow::{Result, ensure};

use crate::vm::guest::{Guest, shown};
use crate::vm::state::State;

/// Fails with every value that differs from before.
pub(super) fn as_before(guest: &mut Guest, before: &State) -> Result<()> {
    same(before, &guest.state()?)
}

/// Fails with every value that differs.
pub(super) fn same(before: &State, after: &State) -> Result<()> {
    let lines: Vec<String> = before.differences(after).iter().map(ToString::to_string).collect();
    ensure!(lines.is_empty(), "{} values differ:\n{}", lines.len(), lines.join("\n"));
    Ok(())
}

/// Runs a script that must succeed and leave everything as it was; returns what it wrote.
pub(super) fn leaves_no_trace(guest: &mut Guest, script: &str) -> Result<String> {
    let before = guest.state()?;
    let text = guest.ok(script)?;
    let result = as_before(guest, &before);
    result
        .map_err(|error| error.context(format!("after {}, which said:\n{text}", shown(script))))?;
    Ok(text)
}

/// Fails unless a script writes this.
pub(super) fn says(guest: &mut Guest, script: &str, expect: &str) -> Result<()> {
    let text = guest.run(script)?.text;
    let (script, text) = (shown(script), text.trim());
    ensure!(text == expect, "{script} says {text:?}, expected {expect:?}");
    Ok(())
}

/// Fails unless a script ends with this status; returns what it wrote.
pub(super) fn ends_with(guest: &mut Guest, script: &str, status: i32) -> Result<String> {
    let output = guest.run(script)?;
    ensure!(
        output.status == status,
        "{} ended with {}, expected {status}:\n{}",
        shown(script),
        output.status,
        output.text
    );
    Ok(output.text)
}

/// Fails unless a text contains another.
pub(super) fn contains(text: &str, part: &str) -> Result<()> {
    ensure!(text.contains(part), "{part:?} does not stand in:\n{text}");
    Ok(())
}

/// Fails if a text contains another.
pub(super) fn lacks(text: &str, part: &str) -> Result<()> {
    ensure!(!text.contains(part), "{part:?} stands in:\n{text}");
    Ok(())
}

/// A script that waits until no becalm runs any more.
pub(super) const UNTIL_ALONE: &str = "until_so '! pidof becalm'";
