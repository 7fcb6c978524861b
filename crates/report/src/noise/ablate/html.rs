//! An experiment as one HTML page that needs nothing else.

use std::fmt::Write as _;

use becalm_model::ablate::{AblateConfiguration, AblateDocument, Stage};

use super::effects::with_effects;
use super::{STAGES, of_stage, plot, said, tables};
use crate::escape;
use crate::html::{head, list};
use crate::moment;
use crate::pictures::strip_caption;
use crate::strip::Median;
use crate::svg::{StripRow, bars, strip_of, within};
use crate::table::{Align, Table};

/// Writes a whole experiment as one HTML page. It follows the reader's light or dark preference.
pub fn ablate_html(document: &AblateDocument) -> String {
    let lines = said::headline(document);
    let title = lines.first().map_or("becalm noise ablate", |(_, text)| text.as_str());
    let mut out = head(&document.becalm, title);
    out.push_str("<header>\n");
    let command = std::iter::once("becalm".to_owned()).chain(document.arguments.iter().cloned());
    let _ = writeln!(
        out,
        "<p class=\"quiet\"><code>{}</code><br>{}</p>",
        escape::html(&command.collect::<Vec<_>>().join(" ")),
        moment::utc(document.started_at)
    );
    for (index, (role, text)) in lines.iter().enumerate() {
        let element = if index == 0 { "h1" } else { "div" };
        let _ = writeln!(
            out,
            "<{element} class=\"headline {}\"><span class=\"said\">{}</span></{element}>",
            role.class(),
            escape::html(text)
        );
    }
    let _ = writeln!(out, "<p>{}</p>\n</header>\n<main>", escape::html(&said::extent(document)));
    for (stage, title, reference) in STAGES {
        let configurations = of_stage(document, stage);
        if configurations.is_empty() {
            continue;
        }
        let _ = write!(out, "<h2>{title}</h2>\n{}", tables::spread(&configurations, true).html());
        let _ = write!(
            out,
            "<h3>Against {reference}</h3>\n{}",
            tables::effects(&configurations).html()
        );
        out.push_str(&effects(&configurations, stage, reference));
        out.push_str(&drawing(document, stage));
        if let Some(counters) = tables::counters(&configurations, true) {
            let _ = write!(out, "<h3>Counters</h3>\n{}", counters.html());
        }
    }
    list(&mut out, "How to read this", &said::legend(document));
    list(&mut out, "Often recommended, and its effect here", &said::popular(document));
    let reasons = said::not_tried(document);
    if !reasons.is_empty() {
        let mut table = Table::new([("mitigation", Align::Left), ("why not", Align::Left)]);
        for (name, why) in &reasons {
            table.push([(*name).into(), (*why).into()]);
        }
        let _ = write!(out, "<h2>Not tried</h2>\n{}", table.html());
    }
    if let Some(recommendation) = &document.recommendation {
        let _ = write!(
            out,
            "<h2>Profile</h2>\n<pre><code>{}</code></pre>\n",
            escape::html(&recommendation.profile)
        );
    }
    list(&mut out, "Limits", &said::limits(document));
    if !document.machine.facts.is_empty() {
        let mut table = Table::new([("", Align::Left), ("", Align::Left)]);
        for (name, value) in &document.machine.facts {
            table.push([name.as_str().into(), value.as_str().into()]);
        }
        let _ = write!(out, "<h2>Machine</h2>\n{}", table.html());
    }
    out.push_str("</main>\n</body>\n</html>\n");
    out
}

/// Draws what each configuration does to the spread, with its interval.
fn effects(configurations: &[&AblateConfiguration], stage: Stage, reference: &str) -> String {
    let id = format!("effects-{}", stage.name());
    let drawing = with_effects(configurations, reference, |picture| bars(picture, &id));
    let Some(drawing) = drawing.flatten() else { return String::new() };
    let caption = format!(
        "The spread of each configuration over that of {reference}, which is the solid line: a bar to the left is less \
         spread. The line through its end is the interval. Equal distances are equal ratios."
    );
    let caption = escape::html(&caption);
    format!("<figure>{}<figcaption>{caption}</figcaption>\n</figure>\n", within(&drawing))
}

fn drawing(document: &AblateDocument, stage: Stage) -> String {
    let dots = plot::dots(document, stage);
    let rows: Vec<StripRow<'_>> = dots
        .iter()
        .enumerate()
        .map(|(index, one)| StripRow {
            style: index,
            label: one.label,
            values: &one.values,
            median: Median { value: one.median, interval: None },
        })
        .collect();
    let (unit, what) = plot::axis(document);
    let in_words = format!("Every run, in a row for each of {} configurations.", rows.len());
    let drawn = strip_of(&rows, &unit, what, &in_words, stage.name());
    drawn.map_or_else(String::new, |drawn| {
        let caption = strip_caption(&drawn);
        format!("<figure>{}<figcaption>{caption}</figcaption>\n</figure>\n", within(&drawn))
    })
}
