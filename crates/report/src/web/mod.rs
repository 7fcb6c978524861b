//! The pages of `becalm serve` and `becalm history publish`: from the documents of `model::wire` to HTML, Atom and SVG.
//!
//! `links.rs` says where pages are, `frame.rs` what all have around them; each page is a file. No page needs a script, and no
//! page has a style in itself: all have that of `style.css`. `zoom/` is what scripts add to pages of series.

mod benchmarks;
mod change;
mod changes;
mod commit_pages;
mod compare;
mod entries;
mod feed;
mod frame;
mod links;
mod machine;
mod machines;
mod message;
mod picture;
mod projects;
mod ridges;
mod series;
mod spark;
mod states;
mod suites;
#[cfg(test)]
mod tests;
mod zoom;

pub use benchmarks::web_benchmarks;
pub use changes::web_changes;
pub use commit_pages::{CommitPages, NoCommitPages};
pub use compare::web_compare;
pub use entries::{web_entries, web_entry};
pub use feed::{web_badge, web_feed};
pub use frame::{web_icon, web_style};
pub use links::{
    Decisions, Site, SitePart, SitePlace, benchmarks_file, changes_file, compare_file,
    entries_file, entry_file, machines_file, series_file, suites_file,
};
pub use machines::web_machines;
pub use message::{WebMessage, web_message, web_message_text};
pub use projects::web_projects;
pub use series::web_series;
pub use suites::web_suites;
pub use zoom::web_scripts;
