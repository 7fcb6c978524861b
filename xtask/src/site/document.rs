//! A Markdown file: its headings with the anchors that GitHub gives them, its links, its text, its HTML.

use std::collections::HashMap;
use std::ops::Range;

use pulldown_cmark::{CowStr, Event, HeadingLevel, Options, Parser, Tag, TagEnd, html};

/// A parsed file.
pub(super) struct Document {
    /// Its path below the root of the repository.
    pub(super) path: String,
    text: String,
    pub(super) headings: Vec<Heading>,
    pub(super) links: Vec<Link>,
    /// What is searched: one for each heading, and one for what stands before the first.
    pub(super) sections: Vec<Section>,
}

/// A heading.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Heading {
    pub(super) level: HeadingLevel,
    pub(super) text: String,
    pub(super) anchor: String,
}

/// A link or an image, as it is written.
pub(super) struct Link {
    pub(super) target: String,
    /// The line of the file that it begins on, from 1.
    pub(super) line: usize,
}

/// The text below a heading, without markup.
#[derive(Default)]
pub(super) struct Section {
    pub(super) heading: Option<Heading>,
    pub(super) text: String,
}

impl Document {
    pub(super) fn parse(path: &str, text: &str) -> Self {
        let mut document = Self {
            path: path.to_owned(),
            text: text.to_owned(),
            headings: headings(text),
            links: links(text),
            sections: Vec::new(),
        };
        document.sections = document.read_sections();
        document
    }

    /// Returns the first heading, which is the title.
    pub(super) fn title(&self) -> &str {
        self.headings.first().map_or(&self.path, |heading| &heading.text)
    }

    pub(super) fn has_anchor(&self, anchor: &str) -> bool {
        self.headings.iter().any(|heading| heading.anchor == anchor)
    }

    /// Returns the HTML. `followed` says where a link leads on the site; a link that leads nowhere becomes its text.
    pub(super) fn html(&self, followed: impl Fn(&str) -> Option<String>) -> String {
        let mut anchors = self.headings.iter();
        let mut anchor = "";
        // Whether each link that is open is kept; links do not nest, images stand inside of them.
        let mut kept = true;
        let mut is_code = false;
        let events = parser(&self.text).filter_map(|event| match event {
            // Markers of what is generated are for those who edit the file.
            Event::Html(text) if text.trim_start().starts_with("<!--") => None,
            Event::Start(Tag::Heading { level, classes, attrs, .. }) => {
                anchor = anchors.next().map_or("", |heading| &heading.anchor);
                let id = Some(CowStr::from(anchor.to_owned()));
                Some(Event::Start(Tag::Heading { level, id, classes, attrs }))
            }
            Event::End(TagEnd::Heading(level)) => Some(Event::Html(CowStr::from(format!(
                " <a class=\"anchor\" href=\"#{anchor}\" aria-label=\"Link to this section\">#</a></{level}>\n"
            )))),
            Event::Start(Tag::Link { link_type, dest_url, title, id }) => {
                let target = followed(&dest_url);
                kept = target.is_some();
                target.map(|target| {
                    let dest_url = CowStr::from(target);
                    Event::Start(Tag::Link { link_type, dest_url, title, id })
                })
            }
            Event::End(TagEnd::Link) => kept.then_some(event),
            Event::Start(Tag::CodeBlock(_)) | Event::End(TagEnd::CodeBlock) => {
                is_code = !is_code;
                Some(event)
            }
            // A number and its sign stay on one line.
            Event::Text(text) if !is_code => {
                Some(Event::Text(CowStr::from(text.replace(" %", "\u{a0}%"))))
            }
            Event::Start(Tag::Image { link_type, dest_url, title, id }) => {
                let dest_url = followed(&dest_url).map_or(dest_url, CowStr::from);
                Some(Event::Start(Tag::Image { link_type, dest_url, title, id }))
            }
            other => Some(other),
        });
        let mut page = String::new();
        html::push_html(&mut page, events);
        // Wide tables scroll by themselves, so that the page does not; the keyboard reaches them.
        page.replace("<table>", "<div class=\"wide\" tabindex=\"0\"><table>")
            .replace("</table>", "</table></div>")
    }

    fn read_sections(&self) -> Vec<Section> {
        let mut sections = vec![Section::default()];
        let mut headings = self.headings.iter();
        let mut is_heading = false;
        for event in parser(&self.text) {
            let section = sections.last_mut().expect("there is always one");
            match event {
                Event::Start(Tag::Heading { .. }) => {
                    is_heading = true;
                    let heading = headings.next().cloned();
                    sections.push(Section { heading, text: String::new() });
                }
                Event::End(TagEnd::Heading(_)) => is_heading = false,
                Event::Text(text) | Event::Code(text) if !is_heading => {
                    section.text.push_str(&text);
                }
                Event::End(
                    TagEnd::Paragraph | TagEnd::TableCell | TagEnd::Item | TagEnd::CodeBlock,
                )
                | Event::SoftBreak
                | Event::HardBreak => section.text.push(' '),
                _ => {}
            }
        }
        for section in &mut sections {
            section.text = section.text.split_whitespace().collect::<Vec<_>>().join(" ");
        }
        sections.retain(|section| section.heading.is_some() || !section.text.is_empty());
        sections
    }
}

