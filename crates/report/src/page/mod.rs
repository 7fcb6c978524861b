//! Reports put together from paragraphs, lists, tables and drawings, which a terminal, a web page and a review show each in
//! its own way.

mod html;
mod markdown;
mod text;

use crate::pictures::Picture;
use crate::style::{Role, Style};
use crate::table::Table;

pub(crate) use text::caption;

/// How numbers and drawings are written for a web page or a review; drawings are narrow enough for a telephone.
pub(crate) const ELSEWHERE: Style = Style { width: 44, colour: false, unicode: true };

/// A report that grows from top to bottom. `style` is how numbers and drawings in it are written, and how it becomes text.
#[derive(Debug)]
pub(crate) struct Page<'a> {
    pub(crate) style: &'a Style,
    /// Columns of its tables, which may be wider than its text.
    table_width: usize,
    blocks: Vec<Block>,
}

/// A part of a report.
#[derive(Debug, Clone, PartialEq)]
enum Block {
    /// The title of a section.
    Section(String),
    /// Here a terminal has an empty line.
    Gap,
    Paragraph {
        text: String,
        is_indented: bool,
        role: Option<Role>,
    },
    /// An entry of a list.
    Item(String),
    /// A text beside a label, which takes `width` columns.
    Labelled {
        label: String,
        width: usize,
        text: String,
    },
    Table(Table),
    /// Lines that are drawn already.
    Drawn(String),
    /// Lines that are drawn already, in whose place a web page has a picture.
    DrawnOr(String, Picture),
    /// On a web page alone.
    Picture(Picture),
}

impl<'a> Page<'a> {
    pub(crate) fn new(style: &'a Style) -> Self {
        Self { style, table_width: style.width, blocks: Vec::new() }
    }

    /// Makes a report whose tables may be wider than its text.
    pub(crate) fn with_tables(style: &'a Style, table_width: usize) -> Self {
        Self { table_width, ..Self::new(style) }
    }

    /// Starts a section: an empty line and a title. Empty sections are not started at all, which
    /// is why the caller checks first.
    pub(crate) fn section(&mut self, title: &str) {
        self.blocks.push(Block::Section(title.to_owned()));
    }

    /// Leaves one empty line, never two.
    pub(crate) fn gap(&mut self) {
        self.blocks.push(Block::Gap);
    }

    /// Writes a paragraph.
    pub(crate) fn say(&mut self, text: &str) {
        self.paragraph(text, false, None);
    }

    /// Writes a paragraph in the colour of `role`.
    pub(crate) fn say_as(&mut self, role: Role, text: &str) {
        self.paragraph(text, false, Some(role));
    }

    /// Writes a paragraph indented by two columns.
    pub(crate) fn indented(&mut self, text: &str) {
        self.paragraph(text, true, None);
    }

    /// Writes a list entry.
    pub(crate) fn item(&mut self, text: &str) {
        self.blocks.push(Block::Item(text.to_owned()));
    }

    /// Writes a section of list entries; none where there are no entries.
    pub(crate) fn list<T: AsRef<str>>(
        &mut self,
        title: &str,
        entries: impl IntoIterator<Item = T>,
    ) {
        for (index, entry) in entries.into_iter().enumerate() {
            if index == 0 {
                self.section(title);
            }
            self.item(entry.as_ref());
        }
    }

    /// Writes `label  text` with the text wrapped beside the label.
    pub(crate) fn labelled(&mut self, label: &str, width: usize, text: &str) {
        let (label, text) = (label.to_owned(), text.to_owned());
        self.blocks.push(Block::Labelled { label, width, text });
    }

    /// Writes a table.
    pub(crate) fn table(&mut self, table: &Table) {
        self.blocks.push(Block::Table(table.clone()));
    }

    /// Writes lines that are drawn already.
    pub(crate) fn drawn(&mut self, text: &str) {
        self.blocks.push(Block::Drawn(text.to_owned()));
    }

    /// Writes lines that are drawn already, or on a web page the picture if there is one.
    pub(crate) fn drawn_or(&mut self, text: &str, picture: Option<Picture>) {
        match picture {
            Some(picture) => self.blocks.push(Block::DrawnOr(text.to_owned(), picture)),
            None => self.drawn(text),
        }
    }

