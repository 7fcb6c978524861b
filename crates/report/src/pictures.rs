//! The pictures of a record, each with a caption that says how to read it: in the HTML report and in `plot --svg`.

use std::fmt::Write as _;

use becalm_model::{DisturbedRun, Record};

use crate::disturbed;
use crate::escape;
use crate::iterations::{self, Iterations, more_not_drawn};
use crate::labels::Labels;
use crate::paired;
use crate::quantity::percent;
use crate::remarks;
use crate::samples::{Named, Row, Samples};
use crate::scan::{self, Scan};
use crate::shown;
use crate::svg::{self, Svg};

/// The section of every run as a dot.
pub(crate) const EVERY_RUN: &str = "Every run";
/// The section of the ratio in each round.
pub(crate) const DIFFERENCES: &str = "Paired differences per round";

/// A picture with what stands around it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Picture {
    /// The section it stands in; pictures of one section follow each other.
    pub(crate) section: &'static str,
    pub(crate) drawing: Svg,
    pub(crate) caption: String,
}

impl Picture {
    /// Returns the picture with its caption, as a part of a web page.
    pub(crate) fn figure(&self) -> String {
        let (drawing, caption) = (svg::within(&self.drawing), escape::html(&self.caption));
        format!("<figure>\n{drawing}<figcaption>{caption}</figcaption>\n</figure>\n")
    }
}

/// A kind of picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Medians against the number by which subjects differ.
    Parameter,
    /// Every run as a dot.
    Dots,
    /// The ratio in each round.
    Differences,
    /// Runs in time order.
    Order,
    /// Histograms in the same bins.
    Histogram,
    /// The share of the runs up to each value.
    Ecdf,
    /// Low histograms below each other, with every run as a line.
    Ridges,
    /// Values by percentile, the tail as wide as the middle.
    Spectrum,
    /// Box plots in violins.
    Violin,
    /// Iterations inside the processes.
    Iterations,
}

impl Kind {
    /// What a page shows and a file has if nobody asks for anything else.
    pub const USUAL: [Self; 6] = [
        Self::Parameter,
        Self::Dots,
        Self::Differences,
        Self::Order,
        Self::Histogram,
        Self::Iterations,
    ];

    /// Kinds that a file can have alone, with their names and what they show. Violins are drawn beside dots.
    pub const NAMED: [(Self, &str, &str); 9] = [
        (
            Self::Parameter,
            "parameter",
            "Medians against the number by which subjects differ (`--parameter-scan`)",
        ),
        (Self::Dots, "dots", "Every run as a dot"),
        (Self::Differences, "differences", "The ratio in each round, in SVG and PNG alone"),
        (Self::Order, "order", "Runs in time order"),
        (Self::Histogram, "histogram", "Histograms in the same bins"),
        (Self::Ecdf, "ecdf", "The share of the runs that do not exceed a value"),
        (
            Self::Ridges,
            "ridges",
            "Low histograms below each other in the same bins, with every run as a line",
        ),
        (Self::Spectrum, "spectrum", "Values by percentile, with a tail as wide as the middle"),
        (Self::Iterations, "iterations", "Iterations inside each process"),
    ];

    /// Returns the kind of this name.
    pub fn of_name(name: &str) -> Option<Self> {
        Self::NAMED.into_iter().find(|(_, known, _)| *known == name).map(|(kind, ..)| kind)
    }

    /// Further views of what the others show, folded on a page.
    pub(crate) const FURTHER: [Self; 4] = [Self::Ecdf, Self::Ridges, Self::Spectrum, Self::Violin];

    /// Says whether samples of several records are in one picture of this kind.
    pub(crate) fn is_of_samples(self) -> bool {
        match self {
            Self::Dots
            | Self::Histogram
            | Self::Ecdf
            | Self::Ridges
            | Self::Spectrum
            | Self::Violin => true,
            Self::Parameter | Self::Differences | Self::Order | Self::Iterations => false,
        }
    }
}

/// A record with what its pictures need.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Drawn<'a> {
    pub(crate) record: &'a Record,
    pub(crate) labels: &'a Labels,
    pub(crate) disturbed: &'a [DisturbedRun],
}

