//! Draws a view of the records that the tests use, to be looked at:
//! `cargo run -p becalm-report --example look -- compare`.
#![expect(clippy::print_stdout, reason = "an example exists to print")]

#[path = "../tests/fixture/mod.rs"]
mod fixture;

use becalm_model::{Record, Run};
use becalm_report::{
    Detail, PictureKind, Plotted, SharedAxes, Sides, Style, comparison_text, diff_text, facts_text,
    hist_text, html, markdown, metadata_text, plot_svg, plot_text, run_text, samples_text,
    show_text, stats_text,
};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let ascii = arguments.iter().any(|argument| argument == "ascii");
    let colour = arguments.iter().any(|argument| argument == "colour");
    let style = &Style { width: 80, colour, unicode: !ascii };
    let detail = if arguments.iter().any(|argument| argument == "short") {
        Detail::Short
    } else {
        Detail::Full
    };
    let disturbed = &fixture::disturbed();
    let view = arguments.first().map_or("compare", String::as_str);
    let text = match view {
        "compare" => comparison_text(&fixture::comparison(), disturbed, detail, style),
        "ranking" => comparison_text(&fixture::ranking(), disturbed, detail, style),
        "undecided" => comparison_text(&fixture::undecided(), disturbed, detail, style),
        "aa" => comparison_text(&fixture::same_program(), disturbed, detail, style),
        "run" => run_text(&fixture::single(), &[], detail, style),
        "stats" => stats_text(&fixture::comparison(), style),
        "hist" => hist_text(&fixture::comparison(), None, 12, &SharedAxes::default(), style),
        "plot" => plot_text(
            &fixture::comparison(),
            disturbed,
            None,
            &SharedAxes::default(),
            &PictureKind::USUAL,
            &[],
            style,
        ),
        "show" => show_text(&fixture::comparison(), disturbed, style),
        "metadata" => metadata_text(&fixture::comparison(), style),
        "facts" => facts_text(&fixture::comparison().machine, style),
        "markdown" => markdown(&fixture::comparison(), disturbed),
        "html" => html(&fixture::comparison(), disturbed),
        "html-ranking" => html(&fixture::ranking(), disturbed),
        "html-run" => html(&fixture::single(), &[]),
        "diff" => {
            let (old, mut new) = (fixture::comparison(), fixture::comparison());
            new.machine.facts.insert("kernel_release".into(), "6.12.1".into());
            let comparisons = new.comparisons.clone();
            diff_text((&old, &new), Sides::Apart, &comparisons, (0.01, 0.95), &[], style)
        }
        "svg" | "kinds" => {
            let records = [3, 30, 30_000].map(of_size);
            let names = records.each_ref().map(|record| format!("runs-{}.json", record.runs.len()));
            let files = records.iter().zip(&names);
            let files: Vec<Plotted<'_>> =
                files.map(|(record, name)| Plotted { name, record, disturbed: &[] }).collect();
            let kinds = [
                PictureKind::Histogram,
                PictureKind::Ecdf,
                PictureKind::Ridges,
                PictureKind::Spectrum,
            ];
            if view == "svg" {
                plot_svg(&files, None, &kinds)
            } else {
                let axes = SharedAxes::of(&records, None);
                samples_text(&files, None, &axes, &kinds, style)
            }
        }
        other => format!("no view is called {other}"),
    };
    println!("{text}");
}

/// A record with so many runs, a tenth of which take long.
fn of_size(n: u32) -> Record {
    let mut record = fixture::single();
    let run = record.runs.iter().find(|run| !run.warmup).cloned().unwrap();
    record.runs = (0..n)
        .map(|round| {
            let share = (f64::from(round) * 0.618_033_988_749_895).fract();
            let mut run = Run { round, ..run.clone() };
            let slow = if round % 10 == 3 { 0.006 } else { 0.0 };
            let value = 0.03 + f64::from(n).log10() * 0.001 + 0.002 * share.powi(3) + slow;
            run.values.iter_mut().for_each(|one| *one = Some(value));
            run
        })
        .collect();
    record
}