    /// Adds a picture, which only a web page has: in its section, or where it is if that has no title.
    pub(crate) fn picture(&mut self, picture: Picture) {
        self.blocks.push(Block::Picture(picture));
    }

    /// Returns the whole report as text.
    pub(crate) fn finish(self) -> String {
        text::of(&self.blocks, self.style, self.table_width)
    }

    /// Returns the whole report as a web page of its own, made by this version of becalm.
    pub(crate) fn html(self, version: &str) -> String {
        html::of(&self.blocks, version)
    }

    /// Returns the report as a part of another web page.
    pub(crate) fn html_part(self) -> String {
        html::part(&self.blocks)
    }

    /// Returns the whole report as GitHub-flavoured Markdown.
    pub(crate) fn markdown(self) -> String {
        markdown::of(&self.blocks)
    }

    fn paragraph(&mut self, text: &str, is_indented: bool, role: Option<Role>) {
        self.blocks.push(Block::Paragraph { text: text.to_owned(), is_indented, role });
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::table::{Align, Cell};

    /// Returns the words and numbers of a report, without what draws, marks or separates.
    fn facts(text: &str) -> Vec<String> {
        let text = text.replace('\u{a0}', " ");
        let words = text.split_whitespace().map(|word| {
            let of_markdown = |c: char| matches!(c, '*' | '#' | '|' | '`' | '\\');
            word.replace(of_markdown, "").replace(":--", "").replace("--:", "")
        });
        words.filter(|word| word.chars().any(char::is_alphanumeric) && word != "text").collect()
    }

    /// Takes the tags off a page, and what stands in its head.
    fn without_tags(html: &str) -> String {
        let body = html.split_once("<body>").map_or(html, |(_, body)| body);
        let mut out = String::new();
        for part in body.split('<') {
            let text = part.split_once('>').map_or(part, |(_, text)| text);
            out.push_str(text);
            out.push(' ');
        }
        let signs =
            [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&amp;", "&")];
        signs.iter().fold(out, |out, (sign, plain)| out.replace(sign, plain))
    }

    /// Holds the three forms of a report against each other: the same words in the same order.
    #[track_caller]
    pub(crate) fn say_the_same(text: &str, html: &str, markdown: &str) {
        let expected = facts(text);
        assert_eq!(facts(&without_tags(html)), expected, "{html}");
        let lists = markdown.replace("\n- ", "\n");
        let lists = lists.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&");
        assert_eq!(facts(&lists), expected, "{markdown}");
    }

    /// The style of a text whose tables stand as they do on a page.
    pub(crate) const WIDE: Style = Style { width: 400, colour: false, unicode: true };

    fn every_block(style: &Style) -> Page<'_> {
        let mut page = Page::new(style);
        page.say_as(Role::Heading, "It is <fast>.");
        page.gap();
        page.say("A paragraph.");
        page.say_as(Role::Warning, "Careful.");
        page.labelled("here", 4, "a machine");
        page.labelled("cpu", 4, "two");
        page.section("Table & list");
        let mut table = Table::new([("name", Align::Left), ("verdict", Align::Right)]);
        table.push(["one".into(), Cell::of(Role::Slower, "slower")]);
        page.table(&table);
        page.drawn("  1 ##\n  2 #\n");
        page.item("first");
        page.item("second");
        page.say_as(Role::Hint, "A hint.");
        page
    }

    #[test]
    fn every_block_has_its_form_on_a_page() {
        let html = every_block(&ELSEWHERE).html("1.0");
        assert!(html.contains("<title>It is &lt;fast&gt;.</title>"), "{html}");
        insta::assert_snapshot!(html.split_once("<body>\n").unwrap().1);
    }

    #[test]
    fn every_block_has_its_form_in_a_review() {
        insta::assert_snapshot!(every_block(&ELSEWHERE).markdown());
    }

    #[test]
    fn every_form_says_the_same() {
        let [text, html, markdown] = [
            every_block(&WIDE).finish(),
            every_block(&ELSEWHERE).html("1.0"),
            every_block(&ELSEWHERE).markdown(),
        ];
        say_the_same(
            &text.replace("here  ", "here: ").replace("cpu   ", "cpu: "),
            &html.replace("</dt>", ":</dt>"),
            &markdown,
        );
    }
}