/// Returns the pictures of these kinds and metrics that the record has values for.
pub(crate) fn of(drawn: Drawn<'_>, metrics: &[usize], kinds: &[Kind]) -> Vec<Picture> {
    let one = |kind: &Kind| of_kind(drawn, metrics, *kind);
    kinds.iter().flat_map(one).collect()
}

fn of_kind(drawn: Drawn<'_>, metrics: &[usize], kind: Kind) -> Vec<Picture> {
    let Drawn { record, labels, disturbed } = drawn;
    let each = |of: &dyn Fn(usize) -> Option<Picture>| -> Vec<Picture> {
        metrics.iter().filter_map(|&metric| of(metric)).collect()
    };
    match kind {
        Kind::Parameter => {
            let scanned = scan::of(record);
            let all = scanned.iter();
            all.flat_map(|scanned| each(&|metric| against(record, labels, scanned, metric)))
                .collect()
        }
        Kind::Differences => differences(record, labels, disturbed, metrics),
        Kind::Order => each(&|metric| sequence(record, labels, disturbed, metric)),
        Kind::Iterations => iterations(record, labels),
        kind => each(&|metric| of_samples(kind, &Samples::of(record, labels, metric)?, metric)),
    }
}

/// Returns the pictures of these kinds for several records with the names of their files: samples of one metric in one
/// picture, and everything else for one record after the other.
pub(crate) fn of_several(
    files: &[(&str, Drawn<'_>)],
    metric: Option<&str>,
    kinds: &[Kind],
) -> Vec<Picture> {
    let mut from = 0;
    let mut named: Vec<Named<'_>> = Vec::new();
    for (_, Drawn { record, labels, .. }) in files {
        named.push(Named { record, labels, from });
        from += record.subjects.len();
    }
    let samples = Samples::of_all(&named, metric);
    let of_each = |kind: &Kind| -> Vec<Picture> {
        if kind.is_of_samples() {
            let all = samples.iter().enumerate();
            return all.filter_map(|(n, samples)| of_samples(*kind, samples, n)).collect();
        }
        let of_file = |(n, (name, drawn)): (usize, &(&str, Drawn<'_>))| {
            let metrics = shown::plotted_metrics(drawn.record, metric);
            let mut all = of_kind(*drawn, &metrics, *kind);
            for picture in &mut all {
                picture.drawing.id = format!("file{n}-{}", picture.drawing.id);
                picture.caption = format!("{name}: {}", picture.caption);
            }
            all
        };
        files.iter().enumerate().flat_map(of_file).collect()
    };
    kinds.iter().flat_map(of_each).collect()
}

/// Draws samples over one axis.
fn of_samples(kind: Kind, samples: &Samples, n: usize) -> Option<Picture> {
    let id = |name: &str| format!("{name}-{n}");
    let picture = |section, drawing, caption: &str| {
        Some(Picture { section, drawing, caption: caption.to_owned() })
    };
    match kind {
        Kind::Dots => {
            let drawing = svg::strip(samples, &id("strip"))?;
            let caption = strip_caption(&drawing);
            picture(EVERY_RUN, drawing, &caption)
        }
        Kind::Histogram => picture(
            "Distribution",
            svg::histograms(samples, &id("histogram"))?,
            "How often each value came up, per subject, in the same bins; the axis on the left counts runs.",
        ),
        Kind::Ecdf => {
            let drawing = svg::ecdf(samples, &id("ecdf"))?;
            let mut caption = "The share of the runs that do not exceed a value: where a curve is further left, values are \
                               smaller; where it is steep, many are alike. "
                .to_owned();
            let is_small = |row: &Row| row.sample.len() < svg::FEW_RUNS;
            caption.push_str(match samples.rows.iter().filter(|row| is_small(row)).count() {
                0 => "Marks are at 10, 25, 50, 75 and 90 %.",
                n if n == samples.rows.len() => "Marks are at 50 %.",
                _ => "Marks are at 10, 25, 50, 75 and 90 %, with few runs at 50 % alone.",
            });
            caption.push_str(&bounds(&drawing, "further right"));
            picture("Cumulative distribution", drawing, &caption)
        }
        Kind::Ridges => picture(
            "Ridges",
            svg::ridges(samples, &id("ridges"))?,
            "A histogram of each in the same bins, as high as its own fullest bin. Below it every run is a line; the thick \
             line is the median.",
        ),
        Kind::Spectrum => {
            let drawing = svg::spectrum(samples, &id("spectrum"))?;
            let mut caption = "Values by percentile. Each nine to the right is a tenth of the runs of the one before; each \
                               curve ends at the largest of its runs, beyond which they show nothing."
                .to_owned();
            if drawing.count_of("decade") > 0 {
                caption.push_str(" Equal distances upwards are equal ratios.");
            }
            caption.push_str(&bounds(&drawing, "above"));
            picture("Percentiles", drawing, &caption)
        }
        Kind::Violin => picture(
            "Box plots and violins",
            svg::violins(samples, &id("violin"))?,
            "Quartiles and median; whiskers to the farthest value within one and a half times the distance between the \
             quartiles. The outline is a smooth density.",
        ),
        Kind::Parameter | Kind::Differences | Kind::Order | Kind::Iterations => None,
    }
}

/// Says what a strip plot shows.
pub(crate) fn strip_caption(drawing: &Svg) -> String {
    let each = match drawing.count_of("span") {
        0 => "One dot per run. The bar below the dots is the median",
        _ => {
            "Each bar spans the runs at its place, and is as high as they are many. The mark below the bars is the median"
        }
    };
    let interval = if drawing.count_of("interval") > 0 { " with its interval" } else { "" };
    format!("{each}{interval}.")
}

/// Says what the dashed part of a curve is, if there is one.
fn bounds(drawing: &Svg, beyond: &str) -> String {
    match drawing.count_of("at-least") {
        0 => String::new(),
        _ => {
            format!(" Where a curve is dashed, runs were cut off: the truth is there or {beyond}.")
        }
    }
}

/// Draws what subjects take against the number by which they differ.
fn against(record: &Record, labels: &Labels, scanned: &Scan, metric: usize) -> Option<Picture> {
    let drawing = svg::scan(record, labels, scanned, metric, &format!("scan-{metric}"))?;
    let bars = if drawing.count_of("interval") > 0 {
        "Each mark is a median, the bar through it its interval"
    } else {
        "Each mark is a median"
    };
    let name = shown::metric_at(record, metric).name;
    let mut caption = format!("{name} against {}. {bars}.", scanned.parameter);
    caption.push_str(match drawing.count_of("decade") {
        0 => "",
        _ => " Equal distances on an axis without even steps are equal ratios.",
    });
    Some(Picture { section: "Against the parameter", drawing, caption })
}

/// Where there are many crosses.
const FARTHEST: &str = " Of the crosses at a place, the highest and the lowest are drawn.";

fn differences(
    record: &Record,
    labels: &Labels,
    disturbed: &[DisturbedRun],
    metrics: &[usize],
) -> Vec<Picture> {
    let marked = disturbed::positions(disturbed);
    let deciding = remarks::deciding(record);
    let drawn = deciding.iter().enumerate().filter_map(|(n, comparison)| {
        let rounds = paired::rounds(record, comparison, &marked);
        let drawing = svg::paired(record, labels, comparison, &rounds, &format!("paired-{n}"))?;
        let mut caption = format!(
            "{} against {}, {}, round by round. ",
            labels.get(comparison.candidate),
            labels.get(comparison.baseline),
            shown::metric_at(record, comparison.metric).name,
        );
        if drawing.count_of("margin-band") > 0 {
            let margin = percent(record.margin);
            let _ = write!(
                caption,
                "Blue band around the solid line, which is no change: the margin of {margin}"
            );
        } else {
            caption.push_str("The solid line is no change");
        }
        if drawing.count_of("interval-band") > 0 {
            caption.push_str("; orange band around the dashed line: the interval of the estimate");
        }
        caption.push('.');
        let has_spans = drawing.count_of("span") > 0;
        if has_spans {
            caption.push_str(
                " Each bar spans the rounds at its place; half of them are in its darker part.",
            );
        }
        if drawing.count_of("cross") > 0 {
            caption.push_str(" Crosses are rounds with a disturbed run.");
            caption.push_str(if has_spans { FARTHEST } else { "" });
        }
        metrics.contains(&comparison.metric).then_some(Picture {
            section: DIFFERENCES,
            drawing,
            caption,
        })
    });
    drawn.collect()
}

fn sequence(
    record: &Record,
    labels: &Labels,
    disturbed: &[DisturbedRun],
    metric: usize,
) -> Option<Picture> {
    let id = format!("sequence-{metric}");
    let drawing = svg::sequence(record, labels, disturbed, metric, &id)?;
    let mut caption = "Drift, steps and warm-up would show here.".to_owned();
    let has_spans = drawing.count_of("span") > 0;
    if has_spans {
        caption.push_str(
            " Each bar spans the runs of a subject at its place, from the smallest to the largest value; half of them are in \
             its darker part.",
        );
    }
    let is_shaded = drawing.count_of("warmup") > 0;
    let has_crosses = drawing.count_of("cross") > 0;
    caption.push_str(match (is_shaded, has_crosses) {
        (true, true) => " The shaded part is warm-up; crosses are disturbed runs.",
        (true, false) => " The shaded part is warm-up.",
        (false, true) => " Crosses are disturbed runs.",
        (false, false) => "",
    });
    if has_spans && has_crosses {
        caption.push_str(FARTHEST);
    }
    Some(Picture { section: "Runs in time order", drawing, caption })
}

/// Subjects whose iterations are drawn, at most: each picture has hundreds of marks.
const ITERATED: usize = 8;

/// Draws what happens inside the processes of subjects that time their iterations themselves.
fn iterations(record: &Record, labels: &Labels) -> Vec<Picture> {
    let one = |subject: usize| {
        let (runs, others) = iterations::of(record, subject);
        let id = format!("iterations-{subject}");
        let drawing = svg::iterations(&runs, subject, labels.get(subject), &id)?;
        let caption = iterations_caption(labels.get(subject), &drawing, &runs, others);
        Some(Picture { section: "Iterations inside each process", drawing, caption })
    };
    let all: Vec<usize> = (0..record.subjects.len())
        .filter(|&subject| record.measured(subject).any(|run| !run.iterations.is_empty()))
        .collect();
    let mut pictures: Vec<Picture> = all.iter().take(ITERATED).copied().filter_map(one).collect();
    if let (Some(last), true) = (pictures.last_mut(), all.len() > ITERATED) {
        let _ = write!(last.caption, " {}", more_not_drawn(all.len() - ITERATED, "subject"));
    }
    pictures
}

fn iterations_caption(
    label: &str,
    drawing: &Svg,
    runs: &[Iterations<'_>],
    others: usize,
) -> String {
    let mut caption = format!("{label}, iteration by iteration. ");
    caption.push_str(match (drawing.count_of("dot"), drawing.count_of("span")) {
        (0, _) => {
            "Each bar spans the iterations at its place, from the fastest to the slowest; half of them are in its darker part."
        }
        (_, 0) => "One dot per iteration.",
        _ => {
            "One dot per iteration, or where there are many a bar from the fastest to the slowest at its place, with half of \
             them in its darker part."
        }
    });
    if drawing.count_of("warmup") > 0 {
        let is_slower = runs.iter().any(Iterations::slows_down);
        let what = if is_slower { "what comes before" } else { "the warm-up before" };
        let _ = write!(caption, " The shaded part is {what} the steady state.");
    }
    if drawing.count_of("steady") > 0 {
        caption.push_str(" The dashed line is the level of the steady state.");
    }
    if drawing.count_of("cross") > 0 {
        caption.push_str(" Crosses are outliers.");
    }
    if others > 0 {
        let _ = write!(caption, " {}", more_not_drawn(others, "run"));
    }
    caption
}
