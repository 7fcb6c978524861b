//! The pictures of an article's experiments: its figures beside this machine's, and distributions over the same bins.

use becalm_model::wire::{ExperimentDocument, FigureDocument, ReproducedRow};
use becalm_model::{Metric, Unit};
use becalm_stats::{Sample, center};

use super::figures::number;
use crate::bars::{Bar, Bars, Mark};
use crate::page::ELSEWHERE;
use crate::pictures::Picture;
use crate::samples::{Row, Samples};
use crate::strip::Median;
use crate::svg::{bars, histograms};

/// Figures that say most, best first.
const TELLING: [&str; 4] = ["cv", "relative_cv", "standard_deviation", "mean"];

const ARTICLE: usize = 0;
const HERE: usize = 1;

/// Draws the most telling figure that both have: each row's of the article and of this machine.
pub(super) fn figures(experiment: &ExperimentDocument, n: usize) -> Option<Picture> {
    // Counters differ by more than their names: no axis suits all of them.
    if experiment.counters {
        return None;
    }
    let figure = TELLING.iter().find_map(|name| {
        let figure = experiment.figures.iter().find(|figure| figure.name == *name)?;
        let has =
            |row: &ReproducedRow| row.article.contains_key(*name) && row.here.contains_key(*name);
        experiment.rows.iter().any(has).then_some(figure)
    })?;
    let mark = |style: usize, value: Option<&f64>, row: &ReproducedRow| {
        let value = *value?;
        let tip = match row.stated.get(&figure.name) {
            // Of a bound the article's words say that it is one.
            Some(stated) if style == ARTICLE => format!("article {stated}"),
            _ if style == ARTICLE => format!("article {}", written(figure, value)),
            _ => format!("here {}", written(figure, value)),
        };
        Some(Mark { style, value, interval: None, tip })
    };
    let rows: Vec<Bar<'_>> = experiment
        .rows
        .iter()
        .map(|row| {
            let article = mark(ARTICLE, row.article.get(&figure.name), row);
            let here = mark(HERE, row.here.get(&figure.name), row);
            let marks: Vec<Mark> = article.into_iter().chain(here).collect();
            let tips: Vec<&str> = marks.iter().map(|mark| mark.tip.as_str()).collect();
            let skipped = row.left_out.as_ref().map(|_| "skipped here");
            let note = tips.into_iter().chain(skipped).collect::<Vec<_>>().join(", ");
            Bar { label: &row.name, note, marks }
        })
        .filter(|row| !row.marks.is_empty())
        .collect();
    let words: Vec<String> =
        rows.iter().map(|row| format!("{}: {}.", row.label, row.note)).collect();
    let drawing = bars(
        &Bars {
            title: &format!("{} of the article and of this machine", figure.title),
            in_words: &format!("{}: {}", figure.title, words.join(" ")),
            axis: &figure.title,
            from: None,
            at_least: None,
            number: &|value| written(figure, value),
            legend: &["article", "here"],
            rows: &rows,
        },
        &format!("figures-{n}"),
    )?;
    let caption = format!(
        "{}, of the article and of this machine, on a scale of equal ratios: compare how far each row is from the first, \
         in both.",
        figure.title
    );
    Some(Picture { section: "", drawing, caption })
}

fn written(figure: &FigureDocument, value: f64) -> String {
    number(value, &figure.unit, &ELSEWHERE)
}

/// Draws the values of each row as histograms in the same bins.
pub(super) fn distributions(experiment: &ExperimentDocument, n: usize) -> Option<Picture> {
    let rows = experiment.rows.iter().filter_map(|row| {
        let sample = Sample::new(row.runs.concat()).ok()?;
        let median = Median { value: center::median(&sample), interval: None };
        Some((row.name.clone(), sample, median))
    });
    let rows = rows.enumerate().map(|(style, (label, sample, median))| Row {
        style,
        label,
        sample,
        cut_off: None,
        median,
    });
    let rows: Vec<Row> = rows.collect();
    let metric = Metric::lower("time of each value", Unit::Second);
    let samples = Samples { metric, each: "value", rows };
    let drawing = histograms(&samples, &format!("distributions-{n}"))?;
    let caption =
        "How often each value came up here, in the same bins; the axis on the left counts values.";
    Some(Picture { section: "", drawing, caption: caption.to_owned() })
}
