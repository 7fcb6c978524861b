//! The beginning of every page, with the style sheet.

use crate::escape;
use crate::svg::{look, tone};

const STYLE: &str = include_str!("style.css");

/// Begins a page, up to and with the tag of its body.
pub(crate) fn head(version: &str, title: &str) -> String {
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"generator\" content=\"becalm {}\">\n<title>{}</title>\n\
         <style>\n{}{STYLE}{}</style>\n</head>\n<body>\n",
        escape::html(version),
        escape::html(title),
        tone::variables(),
        look::rules(|tone| format!("var({})", tone.variable())),
    )
}
