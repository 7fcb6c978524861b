//! Ridges of a series: the values of each level between confirmed changes, the newest on top.

use becalm_model::Metric;
use becalm_model::wire::WebSeriesDocument;
use becalm_stats::Sample;
use becalm_stats::center::median;

use super::frame::{clipped, unit};
use crate::pictures::Picture;
use crate::quantity::count;
use crate::samples::{Row, Samples};
use crate::strip::Median;
use crate::svg;

/// Levels that are drawn: each has a row of its own.
const MOST: usize = 12;

/// Draws the points of a page by their levels, if there are at least two.
pub(super) fn ridges(document: &WebSeriesDocument) -> Option<String> {
    let rows: Vec<Row> = (document.levels.iter().rev())
        .filter_map(|level| {
            let of_level = (document.points.iter())
                .filter(|point| (level.first..=level.last).contains(&point.index));
            let (first, last) =
                (of_level.clone().next()?.index, of_level.clone().next_back()?.index);
            let sample = Sample::new(of_level.map(|point| point.value).collect()).ok()?;
            let (label, median) = if first == last {
                (format!("point {}", first + 1), sample.minimum())
            } else {
                (format!("points {} to {}", first + 1, last + 1), median(&sample))
            };
            let label = format!("{label}, {}", count(sample.len(), "value"));
            let median = Median { value: median, interval: None };
            Some(Row { style: 0, label, sample, cut_off: None, median })
        })
        .take(MOST)
        .enumerate()
        .map(|(style, row)| Row { style, ..row })
        .collect();
    if rows.len() < 2 {
        return None;
    }
    let metric = Metric::lower(&clipped(&document.series.metric), unit(&document.series.unit));
    let drawing = svg::ridges(&Samples { metric, each: "value", rows }, "levels")?;
    let caption = "The points of this page by level, the newest on top: a histogram of each in the same bins, as high as its \
                   own fullest bin. Below it every point is a line; the thick line is the median."
        .to_owned();
    Some(Picture { section: "", drawing, caption }.figure())
}
