//! How pages name each other: by paths of a server, or as files that lie beside each other.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::commit_pages::CommitPages;

/// Letters of a search or a branch in an address.
const LONGEST: usize = 200;

/// The pages of a history: what they are called, where they are, and what can be done on them.
#[derive(Debug, Clone, PartialEq)]
pub struct Site {
    /// What the history is called.
    pub title: String,
    /// The version of becalm that makes them.
    pub version: String,
    /// Where they are.
    pub place: SitePlace,
    /// Where commits can be looked at, if that is known.
    pub commits: Option<CommitPages>,
}

/// Where pages are.
#[derive(Debug, Clone, PartialEq)]
pub enum SitePlace {
    /// A server makes them when they are asked for.
    Served {
        /// What a form needs so that its decision is taken; `None` if nobody can decide.
        decisions: Option<Decisions>,
        /// Which part of the server they are.
        part: SitePart,
    },
    /// They are files, which open from a disk; nobody can decide there.
    Files {
        /// Numbers of the entries whose whole record is among them.
        records: BTreeSet<i64>,
    },
}

/// Which part of a server a page belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SitePart {
    /// The only history that it has.
    Whole,
    /// One of several projects, below the list of them.
    Project,
    /// The list of projects, above all of them.
    Top,
}

/// What a form needs so that its decision is taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decisions {
    /// Proves that the form is of this server.
    pub token: String,
    /// Who is asked to decide, if that is known.
    pub by: String,
}

/// Which page of a kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum At<'a> {
    Changes { state: &'a str, branch: Option<&'a str>, page: usize },
    Series { id: i64, by: &'a str, page: usize },
    Benchmarks { search: &'a str, all: bool, page: usize },
    Entries { page: usize },
    Entry { id: i64, page: usize },
    Compare { of: &'a str, sides: [&'a str; 2], show: &'a str, search: &'a str, page: usize },
    Machines { page: usize },
    Suites { suite: Option<(&'a str, &'a str)>, page: usize },
    Asset(&'a str),
}

/// Links of a page that lies at the top of a site, or in a folder of it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Links<'a> {
    pub(super) site: &'a Site,
    up: &'static str,
}

impl<'a> Links<'a> {
    pub(super) fn at_top(site: &'a Site) -> Self {
        Self { site, up: "" }
    }

    pub(super) fn in_folder(site: &'a Site) -> Self {
        Self::below(site, 1)
    }

    /// Returns those of a page that somebody asked for so many folders down.
    pub(super) fn below(site: &'a Site, depth: usize) -> Self {
        const UP: &str = "../../../../../../../../";
        Self { site, up: &UP[..3 * depth.min(UP.len() / 3)] }
    }

    /// Returns the link to a page. It has no character that HTML would read.
    pub(super) fn to(&self, at: At<'_>) -> String {
        let path = match &self.site.place {
            SitePlace::Served { .. } => served(at),
            SitePlace::Files { .. } => file(at),
        };
        format!("{}{path}", self.up)
    }

    /// Returns the link to the whole record of an entry, if there is such a page.
    pub(super) fn record(&self, entry: i64) -> Option<String> {
        match &self.site.place {
            SitePlace::Served { .. } => Some(format!("{}record/{entry}", self.up)),
            SitePlace::Files { records } => {
                records.contains(&entry).then(|| format!("{}record/{entry}.html", self.up))
            }
        }
    }

    /// Returns the link behind a point: its record, or else what is known of its entry.
    pub(super) fn point(&self, entry: i64) -> String {
        self.record(entry).unwrap_or_else(|| self.to(At::Entry { id: entry, page: 1 }))
    }

    /// Returns where a decision about a change is sent, and what the form needs.
    pub(super) fn decisions(&self, change: &str) -> Option<(String, &'a Decisions)> {
        match &self.site.place {
            SitePlace::Served { decisions: Some(decisions), .. } => {
                Some((format!("{}changes/{}", self.up, escaped(change)), decisions))
            }
            _ => None,
        }
    }

