//! The output of `becalm bisect`: the commit, how sure it is, and how to check it.

use becalm_model::RatioInterval;
use becalm_model::history::short_commit;
use becalm_model::wire::{BisectDocument, BisectState, CommitDocument, FoundDocument};

use crate::notes;
use crate::page::Page;
use crate::prose::folded;
use crate::quantity::{self, NBSP, confidence, count};
use crate::style::{Role, Style};
use crate::width::printable;

/// How many candidates are listed if there is no answer.
const LISTED: usize = 10;

/// How many lines are shown of why a commit was skipped.
const SHOWN_LINES: usize = 3;

/// Draws the answer of a search. `check` is the command by which it can be checked.
pub fn bisect_text(search: &BisectDocument, check: &str, style: &Style) -> String {
    let mut page = Page::new(style);
    match (&search.found, search.state) {
        (Some(found), _) => say_found(&mut page, search, found, check),
        (None, BisectState::NoChange) => {
            page.say_as(
                Role::Warning,
                "Nothing to find: the measurement does not show that the ends differ by more than \
                 the margin.",
            );
        }
        (None, _) => say_undecided(&mut page, search),
    }
    say_cost(&mut page, search);
    if !search.skipped.is_empty() {
        page.section("Skipped");
        for one in &search.skipped {
            if let Some(commit) = search.commit(one.commit) {
                page.item(&named(commit));
                for line in
                    one.reason.lines().rev().take(SHOWN_LINES).collect::<Vec<_>>().iter().rev()
                {
                    let width = page.style.width;
                    page.drawn(&folded(&format!("      {}", printable(line.trim())), width));
                }
            }
        }
    }
    page.list("Notes", search.notes().map(notes::sentence));
    page.finish()
}

fn say_found(page: &mut Page<'_>, search: &BisectDocument, found: &FoundDocument, check: &str) {
    let word = search.verdict.as_deref().unwrap_or("different");
    let sure = probability(found.probability);
    let size = size(search, found);
    if found.from == found.to {
        let Some(commit) = search.commit(found.to) else { return };
        page.say(&format!(
            "{} is the first {word} commit with a probability of {sure}: {size}.",
            short(commit)
        ));
        page.gap();
        page.labelled("commit", 7, &commit.id);
        page.labelled("author", 7, &commit.author);
        page.labelled("date", 7, &commit.date);
        page.labelled("subject", 7, &commit.title);
        if commit.parents > 1 {
            page.gap();
            page.say(&format!(
                "It is a merge. `becalm bisect --good $(git merge-base {0}^1 {0}^2) --bad {0}^2` \
                 searches the commits that it merged.",
                short(commit)
            ));
        }
    } else {
        page.say(&format!(
            "The first {word} commit is one of {}, with a probability of {sure}: {size}. Only the last of them can be \
             measured, so the search cannot distinguish them.",
            count(found.to + 1 - found.from, "commit")
        ));
        page.gap();
        for number in found.from..=found.to {
            if let Some(commit) = search.commit(number) {
                page.item(&named(commit));
            }
        }
    }
    page.gap();
    page.say("To check it:");
    page.drawn(&format!("  {check}"));
}

/// Says how large the change is.
fn size(search: &BisectDocument, found: &FoundDocument) -> String {
    let metric = search.metric.as_deref().unwrap_or("it");
    match (search.exact, found.ratio) {
        (Some([good, bad]), _) => format!("{metric} goes from {good} to {bad}, exactly"),
        (None, Some(RatioInterval { estimate, low, high })) => {
            let ratio = quantity::ratio(&RatioInterval { estimate, low, high });
            let level = confidence(search.confidence);
            format!("{metric} changes by {} ({level} interval {})", ratio.change, ratio.interval)
        }
        (None, None) => format!("{metric} changes"),
    }
}

fn say_undecided(page: &mut Page<'_>, search: &BisectDocument) {
    let level = confidence(search.confidence);
    page.say_as(Role::Warning, &format!("Undecided: no commit has reached {level}."));
    page.gap();
    let mut candidates = search.candidates.clone();
    candidates.sort_by(|a, b| b.probability.total_cmp(&a.probability));
    for one in candidates.iter().take(LISTED) {
        if let Some(commit) = search.commit(one.commit) {
            page.item(&format!("{}  {}", probability(one.probability), named(commit)));
        }
    }
}

fn say_cost(page: &mut Page<'_>, search: &BisectDocument) {
    let rounds: usize = search.steps.iter().map(|step| step.rounds.len()).sum();
    page.gap();
    let built =
        format!("{} of {} built", count(search.built.len(), "commit"), search.commits.len() + 1);
    // The rounds that compared the ends are no step of the search.
    page.say(&match search.steps.len() {
        0 => format!("{built}."),
        steps => format!(
            "{built}, {} in {} after the ends were compared.",
            count(rounds, "round"),
            count(steps, "step")
        ),
    });
}

/// Writes a probability, which is never shown as certainty.
fn probability(p: f64) -> String {
    if p > 0.999 { format!("over 99.9{NBSP}%") } else { format!("{:.1}{NBSP}%", 100.0 * p) }
}

fn short(commit: &CommitDocument) -> &str {
    short_commit(&commit.id)
}

fn named(commit: &CommitDocument) -> String {
    format!("{} {}", short(commit), commit.title)
}

#[cfg(test)]
mod tests {
    use becalm_model::wire::{CandidateDocument, SkippedDocument};

    use super::*;

    fn commit(id: &str, title: &str) -> CommitDocument {
        CommitDocument {
            id: id.repeat(10),
            title: title.to_owned(),
            author: "A. Programmer <somebody@example.org>".to_owned(),
            date: "2026-11-26T12:00:00+00:00".to_owned(),
            parents: 2,
        }
    }

    fn search(found: Option<FoundDocument>) -> BisectDocument {
        BisectDocument {
            schema: String::new(),
            version: "0.1.0".to_owned(),
            arguments: Vec::new(),
            started_at: 0.0,
            command: vec!["./program".to_owned()],
            terms: None,
            build: None,
            confidence: 0.95,
            good: commit("900d", "the last release"),
            commits: vec![
                commit("ba5e", "parser: read numbers without a copy of every line of the file"),
                commit("4ead", "parser: tables"),
            ],
            metric: Some("cpu_time".to_owned()),
            unit: None,
            exact: None,
            verdict: Some("slower".to_owned()),
            state: BisectState::Undecided,
            built: Vec::new(),
            skipped: vec![SkippedDocument {
                commit: 1,
                reason: "cc: error: no such file or directory: parser_tables.c".to_owned(),
            }],
            steps: Vec::new(),
            candidates: vec![
                CandidateDocument { commit: 2, probability: 0.61 },
                CandidateDocument { commit: 1, probability: 0.39 },
            ],
            found,
            notes: Vec::new(),
        }
    }

    #[test]
    fn an_answer_and_none_fit_on_a_narrow_terminal() {
        let ratio = Some(RatioInterval { estimate: 1.03, low: 1.021, high: 1.039 });
        let found = |from| FoundDocument { from, to: 2, probability: 0.973, ratio };
        for found in [Some(found(2)), Some(found(1)), None] {
            let text = bisect_text(
                &search(found),
                "becalm compare ./a ./b",
                &Style { width: 40, ..Style::PLAIN },
            );
            crate::width::fits_on_forty("bisect", &text);
        }
    }
}