fn parser(text: &str) -> Parser<'_> {
    Parser::new_ext(text, Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH)
}

fn headings(text: &str) -> Vec<Heading> {
    let mut found = Vec::new();
    let mut seen = HashMap::new();
    let mut open: Option<String> = None;
    for event in parser(text) {
        match (event, &mut open) {
            (Event::Start(Tag::Heading { .. }), _) => open = Some(String::new()),
            (Event::Text(text) | Event::Code(text), Some(heading)) => heading.push_str(&text),
            (Event::End(TagEnd::Heading(level)), _) => {
                let text = open.take().unwrap_or_default();
                let anchor = numbered(anchor(&text), &mut seen);
                found.push(Heading { level, text, anchor });
            }
            _ => {}
        }
    }
    found
}

/// Returns the anchor of a heading: lower case, letters and digits and `-` and `_`, spaces become `-`.
fn anchor(heading: &str) -> String {
    let lower = heading.trim().to_lowercase();
    let is_kept = |letter: &char| letter.is_alphanumeric() || matches!(letter, '-' | '_' | ' ');
    lower.chars().filter(is_kept).map(|letter| if letter == ' ' { '-' } else { letter }).collect()
}

/// Returns the anchor with a number, if an earlier heading has the same.
fn numbered(anchor: String, seen: &mut HashMap<String, usize>) -> String {
    let before = seen.entry(anchor.clone()).or_default();
    *before += 1;
    if *before == 1 { anchor } else { format!("{anchor}-{}", *before - 1) }
}

fn links(text: &str) -> Vec<Link> {
    let line = |range: &Range<usize>| text[..range.start].matches('\n').count() + 1;
    let events = parser(text).into_offset_iter();
    let linked = events.filter_map(|(event, range)| match event {
        Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
            Some(Link { target: dest_url.to_string(), line: line(&range) })
        }
        _ => None,
    });
    linked.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn anchors_are_those_of_github() {
        assert_eq!(anchor("Which metric decides"), "which-metric-decides");
        assert_eq!(anchor("`becalm run` - and what?"), "becalm-run---and-what");
        assert_eq!(anchor("Größe: 2 %"), "größe-2-");
        let document = Document::parse("a.md", "# One\n\n## `Same`\n\n## Same\n");
        let anchors: Vec<&str> = document.headings.iter().map(|one| one.anchor.as_str()).collect();
        assert_eq!(anchors, ["one", "same", "same-1"]);
        assert_eq!(document.title(), "One");
    }

    #[test]
    fn links_have_their_lines_and_code_has_none() {
        let text = "# A\n\nSee [b](b.md),\n[c](c.md#d).\n\n`[no](no.md)`\n\n```\n[no](no.md)\n```\n\n![i](i.svg)\n";
        let links = Document::parse("a.md", text).links;
        let found: Vec<_> = links.iter().map(|link| (link.line, link.target.as_str())).collect();
        assert_eq!(found, [(3, "b.md"), (4, "c.md#d"), (12, "i.svg")]);
    }

    #[test]
    fn a_link_that_leads_nowhere_is_text_and_tables_scroll() {
        let text =
            "## A\n\n[here](b.md) [there](src.rs)\n\n<!-- BEGIN -->\n\n| a |\n|---|\n| 1 |\n";
        let document = Document::parse("a.md", text);
        let html = document.html(|link| (link == "b.md").then(|| "b.html".to_owned()));
        assert!(html.contains("<a href=\"b.html\">here</a> there"), "{html}");
        assert!(html.contains("<h2 id=\"a\">A <a class=\"anchor\" href=\"#a\""), "{html}");
        assert!(html.contains("<div class=\"wide\" tabindex=\"0\"><table>"), "{html}");
        assert!(!html.contains("BEGIN"), "{html}");
    }

    #[test]
    fn a_number_and_its_sign_stay_together_outside_of_code() {
        let html = Document::parse("a.md", "By 6 %.\n\n```\n6 %\n```\n").html(|_| None);
        assert!(html.contains("By 6\u{a0}%.") && html.contains("<code>6 %"), "{html}");
    }

    #[test]
    fn sections_are_text_without_markup() {
        let document = Document::parse(
            "a.md",
            "# A\n\nOne `two`\nthree.\n\n## B\n\n| x | y |\n|---|---|\n| 1 | 2 |\n",
        );
        let texts: Vec<&str> = document.sections.iter().map(|one| one.text.as_str()).collect();
        assert_eq!(texts, ["One two three.", "x y 1 2"]);
    }
}
