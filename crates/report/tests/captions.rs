//! What stands below a picture is what is drawn: captions are held against the parts of their pictures, and pictures
//! against the data.

mod fixture;

use becalm_model::{DisturbedRun, Record, RecordKind};
use becalm_report::{PictureKind, Plotted, demo_html, html, plot_png, plot_svg};

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

/// Words of captions, with the classes of what they name.
const NAMED: [(&str, &str); 10] = [
    ("rosses", "cross"),
    ("One dot", "dot"),
    ("bar through it", "interval"),
    ("equal ratios", "decade"),
    ("bar spans", "span"),
    ("shaded", "warmup"),
    ("Blue band", "margin-band"),
    ("orange band", "interval-band"),
    ("dashed line", "estimate steady"),
    ("median with its interval", "interval"),
];

/// The first quarter of these iterations takes `first` seconds, the others 5 ms; one is an outlier.
fn iterations(n: usize, first: f64) -> Vec<f64> {
    let level = |i: usize| if i * 4 < n { first } else { 0.005 };
    let outlier = |i: usize| if i == n * 3 / 4 { 2.0 } else { 1.0 };
    (0..n).map(|i| level(i) * outlier(i) * (1.0 + 0.002 * ((i * 7 % 11) as f64 - 5.0))).collect()
}

/// The measured runs of a record again and again, until there are so many.
fn repeated(record: &Record, n: usize) -> Record {
    let mut many = record.clone();
    let measured: Vec<_> = record.runs.iter().filter(|run| !run.warmup).cloned().collect();
    let rounds = record.runs.last().unwrap().round + 1;
    for again in 1.. {
        if many.runs.len() >= n {
            break;
        }
        many.runs.extend(measured.iter().cloned().map(|mut run| {
            run.round += again * rounds;
            run
        }));
    }
    many
}

