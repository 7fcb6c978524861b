//! An experiment as one HTML page that needs nothing else.

use std::fmt::Write as _;

use becalm_model::ablate::{AblateConfiguration, AblateDocument, AblateRatio, Stage};

use super::{STAGES, of_stage, plot, said, tables};
use crate::escape;
use crate::html::{head, list};
use crate::moment;
use crate::quantity::times;
use crate::strip::Median;
use crate::svg::{Bar, Bars, Mark, StripRow, bars, strip_of, within};
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
    let drawn: Vec<(&AblateConfiguration, &AblateRatio)> =
        configurations.iter().filter_map(|one| Some((*one, one.spread_ratio.as_ref()?))).collect();
    let said = |(one, ratio): &(&AblateConfiguration, &AblateRatio)| {
        let verdict = one.verdict.map_or(String::new(), |verdict| format!("{}, ", verdict.name()));
        format!("{verdict}x {} ({})", times(ratio.ratio), said::interval(ratio))
    };
    let rows: Vec<Bar<'_>> = drawn
        .iter()
        .map(|both| Bar {
            label: &both.0.label,
            note: said(both),
            marks: vec![Mark {
                style: 0,
                value: both.1.ratio,
                interval: Some((both.1.low, both.1.high)),
                tip: said(both),
            }],
        })
        .collect();
    let words: Vec<String> =
        drawn.iter().map(|both| format!("{}: {}.", both.0.label, said(both))).collect();
    let picture = Bars {
        title: "Spread with each configuration",
        in_words: &format!("Spread over that of {reference}. {}", words.join(" ")),
        axis: "spread, as a multiple",
        from: Some(1.0),
        at_least: Some((0.5, 2.0)),
        number: &|value| format!("x {}", plain(value)),
        legend: &[],
        rows: &rows,
    };
    let Some(drawing) = bars(&picture, &format!("effects-{}", stage.name())) else {
        return String::new();
    };
    let caption = format!(
        "The spread of each configuration over that of {reference}, which is the solid line: a bar to the left is less \
         spread. The line through its end is the interval. Equal distances are equal ratios."
    );
    let caption = escape::html(&caption);
    format!("<figure>{}<figcaption>{caption}</figcaption>\n</figure>\n", within(&drawing))
}

/// Writes a round number of an axis.
fn plain(value: f64) -> String {
    if value >= 1.0 { format!("{value:.0}") } else { format!("{value}") }
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
    let in_words =
        format!("Every run as one dot, a row for each of {} configurations.", rows.len());
    let drawn = strip_of(&rows, &unit, what, &in_words, stage.name());
    let caption = "One dot per run. The bar below the dots is the median.";
    drawn.map_or_else(String::new, |drawn| {
        format!("<figure>{}<figcaption>{caption}</figcaption>\n</figure>\n", within(&drawn))
    })
}