    /// Returns which part of a server the page belongs to; files are all there is.
    pub(super) fn part(&self) -> SitePart {
        match self.site.place {
            SitePlace::Served { part, .. } => part,
            SitePlace::Files { .. } => SitePart::Whole,
        }
    }

    /// Returns the link to the list of projects.
    pub(super) fn projects(&self) -> String {
        match self.part() {
            SitePart::Top if self.up.is_empty() => "./".to_owned(),
            SitePart::Top => self.up.to_owned(),
            _ => format!("{}../", self.up),
        }
    }

    /// Returns the page of a commit at the host of the repository, if that is known.
    pub(super) fn commit(&self, id: &str) -> Option<String> {
        self.site.commits.as_ref()?.of(id)
    }

    pub(super) fn is_served(&self) -> bool {
        matches!(self.site.place, SitePlace::Served { .. })
    }
}

/// Returns the name of the file of a page of changes.
pub fn changes_file(state: &str, page: usize) -> String {
    file(At::Changes { state, branch: None, page })
}

/// Returns the name of the file of a page of a series.
pub fn series_file(id: i64, page: usize) -> String {
    file(At::Series { id, by: "order", page })
}

/// Returns the name of the file of a page of benchmarks.
pub fn benchmarks_file(page: usize) -> String {
    file(At::Benchmarks { search: "", all: false, page })
}

/// Returns the name of the file of a page of entries.
pub fn entries_file(page: usize) -> String {
    file(At::Entries { page })
}

/// Returns the name of the file of a page of an entry.
pub fn entry_file(id: i64, page: usize) -> String {
    file(At::Entry { id, page })
}

/// Returns the name of the file of a page of the newest two commits.
pub fn compare_file(page: usize) -> String {
    file(At::Compare { of: "commits", sides: [""; 2], show: "all", search: "", page })
}

/// Returns the name of the file of a page of machines.
pub fn machines_file(page: usize) -> String {
    file(At::Machines { page })
}

/// Returns the name of the file of a page of the suite that was measured last.
pub fn suites_file(page: usize) -> String {
    file(At::Suites { suite: None, page })
}

fn file(at: At<'_>) -> String {
    let numbered = |name: String, page: usize| match page {
        0 | 1 => format!("{name}.html"),
        page => format!("{name}-{page}.html"),
    };
    match at {
        At::Changes { state: "open", page: 0 | 1, .. } => "index.html".to_owned(),
        At::Changes { state, page, .. } => numbered(format!("changes-{state}"), page),
        At::Series { id, page, .. } => numbered(format!("series/{id}"), page),
        At::Benchmarks { page, .. } => numbered("benchmarks".to_owned(), page),
        At::Entries { page } => numbered("entries".to_owned(), page),
        At::Entry { id, page } => numbered(format!("entry/{id}"), page),
        At::Compare { page, .. } => numbered("compare".to_owned(), page),
        At::Machines { page } => numbered("machines".to_owned(), page),
        At::Suites { page, .. } => numbered("suites".to_owned(), page),
        At::Asset(name) => name.to_owned(),
    }
}