fn every_record() -> Vec<(&'static str, Record, Vec<DisturbedRun>)> {
    let mut cold = fixture::comparison();
    cold.runs.retain(|run| !run.warmup);
    let mut without_margin = fixture::comparison();
    without_margin.margin = 0.0;
    let mut short = fixture::single();
    short.runs.retain(|run| !run.warmup && run.round < 3);
    let warm = |n: usize, slow: f64| {
        let mut record = fixture::single();
        for (index, run) in record.runs.iter_mut().enumerate() {
            run.iterations = iterations(n, slow + index as f64 * 1e-6);
        }
        record
    };
    let scan = |values: [&str; 4]| {
        let mut record = fixture::bare(&["b1", "b2", "b3", "b4"]);
        record.kind = RecordKind::Run;
        for (subject, value) in record.subjects.iter_mut().zip(values) {
            subject.name = format!("sort {value}");
            subject.parameters = vec![("n".to_owned(), value.to_owned())];
        }
        record
    };
    vec![
        ("scan", scan(["1", "2", "3", "4"]), vec![]),
        ("scan by ratios", scan(["1", "10", "100", "1000"]), vec![]),
        ("warming up", warm(120, 0.008), vec![]),
        ("slowing down", warm(120, 0.003), vec![]),
        ("flat", warm(120, 0.005), vec![]),
        ("many iterations", warm(2000, 0.008), vec![]),
        ("few iterations", warm(7, 0.008), vec![]),
        ("comparison", fixture::comparison(), fixture::disturbed()),
        ("undisturbed", fixture::comparison(), vec![]),
        ("cold", cold, vec![]),
        ("without a margin", without_margin, vec![]),
        ("ranking", fixture::ranking(), vec![]),
        ("undecided", fixture::undecided(), fixture::disturbed()),
        ("the same program", fixture::same_program(), vec![]),
        ("one", fixture::single(), vec![]),
        ("short", short, vec![]),
        ("many runs", repeated(&fixture::comparison(), 2000), vec![]),
        ("many runs, some disturbed", repeated(&fixture::comparison(), 4000), fixture::disturbed()),
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
            assert_eq!(
                figure.count_of("interval") > 0,
                figure.caption.contains("with its interval")
                    || figure.caption.contains("bar through"),
                "{name}, {}",
                figure.id()
            );
            for (word, class) in NAMED {
                let is_said = figure.caption.contains(word);
                let n: usize = class.split(' ').map(|class| figure.count_of(class)).sum();
                // Dots and bars have names of their own in some pictures.
                if matches!(class, "dot" | "interval") && !is_said {
                    continue;
                }
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
fn pictures_of_very_many_runs_have_a_bounded_size() {
    let record = repeated(&fixture::comparison(), 30_000);
    let disturbed: Vec<DisturbedRun> = (0..record.runs.len())
        .step_by(3)
        .map(|run| DisturbedRun { run, ..fixture::disturbed()[0].clone() })
        .collect();
    let all = figures(&record, &disturbed);
    assert!(all.len() >= 8, "{}", all.len());
    for figure in all {
        let size = figure.drawing.len();
        assert!(size < 200_000, "{}: {size}", figure.id());
    }
}

#[test]
fn files_have_the_pictures_of_the_page() {
    for (name, record, disturbed) in every_record() {
        let file = Plotted { name: "a.json", record: &record, disturbed: &disturbed };
        let svg = plot_svg(&[file], None, &PictureKind::USUAL);
        let further =
            [PictureKind::Ecdf, PictureKind::Ridges, PictureKind::Spectrum, PictureKind::Violin];
        let all = plot_svg(&[file], None, &[&PictureKind::USUAL[..], &further].concat());
        assert!(all.len() > svg.len(), "{name}");
        for figure in figures(&record, &disturbed) {
            let title =
                figure.drawing.split("-title\">").nth(1).unwrap().split('<').next().unwrap();
            assert!(all.contains(title), "{name}: {title}");
        }
        assert!(!svg.contains("var("), "{name}: not every viewer knows variables");
    }
    let record = fixture::comparison();
    let file = Plotted { name: "a.json", record: &record, disturbed: &[] };
    let png = plot_png(&[file], None, &PictureKind::USUAL).unwrap();
    assert!(png.starts_with(b"\x89PNG"));
}

#[test]
fn samples_of_several_files_share_a_picture_and_everything_else_has_its_own() {
    let (one, other) = (fixture::single(), fixture::comparison());
    let file = |name, record| Plotted { name, record, disturbed: &[] };
    let files = [file("old.json", &one), file("<new>.json", &other)];
    let svg = plot_svg(&files, None, &PictureKind::USUAL);
    let drawn = |title: &str| svg.matches(title).count();
    for label in ["old.json", "&lt;new&gt;.json: A", "&lt;new&gt;.json: B"] {
        assert!(drawn(&format!(">{label}</text>")) >= 2, "{label}: {svg}");
    }
    assert_eq!(drawn(">Every run</text>") + drawn(">Distribution</text>"), 2);
    assert!(svg.contains("old.json: Drift") && svg.contains("&lt;new&gt;.json: Drift"));
    assert!(svg.contains(">Results of 2 files</text>"));
}

#[test]
fn runs_that_were_cut_off_are_lower_bounds_in_curves() {
    let mut record = fixture::single();
    let of = |record: &Record| {
        let mut all = figures(record, &[]);
        all.retain(|one| one.id().starts_with("ecdf") || one.id().starts_with("spectrum"));
        all
    };
    assert!(of(&record).iter().all(|one| !one.caption.contains("dashed")));
    let slowest = record.runs.iter_mut().filter(|run| !run.warmup);
    let slowest = slowest.max_by(|a, b| a.values[0].unwrap().total_cmp(&b.values[0].unwrap()));
    slowest.unwrap().outcome = becalm_model::Outcome::TimedOut;
    let cut_off = of(&record);
    assert_eq!(cut_off.len(), 2);
    for one in cut_off {
        assert!(one.caption.contains("dashed") && one.count_of("at-least") > 0, "{}", one.id());
    }
}

#[test]
fn iterations_are_drawn_with_their_warm_up_and_steady_state() {
    let of = |record: &Record| {
        let mut figures = figures(record, &[]);
        figures.retain(|figure| figure.id().starts_with("iterations"));
        figures.pop().unwrap()
    };
    let all = every_record();
    let named = |name: &str| of(&all.iter().find(|(known, ..)| *known == name).unwrap().1);
    let warm = named("warming up");
    assert!(warm.drawing.contains("warm up, steady after 30 of 120 iterations at 5.000 ms"));
    assert_eq!(["warmup", "steady", "cross"].map(|class| warm.count_of(class)), [3, 3, 3]);
    assert_eq!(warm.count_of("dot") + warm.count_of("cross"), 3 * 120);
    assert!(warm.caption.contains("the warm-up before the steady state"), "{}", warm.caption);
    assert!(warm.caption.ends_with("31 more runs are not drawn."), "{}", warm.caption);
    let slow = named("slowing down");
    assert!(slow.caption.contains("what comes before the steady state"), "{}", slow.caption);
    assert_eq!(named("flat").count_of("warmup"), 0);
    let few = named("few iterations");
    assert!(few.drawing.contains("7 iterations, too few to say whether it settles"));
    assert_eq!(few.count_of("steady"), 0);
}

#[test]
fn the_page_of_the_demonstration_has_the_same_program_twice_first() {
    let (same, other) = (fixture::same_program(), fixture::comparison());
    let page = demo_html((&same, &[]), (&other, &fixture::disturbed())).replace('\u{a0}', " ");
    let place = |text: &str| page.find(text).unwrap_or_else(|| panic!("{text} is missing"));
    assert!(
        place("B is 2.1 % slower")
            < place("no difference between two identical programs was found")
    );
    assert!(
        place("no difference between two identical programs was found")
            < place("id=\"same-strip-0-title\"")
    );
    assert!(place("id=\"same-paired-0-title\"") < place("A program against one that does more"));
    let ids: Vec<&str> =
        page.split(" id=\"").skip(1).map(|rest| rest.split('"').next().unwrap()).collect();
    let distinct: std::collections::BTreeSet<&str> = ids.iter().copied().collect();
    assert_eq!(ids.len(), distinct.len(), "{ids:?}");
}

#[test]
fn a_scan_is_drawn_against_its_parameter() {
    let all = every_record();
    for (name, is_by_ratios) in [("scan", false), ("scan by ratios", true)] {
        let record = &all.iter().find(|(known, ..)| *known == name).unwrap().1;
        let figures = figures(record, &[]);
        let scan = &figures[0];
        assert_eq!((scan.id(), scan.count_of("dot"), scan.count_of("joined")), ("scan-0", 4, 3));
        assert_eq!(scan.caption.contains("equal ratios"), is_by_ratios, "{}", scan.caption);
        assert!(scan.caption.starts_with("wall_time against n. Each mark is a median"));
    }
}
