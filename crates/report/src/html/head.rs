//! The beginning of every page, with the style sheet.

use crate::escape;
use crate::svg::{look, tone};

pub(crate) const STYLE: &str = include_str!("style.css");

/// Begins a page, up to and with the tag of its body.
pub(crate) fn head(version: &str, title: &str) -> String {
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"generator\" content=\"becalm {}\">\n<title>{}</title>\n\
         <style>{}</style>\n</head>\n<body>\n",
        escape::html(version),
        escape::html(title),
        style_of_pages(),
    )
}

/// Returns the style sheet that every report has in itself, to the letter: who serves one can permit this one alone.
pub fn style_of_pages() -> String {
    let looks = look::rules(|tone| format!("var({})", tone.variable()));
    format!("\n{}{STYLE}{looks}", tone::variables())
}