fn served(at: At<'_>) -> String {
    let page_of = |page: usize| (page > 1).then(|| ("page", page.to_string()));
    match at {
        At::Changes { state, branch, page } => {
            let state = (state != "open").then(|| ("state", state.to_owned()));
            let branch = branch.map(|branch| ("branch", branch.to_owned()));
            with("changes", [state, branch, page_of(page)])
        }
        At::Series { id, by, page } => {
            let by = (by != "order").then(|| ("by", by.to_owned()));
            with(&format!("series/{id}"), [by, page_of(page)])
        }
        At::Benchmarks { search, all, page } => {
            let search = (!search.is_empty()).then(|| ("search", search.to_owned()));
            let all = all.then(|| ("all", "yes".to_owned()));
            with("benchmarks", [search, all, page_of(page)])
        }
        At::Entries { page } => with("entries", [page_of(page)]),
        At::Entry { id, page } => with(&format!("entry/{id}"), [page_of(page)]),
        At::Compare { of, sides: [before, after], show, search, page } => {
            let given =
                |name, text: &str, usual: &str| (text != usual).then(|| (name, text.to_owned()));
            let parts = [
                given("of", of, "commits"),
                given("before", before, ""),
                given("after", after, ""),
                given("show", show, "all"),
                given("search", search, ""),
                page_of(page),
            ];
            with("compare", parts)
        }
        At::Machines { page } => with("machines", [page_of(page)]),
        At::Suites { suite, page } => {
            let given = |name, text: Option<&str>| text.map(|text| (name, text.to_owned()));
            let parts = [
                given("branch", suite.map(|(branch, _)| branch)),
                given("machine", suite.map(|(_, machine)| machine)),
                page_of(page),
            ];
            with("suites", parts)
        }
        At::Asset(name) => name.to_owned(),
    }
}

fn with(path: &str, query: impl IntoIterator<Item = Option<(&'static str, String)>>) -> String {
    let mut out = path.to_owned();
    for (index, (name, value)) in query.into_iter().flatten().enumerate() {
        // Written for an attribute of HTML.
        out.push_str(if index == 0 { "?" } else { "&amp;" });
        // The server reads no more.
        let value: String = value.chars().take(LONGEST).collect();
        let _ = write!(out, "{name}={}", escaped(&value));
    }
    out
}

/// Writes a text as a part of a URL.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' | b'@' => {
                out.push(char::from(byte));
            }
            byte => {
                let _ = write!(out, "%{byte:02X}");
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn site(place: SitePlace) -> Site {
        Site { title: String::new(), version: String::new(), place, commits: None }
    }

    #[test]
    fn every_state_of_a_page_is_in_its_address() {
        let site = site(SitePlace::Served { decisions: None, part: SitePart::Project });
        let links = Links::in_folder(&site);
        let to = |at| links.to(at);
        assert_eq!(to(At::Changes { state: "open", branch: None, page: 1 }), "../changes");
        assert_eq!(
            to(At::Changes { state: "all", branch: Some("a&b/\"c"), page: 2 }),
            "../changes?state=all&amp;branch=a%26b%2F%22c&amp;page=2"
        );
        assert_eq!(to(At::Series { id: 3, by: "time", page: 1 }), "../series/3?by=time");
        let both =
            At::Compare { of: "branches", sides: ["a&b", "c"], show: "same", search: "", page: 2 };
        let compared =
            "../compare?of=branches&amp;before=a%26b&amp;after=c&amp;show=same&amp;page=2";
        assert_eq!(to(both), compared);
        let suite = At::Suites { suite: Some(("", "0a")), page: 1 };
        assert_eq!(to(suite), "../suites?branch=&amp;machine=0a");
        let found = At::Benchmarks { search: "ä <", all: true, page: 1 };
        assert_eq!(to(found), "../benchmarks?search=%C3%A4%20%3C&amp;all=yes");
        assert_eq!(links.point(7), "../record/7");
        assert_eq!(
            (links.projects(), Links::at_top(&site).projects()),
            ("../../".into(), "../".into())
        );
    }

    #[test]
    fn files_lie_beside_each_other() {
        let site = site(SitePlace::Files { records: BTreeSet::from([7]) });
        let links = Links::in_folder(&site);
        assert_eq!(links.to(At::Changes { state: "open", branch: None, page: 1 }), "../index.html");
        assert_eq!(changes_file("dismissed", 2), "changes-dismissed-2.html");
        assert_eq!(series_file(3, 1), "series/3.html");
        assert_eq!(
            (links.point(7), links.point(8)),
            ("../record/7.html".into(), "../entry/8.html".into())
        );
        assert_eq!(links.decisions("3@1"), None);
    }
}
