//! Draws a view of the records that the tests use, to be looked at:
//! `cargo run -p becalm-report --example look -- compare`.
#![expect(clippy::print_stdout, reason = "an example exists to print")]

#[path = "../tests/fixture/mod.rs"]
mod fixture;

use becalm_report::{
    Detail, SharedAxes, Sides, Style, comparison_text, diff_text, facts_text, hist_text, html,
    markdown, metadata_text, plot_text, run_text, show_text, stats_text,
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
        "plot" => {
            plot_text(&fixture::comparison(), disturbed, None, &SharedAxes::default(), &[], style)
        }
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
        other => format!("no view is called {other}"),
    };
    println!("{text}");
}
