//! Confirmed changes as an Atom feed, and their number as a badge.

use std::fmt::Write as _;

use becalm_model::time_text;
use becalm_model::wire::{WebChangeCounts, WebChangeDocument};

use super::change::{anchor, series_name, size, way};
use super::frame::{clipped, clipped_to};
use super::links::{At, Links, Site};
use crate::escape;

/// Letters of the address of a site: browsers and servers take hardly more.
const LONGEST: usize = 2000;

/// Writes the feed of these changes. `base` is the address of the site, which ends in a slash; where files go is not known,
/// and their links are relative.
pub fn web_feed(changes: &[WebChangeDocument], site: &Site, base: &str) -> String {
    let links = Links::at_top(site);
    let latest = changes.iter().map(|change| change.seen).fold(0.0, f64::max);
    let title = escape::html(&clipped(&site.title));
    let base = escape::html(&clipped_to(base, LONGEST));
    let mut out = format!(
        "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<feed xmlns=\"http://www.w3.org/2005/Atom\"{}>\n\
         <title>Changes of {title}</title>\n<id>urn:becalm:changes:{title}</id>\n<updated>{}</updated>\n\
         <link href=\"{base}\"/>\n<link rel=\"self\" href=\"{base}feed.atom\"/>\n\
         <generator version=\"{}\">becalm</generator>\n",
        if base.is_empty() { String::new() } else { format!(" xml:base=\"{base}\"") },
        rfc3339(latest),
        escape::html(&site.version),
    );
    for change in changes {
        let Some(place) = &change.change.history else { continue };
        let (_, _, word) = way(&change.change);
        let (estimate, interval) = size(&change.change);
        let series = links.to(At::Series { id: place.series, by: "order", page: 1 });
        let author = place.by.as_deref().unwrap_or("becalm");
        let _ = write!(
            out,
            "<entry>\n<title>{}</title>\n<id>urn:becalm:change:{title}:{}</id>\n<updated>{}</updated>\n\
             <author><name>{}</name></author>\n<link href=\"{series}#{}\"/>\n\
             <summary>{}</summary>\n</entry>\n",
            escape::html(&clipped(&format!("{word} {estimate}: {}", series_name(place)))),
            escape::html(&place.id),
            rfc3339(change.seen),
            escape::html(&clipped(author)),
            anchor(place),
            escape::html(&format!(
                "{word} {estimate} (95 % interval {interval}) in {}, after commit {}, up to {}{}; {}",
                clipped(&series_name(place)),
                clipped(place.after_commit.as_deref().unwrap_or("unknown")),
                clipped(place.until_commit.as_deref().unwrap_or("unknown")),
                written(change),
                place.review,
            )),
        );
    }
    out.push_str("</feed>\n");
    out
}

/// Says what the first commit with a value of the new level did: ` (first value: Hash faster, by Ada)`.
fn written(change: &WebChangeDocument) -> String {
    let by = change.author.as_deref().map(|author| format!("by {}", clipped(author)));
    let said = [change.title.as_deref().map(clipped), by];
    let said: Vec<String> = said.into_iter().flatten().collect();
    if said.is_empty() { String::new() } else { format!(" (first value: {})", said.join(", ")) }
}

fn rfc3339(time: f64) -> String {
    time_text(time)
        .map_or_else(|| "1970-01-01T00:00:00Z".to_owned(), |text| text.replace(' ', "T") + "Z")
}

/// Draws how many confirmed regressions are open, as an image for a README.
pub fn web_badge(counts: WebChangeCounts) -> String {
    let (text, colour) = match counts.open_regressions {
        0 => ("no open regression".to_owned(), "#0a7040"),
        1 => ("1 open regression".to_owned(), "#b3261e"),
        n => (format!("{n} open regressions"), "#b3261e"),
    };
    // Letters of 11 pixels are about 6.6 wide; the text is fitted to that.
    let wide = |text: &str| text.chars().count() * 33 / 5;
    let (left, right) = (wide("performance") + 12, wide(&text) + 12);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{all}\" height=\"20\" role=\"img\" \
         aria-label=\"performance: {text}\">\n<title>performance: {text}</title>\n\
         <rect width=\"{left}\" height=\"20\" fill=\"#3b424b\"/>\n\
         <rect x=\"{left}\" width=\"{right}\" height=\"20\" fill=\"{colour}\"/>\n\
         <g fill=\"#ffffff\" text-anchor=\"middle\" font-family=\"Verdana, DejaVu Sans, sans-serif\" font-size=\"11\">\n\
         <text x=\"{x1}\" y=\"14\" textLength=\"{w1}\">performance</text>\n\
         <text x=\"{x2}\" y=\"14\" textLength=\"{w2}\">{text}</text>\n</g>\n</svg>\n",
        all = left + right,
        x1 = left / 2,
        x2 = left + right / 2,
        w1 = left - 12,
        w2 = right - 12,
    )
}
