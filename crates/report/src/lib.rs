//! Turns records into text, Markdown, SVG and HTML without any I/O.
//!
//! Every public function takes values and returns text. The caller says how wide the terminal is
//! and whether it shows colours ([`Style`]), and which runs were disturbed ([`becalm_model::DisturbedRun`]).
//!
//! It may use `model` and `stats`. Start reading in `comparison.rs`, which puts the report of a comparison
//! together; `sentence.rs` has the words of a verdict, `notes/` those of notes, limits and reasons.

mod axis;
mod bars;
mod benchmarks;
mod bisect;
mod boot;
mod box_violin;
mod canaries;
mod changes;
mod checks;
mod checkup;
mod ci;
mod comparison;
mod comparison_brief;
mod comparison_table;
mod conditions;
mod curves;
mod detail;
mod diff;
mod distinct;
mod disturbed;
mod escape;
mod estimate;
mod facts;
mod fleet;
mod gate;
mod heading;
mod histogram;
mod history;
mod hosts;
mod html;
mod iterations;
mod labels;
mod load;
mod machine_service;
mod markdown;
mod moment;
mod noise;
mod notes;
mod outcomes;
mod page;
mod paired;
mod pictures;
mod plan;
mod plan_comparison;
mod plot;
mod png;
mod progress;
mod prose;
mod quantity;
mod remarks;
mod samples;
mod saved;
mod scan;
mod sentence;
mod sequence;
mod services;
mod shared_axes;
mod shown;
mod single;
mod single_brief;
mod states;
mod steady;
mod strip;
mod style;
mod suite;
mod svg;
mod table;
mod timeit;
mod timeline;
mod topology;
mod trails;
pub mod web;
mod width;

pub use bisect::bisect_text;
pub use boot::boot_text;
pub use box_violin::Beside;
pub use canaries::canaries_text;
pub use changes::changes_text;
pub use checkup::checkup_text;
pub use ci::{ci_comment, ci_marker, ci_message, ci_status, ci_summary, ci_text, machine_words};
pub use comparison_brief::verdict_text;
pub use conditions::{loops_in_words, own_timing};
pub use detail::{Detail, comparison_text, run_text};
pub use diff::{Sides, diff_text, middles};
pub use facts::{facts_text, machine_line};
pub use fleet::{
    fleet_html, fleet_left_out_sentence, fleet_markdown, fleet_text, fleet_try_sentence,
};
pub use gate::gate_text;
pub use history::{entries_text, entry_text, series_text};
pub use hosts::hosts_text;
pub use html::{demo_html, html, style_of_pages};
pub use iterations::class_word;
pub use load::{
    LoadDemo, LoadProgress, distrust, load_demo_text, load_find_html, load_find_markdown,
    load_find_text, load_html, load_markdown, load_progress_line, load_text,
};
pub use machine_service::machine_service_text;
pub use markdown::markdown;
pub use noise::{
    TraceCostTold, ablate_html, ablate_list_text, ablate_text, probe_html, probe_markdown,
    probe_text, reproduce_html, reproduce_markdown, reproduce_text, trace_html, trace_markdown,
    trace_report_markdown, trace_text, trace_texts, watch_html, watch_markdown, watch_text,
};
pub use notes::{WORDS, interruption, limit as limit_sentence, sentence as note_sentence};
pub use pictures::Kind as PictureKind;
pub use plan::{Planned, plan_text};
pub use plan_comparison::{PlannedComparison, plan_comparison_text};
pub use plot::{Plotted, plot_png, plot_svg, plot_text, samples_text};
pub use png::TooLarge;
pub use progress::{Goal, Progress, progress_line};
pub use prose::{folded, refilled};
pub use quantity::{Scale, confidence as confidence_in_words};
pub use saved::{import_text, metadata_text, show_text};
pub use services::services_text;
pub use shared_axes::SharedAxes;
pub use single::{hist_text, stats_text};
pub use steady::{SteadyRun, steady_runs, steady_text, waited_share};
pub use style::{Role, Style};
pub use suite::{SuiteEntry, outlook_text, suite_list_text, suite_text};
pub use table::{Align, Cell, Table};
pub use timeit::{Timed, timeit_text};
pub use topology::{topology_svg, topology_text};
pub use width::printable;
