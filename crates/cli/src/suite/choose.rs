//! Which benchmarks of a suite are measured.

use becalm_model::fits;

use super::nearest::did_you_mean;
use super::resolve::Benchmark;
use crate::error::CommandError;

/// Takes those whose name fits one of the patterns and that have one of the tags; without any, all.
pub(super) fn choose(
    all: Vec<Benchmark>,
    patterns: &[String],
    tags: &[String],
) -> Result<Vec<Benchmark>, CommandError> {
    let names = || all.iter().flat_map(|one| [one.subject.name.as_str(), &one.terms.benchmark]);
    for pattern in patterns {
        if !names().any(|name| fits(pattern, name)) {
            let mut known: Vec<&str> = all.iter().map(|one| one.terms.benchmark.as_str()).collect();
            known.dedup();
            return Err(CommandError::usage(format!(
                "--only {pattern}: no benchmark has such a name; {}",
                did_you_mean(pattern, &known)
            )));
        }
    }
    for tag in tags {
        let mut known: Vec<&str> =
            all.iter().flat_map(|one| &one.terms.tags).map(String::as_str).collect();
        known.sort_unstable();
        known.dedup();
        if !known.contains(&tag.as_str()) {
            let told = if known.is_empty() {
                "the suite has no tags".to_owned()
            } else {
                did_you_mean(tag, &known)
            };
            return Err(CommandError::usage(format!("--tag {tag}: no benchmark has it; {told}")));
        }
    }
    let is_named = |one: &Benchmark| {
        patterns.is_empty()
            || patterns.iter().any(|pattern| {
                fits(pattern, &one.subject.name) || fits(pattern, &one.terms.benchmark)
            })
    };
    let is_tagged =
        |one: &Benchmark| tags.is_empty() || tags.iter().any(|tag| one.terms.tags.contains(tag));
    let chosen: Vec<Benchmark> =
        all.into_iter().filter(|one| is_named(one) && is_tagged(one)).collect();
    if chosen.is_empty() {
        return Err(CommandError::usage("no benchmark has both such a name and such a tag"));
    }
    Ok(chosen)
}
