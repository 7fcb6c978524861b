//! What stands below a picture is what is drawn: captions are held against the parts of their pictures, and pictures
//! against the data.

mod fixture;

use becalm_model::{DisturbedRun, Record};
use becalm_report::{Beside, html, plot_png, plot_svg};

/// A picture of the page: its markup and its caption.
struct Figure {
    drawing: String,
    caption: String,
}

impl Figure {
    /// Counts the parts of a class.
    fn count_of(&self, class: &str) -> usize {
        let classes = self.drawing.split("class=\"").skip(1);
        classes
            .filter(|rest| rest.split('"').next().unwrap().split(' ').any(|c| c == class))
            .count()
    }

    fn id(&self) -> &str {
        self.drawing.split("aria-labelledby=\"").nth(1).unwrap().split("-title").next().unwrap()
    }
}

fn figures(record: &Record, disturbed: &[DisturbedRun]) -> Vec<Figure> {
    let page = html(record, disturbed).replace('\u{a0}', " ");
    let figure = |text: &str| {
        let (drawing, rest) = text.split_once("<figcaption>").unwrap();
        let (caption, _) = rest.split_once("</figcaption>").unwrap();
        Figure { drawing: drawing.to_owned(), caption: caption.to_owned() }
    };
    page.split("<figure>").skip(1).map(figure).collect()
}

/// Words of captions, with the class of what they name.
const NAMED: [(&str, &str); 6] = [
    ("rosses", "cross"),
    ("shaded", "warmup"),
    ("Blue band", "margin-band"),
    ("orange band", "interval-band"),
    ("dashed line", "estimate"),
    ("median with its interval", "interval"),
];

fn every_record() -> Vec<(&'static str, Record, Vec<DisturbedRun>)> {
    let mut cold = fixture::comparison();
    cold.runs.retain(|run| !run.warmup);
    let mut without_margin = fixture::comparison();
    without_margin.margin = 0.0;
    let mut short = fixture::single();
    short.runs.retain(|run| !run.warmup && run.round < 3);
    vec![
        ("comparison", fixture::comparison(), fixture::disturbed()),
        ("undisturbed", fixture::comparison(), vec![]),
        ("cold", cold, vec![]),
        ("without a margin", without_margin, vec![]),
        ("ranking", fixture::ranking(), vec![]),
        ("undecided", fixture::undecided(), fixture::disturbed()),
        ("the same program", fixture::same_program(), vec![]),
        ("one", fixture::single(), vec![]),
        ("short", short, vec![]),
    ]
}

#[test]
fn captions_name_what_is_drawn_and_nothing_else() {
    for (name, record, disturbed) in every_record() {
        let figures = figures(&record, &disturbed);
        assert!(!figures.is_empty(), "{name}");
        for figure in &figures {
            if figure.id().starts_with("violin") {
                continue;
            }
            for (word, class) in NAMED {
                let (is_said, n) = (figure.caption.contains(word), figure.count_of(class));
                assert_eq!(
                    is_said,
                    n > 0,
                    "{name}, {}: {n} {class}: {}",
                    figure.id(),
                    figure.caption
                );
            }
        }
    }
}

#[test]
fn there_is_a_mark_for_every_run() {
    let (record, disturbed) = (fixture::comparison(), fixture::disturbed());
    let of = |id: &str| {
        let mut figures = figures(&record, &disturbed);
        let at = figures.iter().position(|one| one.id().starts_with(id)).unwrap();
        figures.swap_remove(at)
    };
    let measured = record.runs.iter().filter(|run| !run.warmup).count();
    assert_eq!(of("strip").count_of("dot"), measured);
    let sequence = of("sequence");
    assert_eq!(sequence.count_of("dot"), record.runs.len());
    assert_eq!(sequence.count_of("cross"), disturbed.len());
    assert!(sequence.drawing.contains("72 runs, the first 4 of them warm-up; 2 disturbed."));
    let paired = of("paired");
    let marks = ["dot", "cross", "beyond"].map(|class| paired.count_of(class));
    assert_eq!(marks.iter().sum::<usize>(), measured / 2);
    assert!(paired.caption.contains("the margin of 1 %"), "{}", paired.caption);
}

#[test]
fn files_have_the_pictures_of_the_page() {
    for (name, record, disturbed) in every_record() {
        let svg = plot_svg(&record, &disturbed, None, &[]);
        let all = plot_svg(&record, &disturbed, None, &[Beside::Box]);
        assert!(all.len() > svg.len(), "{name}");
        for figure in figures(&record, &disturbed) {
            let title =
                figure.drawing.split("-title\">").nth(1).unwrap().split('<').next().unwrap();
            assert!(all.contains(title), "{name}: {title}");
        }
        assert!(!svg.contains("var("), "{name}: not every viewer knows variables");
    }
    let png = plot_png(&fixture::comparison(), &[], None, &[]).unwrap();
    assert!(png.starts_with(b"\x89PNG"));
}
