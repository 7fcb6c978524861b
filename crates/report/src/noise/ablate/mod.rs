//! Which mitigation helps on a machine: verdict, tables, strip plots, and what was not possible.

mod effects;
mod html;
mod plot;
mod said;
mod tables;

use becalm_model::ablate::{AblateConfiguration, AblateDocument, MitigationVerdict, Stage};

pub use html::ablate_html;

use crate::bars::bars_text;
use crate::page::Page;
use crate::style::{Role, Style};

/// The stages of an experiment, with the title and the explanation of each.
const STAGES: [(Stage, &str, &str); 5] = [
    (Stage::Singly, "Each mitigation alone", "the machine as it is"),
    (Stage::Cumulatively, "Combined, the best first", "the machine as it is"),
    (Stage::Without, "The chosen stack without each member", "all of them"),
    (Stage::Fewer, "Its members, those that matter most first", "all of them"),
    (Stage::Again, "Measured again", "the machine as it is"),
];

/// Returns the whole experiment as text. Its tables are large: they may be `table_width` wide.
pub fn ablate_text(document: &AblateDocument, style: &Style, table_width: usize) -> String {
    let mut page = Page::new(style);
    let for_tables = Style { width: table_width, ..*style };
    for (role, sentence) in said::headline(document) {
        page.say_as(role, &sentence);
    }
    page.gap();
    page.say(&said::extent(document));
    for (stage, title, reference) in STAGES {
        let configurations = of_stage(document, stage);
        if configurations.is_empty() {
            continue;
        }
        page.section(title);
        page.drawn(&tables::spread(&configurations, style.unicode).text(&for_tables));
        let effects = tables::effects(&configurations);
        if !effects.is_empty() {
            page.gap();
            page.drawn(&effects.text(&for_tables));
            let text = effects::with_effects(&configurations, reference, |picture| {
                bars_text(picture, style)
            });
            page.gap();
            page.drawn(&text.unwrap_or_default());
        }
        // Before and after, as `perf stat` shows them; the page has those of every stage.
        if let Some(counters) =
            tables::counters(&configurations, style.unicode).filter(|_| stage == Stage::Again)
        {
            page.gap();
            page.drawn(&counters.text(&for_tables));
        }
        if !matches!(stage, Stage::Without | Stage::Fewer) {
            page.gap();
            page.drawn(&plot::text(document, stage, style));
        }
    }
    page.list("How to read this", said::legend(document));
    page.list("Often recommended, and its effect here", said::popular(document));
    list_not_tried(&mut page, document);
    page.list("Limits", said::limits(document));
    page.finish()
}

/// Returns which mitigations are possible here, and why the others are not.
pub fn ablate_list_text(document: &AblateDocument, style: &Style) -> String {
    let mut page = Page::new(style);
    let possible: Vec<_> =
        document.mitigations.iter().filter(|one| one.not_tried.is_none()).collect();
    if !possible.is_empty() {
        page.section("Possible here");
        let width = possible.iter().map(|one| one.name.len()).max().unwrap_or(0);
        for one in &possible {
            page.labelled(&one.name, width, &one.summary);
        }
    }
    list_not_tried(&mut page, document);
    page.finish()
}

fn list_not_tried(page: &mut Page<'_>, document: &AblateDocument) {
    let reasons = said::not_tried(document);
    if reasons.is_empty() {
        return;
    }
    page.section("Not tried");
    let width = reasons.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    for (name, why) in &reasons {
        page.labelled(name, width, why);
    }
}

/// Returns the configurations of a stage that were run.
fn of_stage(document: &AblateDocument, stage: Stage) -> Vec<&AblateConfiguration> {
    let of_stage = |one: &&AblateConfiguration| one.stage == stage && one.n_runs > 0;
    document.configurations.iter().filter(of_stage).collect()
}

/// Says whether it is the unchanged machine, run a second time: a ratio without any mitigation.
fn is_control(one: &AblateConfiguration) -> bool {
    one.mitigations.is_empty() && one.spread_ratio.is_some()
}

/// Returns the colour of a verdict's word.
fn role(verdict: MitigationVerdict) -> Role {
    match verdict {
        MitigationVerdict::Helps => Role::Faster,
        MitigationVerdict::Harms => Role::Slower,
        MitigationVerdict::Nothing => Role::Equivalent,
        MitigationVerdict::Undecided => Role::Inconclusive,
    }
}

#[cfg(test)]
mod tests;
