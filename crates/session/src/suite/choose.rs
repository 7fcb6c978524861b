//! Which benchmarks of a suite are measured.

use becalm_model::fits;

use super::SuiteError;
use super::resolve::Benchmark;
use crate::nearest::did_you_mean;

/// Takes those whose name fits one of the patterns and that have one of the tags; without any, all.
pub fn choose(
    all: Vec<Benchmark>,
    patterns: &[String],
    tags: &[String],
) -> Result<Vec<Benchmark>, SuiteError> {
    let names = || all.iter().flat_map(|one| [one.subject.name.as_str(), &one.about.benchmark]);
    for pattern in patterns {
        if !names().any(|name| fits(pattern, name)) {
            let mut known: Vec<&str> = all.iter().map(|one| one.about.benchmark.as_str()).collect();
            known.dedup();
            let known = did_you_mean(pattern, &known);
            return Err(SuiteError::Only { pattern: pattern.clone(), known });
        }
    }
    for tag in tags {
        let mut known: Vec<&str> =
            all.iter().flat_map(|one| &one.about.tags).map(String::as_str).collect();
        known.sort_unstable();
        known.dedup();
        if !known.contains(&tag.as_str()) {
            let told = if known.is_empty() {
                "the suite has no tags".to_owned()
            } else {
                did_you_mean(tag, &known)
            };
            return Err(SuiteError::Tag { tag: tag.clone(), known: told });
        }
    }
    let is_named = |one: &Benchmark| {
        patterns.is_empty()
            || patterns.iter().any(|pattern| {
                fits(pattern, &one.subject.name) || fits(pattern, &one.about.benchmark)
            })
    };
    let is_tagged =
        |one: &Benchmark| tags.is_empty() || tags.iter().any(|tag| one.about.tags.contains(tag));
    let chosen: Vec<Benchmark> =
        all.into_iter().filter(|one| is_named(one) && is_tagged(one)).collect();
    if chosen.is_empty() {
        return Err(SuiteError::NoneChosen);
    }
    Ok(chosen)
}
