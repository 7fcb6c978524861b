//! The picture of the README: a plot that becalm itself drew, cut out of its HTML report.
//!
//! The report has one style sheet for the page and its plots; a picture that stands alone takes the colours
//! (light, and dark where the reader's system is) and the rules of plots along, and a ground of its own, because
//! the page around it may be of the other colour.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use crate::workspace::root;

/// Where it lies, below the root of the repository.
const PICTURE: &str = "docs/images/comparison.svg";

/// The plot of the first deciding comparison, round by round.
const PLOT: &str = "paired-0-title";

/// Makes the picture from a report of `becalm compare --export-html`.
pub(crate) fn make(report: &Path) -> Result<()> {
    let page = fs::read_to_string(report)
        .with_context(|| format!("cannot read the report {}", report.display()))?;
    let picture = picture(&page).with_context(|| {
        format!(
            "{} has no plot of a comparison; `becalm compare --export-html` writes one",
            report.display()
        )
    })?;
    let path = root().join(PICTURE);
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(&path, picture).with_context(|| format!("cannot write {PICTURE}"))?;
    println!("{PICTURE}: written; is what the README says of it still true?");
    Ok(())
}

/// Returns the plot with its style, or none if the page has no such plot or another style.
fn picture(page: &str) -> Option<String> {
    let plot = page.split("<svg ").skip(1).find(|plot| plot.contains(PLOT))?;
    let plot = plot.split_once("</svg>")?.0;
    let (head, body) = plot.split_once("</desc>")?;
    let style = page.split_once("<style>")?.1.split_once("</style>")?.0;
    let (colours, rest) = style.trim_start().split_once("* {")?;
    let (_, rules) = rest.split_once("svg text")?;
    let (rules, _) = rules.split_once("@media print")?;
    let mut size = head.split_once("viewBox=\"0 0 ")?.1.split_once('"')?.0.split(' ');
    let (width, height) = (size.next()?, size.next()?);
    Some(format!(
        "<svg width=\"{width}\" height=\"{height}\" {head}</desc>\n<style>\n{colours}svg text{rules}</style>\n\
         <rect width=\"100%\" height=\"100%\" fill=\"var(--page)\"/>{body}</svg>\n"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plot_takes_its_colours_along_and_nothing_of_the_page() {
        let page = "<style>\n:root { --page: #fff; }\n@media screen and (prefers-color-scheme: dark) {}\n\
                    * { margin: 0; }\nsvg text { fill: red; }\n.dot {}\n@media print { body {} }\n</style>\n\
                    <svg id=\"strip\"><desc>a</desc><b/></svg>\n\
                    <svg viewBox=\"0 0 72.0 28.0\" id=\"paired-0-title\"><desc>in words</desc>\n<line/></svg>";
        let picture = picture(page).unwrap();
        for part in
            [":root { --page", "prefers-color-scheme: dark", ".dot {}", "in words", "<line/>"]
        {
            assert!(picture.contains(part), "{part}: {picture}");
        }
        for other in ["margin: 0", "@media print", "strip"] {
            assert!(!picture.contains(other), "{other}: {picture}");
        }
        assert!(super::picture("<svg>no plot</svg>").is_none());
    }

    #[test]
    fn the_picture_of_the_readme_is_one_that_becalm_drew_for_light_and_dark() {
        let top = root();
        let picture = fs::read_to_string(top.join(PICTURE)).unwrap();
        for part in [PLOT, "prefers-color-scheme: dark", "interval-band", "margin-band", "<desc"] {
            assert!(picture.contains(part), "{part}");
        }
        let readme = fs::read_to_string(top.join("README.md")).unwrap();
        let alternative =
            readme.split(&format!("]({PICTURE})")).next().unwrap().rsplit("![").next();
        assert!(
            alternative.is_some_and(|text| text.len() > 40 && text.len() < 600),
            "{alternative:?}"
        );
    }
}
