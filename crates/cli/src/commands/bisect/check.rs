//! The command by which the answer of a search can be checked: a comparison of the commits on both sides of the
//! change, measured as the search has measured.

use becalm_model::history::short_commit;
use becalm_model::terms::{Exports, RoundLimits, Terms};
use becalm_model::wire::BisectDocument;

use crate::flags::words;

/// Returns the command as it is typed into a shell; empty without an answer.
pub(super) fn command(document: &BisectDocument) -> String {
    let Some(found) = &document.found else { return String::new() };
    let id = |number: usize| match number {
        0 => short_commit(&document.good.id),
        number => short_commit(&document.commits[number - 1].id),
    };
    let mut line = vec!["becalm".to_owned(), "compare".to_owned()];
    for number in [found.from - 1, found.to] {
        line.extend(["--rev".to_owned(), id(number).to_owned()]);
    }
    if let Some(terms) = &document.terms {
        line.extend(words::flags(&of_comparison(terms), &words::usual("compare")));
    }
    line.push("--".to_owned());
    line.extend(document.command.iter().cloned());
    shell_words::join(line)
}

/// Returns the terms without those of the search, and without those that a separate comparison
/// should choose for itself.
fn of_comparison(terms: &Terms) -> Terms {
    let usual = words::usual("compare");
    let mut terms = Terms {
        confidence: usual.confidence,
        // Without one any difference between the ends was worth a search.
        margin: if terms.margin > 0.0 { terms.margin } else { usual.margin },
        limits: RoundLimits::default(),
        exports: Exports::default(),
        ..terms.clone()
    };
    terms.runs.seed = None;
    terms
}
