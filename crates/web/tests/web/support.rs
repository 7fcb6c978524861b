//! A history, a server over it, and a client that sends exactly what it is given.

use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;
use std::time::Duration;

use becalm_model::history::Commit;
use becalm_model::{Direction, Unit};
use becalm_series::{
    Access as StoreAccess, ChangeTerms, EntryFilter, HistoryLocation, NewEntry, NewPoint, Origin,
    Right, Store, Token, open,
};
use becalm_web::{
    Access, CommitsOf, Encryption, History, Limits, NewToken, Projects, Server, ServerOptions,
    Unconnected,
};

/// A history in a folder of its own.
pub(crate) struct Bench {
    pub(crate) folder: tempfile::TempDir,
}

/// What somebody writes who wants a page to do more than show it.
pub(crate) const HOSTILE: &str = "<script>alert(1)</script>\"'&\u{1}\u{202e}";

impl Bench {
    pub(crate) fn empty() -> Self {
        let bench = Self { folder: tempfile::tempdir().unwrap() };
        bench.store();
        bench
    }

    /// Thirty entries, in which `sort` gets slower at the sixteenth, and one has a hostile name.
    pub(crate) fn with_a_change() -> Self {
        let bench = Self::empty();
        let mut store = bench.store();
        for at in 0..30 {
            store.add(&entry(at)).unwrap();
        }
        bench
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().join("history.db")
    }

    pub(crate) fn place(&self) -> HistoryLocation {
        HistoryLocation::File(self.path())
    }

    pub(crate) fn store(&self) -> Store {
        open(&self.place(), StoreAccess::Write).unwrap()
    }

    /// A server of which entries count that are of these commits. It has looked at all.
    pub(crate) fn serve_counting(&self, commits: CommitsOf) -> Server {
        let history = History::new(self.place(), ChangeTerms::default(), record_page, commits);
        let server = Server::start(history, self.options(None, true, Limits::default())).unwrap();
        assert!(server.is_prepared_within(Duration::from_secs(3600)));
        server
    }

    /// A server of another history.
    pub(crate) fn serve_place(&self, place: HistoryLocation) -> Server {
        Server::start(history(place), self.options(None, true, Limits::default())).unwrap()
    }

    /// A server of several projects, to which this token permits everything.
    pub(crate) fn serve_projects(
        projects: &[(&str, HistoryLocation)],
        token: Option<&str>,
    ) -> Server {
        let tokens = |place: &_| open(place, StoreAccess::Read).ok()?.tokens().ok();
        Self::serve_knowing(projects, token, tokens)
    }

    /// The same, where these tokens are known when it starts.
    pub(crate) fn serve_knowing(
        projects: &[(&str, HistoryLocation)],
        token: Option<&str>,
        tokens: impl Fn(&HistoryLocation) -> Option<Vec<Token>>,
    ) -> Server {
        let named = projects
            .iter()
            .map(|(name, place)| (name.parse().unwrap(), history(place.clone()), tokens(place)));
        let options = Self::empty().options(token, true, Limits::default());
        let options = ServerOptions { title: "benchmarks".to_owned(), ..options };
        Server::start(Projects::named(named), options).unwrap()
    }

    /// A server whose connections are encrypted.
    pub(crate) fn serve_encrypted(&self, encryption: Encryption, limits: Limits) -> Server {
        let options =
            ServerOptions { encryption: Some(encryption), ..self.options(None, true, limits) };
        Server::start(self.history(), options).unwrap()
    }

    pub(crate) fn history(&self) -> History {
        history(self.place())
    }

    pub(crate) fn serve(&self) -> Server {
        self.serve_with(None, true)
    }

    pub(crate) fn serve_with(&self, token: Option<&str>, changes: bool) -> Server {
        self.serve_limited(token, changes, Limits::default())
    }

    pub(crate) fn serve_limited(
        &self,
        token: Option<&str>,
        changes: bool,
        limits: Limits,
    ) -> Server {
        Server::start(self.history(), self.options(token, changes, limits)).unwrap()
    }

    /// A server without a socket, to which this token permits everything.
    pub(crate) fn unconnected(&self, token: &str) -> Unconnected {
        let options = self.options(Some(token), true, Limits::default());
        Unconnected::new(self.history(), options).unwrap()
    }

    /// The same, where the history is a project called `sort`.
    pub(crate) fn unconnected_project(&self, token: &str) -> Unconnected {
        let options = self.options(Some(token), true, Limits::default());
        let project = ("sort".parse().unwrap(), self.history(), Some(Vec::new()));
        Unconnected::new(Projects::named([project]), options).unwrap()
    }

    fn options(&self, token: Option<&str>, changes: bool, limits: Limits) -> ServerOptions {
        let at = "127.0.0.1:0".parse().unwrap();
        let of_history = self.store().tokens().unwrap();
        ServerOptions {
            at,
            title: HOSTILE.to_owned(),
            version: "1.0".to_owned(),
            commits: None,
            access: Access::new(at, token, &of_history, Vec::new()).unwrap(),
            encryption: None,
            changes,
            limits,
            schema: |name| becalm_model::wire::json_schema(name).map(|schema| schema.to_string()),
            log: None,
        }
    }

    /// Makes a token that permits this, and returns the line of a head that gives it.
    pub(crate) fn token(&self, name: &str, rights: &[Right]) -> String {
        let NewToken { text, digest } = NewToken::make().unwrap();
        let token = Token {
            name: name.to_owned(),
            digest,
            rights: rights.to_vec(),
            made: 1.0,
            revoked: None,
        };
        assert!(self.store().add_token(&token).unwrap());
        format!("Authorization: Bearer {text}\r\n")
    }

    /// Returns how many entries there are.
    pub(crate) fn entries(&self) -> usize {
        self.store().entries(&EntryFilter::default()).unwrap().len()
    }
}

fn history(place: HistoryLocation) -> History {
    History::new(place, ChangeTerms::default(), record_page, Box::new(|_| None))
}

/// The report of a record is tested where it is made.
#[expect(clippy::unnecessary_wraps, reason = "others can fail")]
fn record_page(document: &str) -> Result<String, String> {
    Ok(format!("<!DOCTYPE html><title>record</title><p>{} bytes</p>", document.len()))
}

pub(crate) fn entry(at: u32) -> NewEntry {
    let time = 1_795_000_000.0 + 86_400.0 * f64::from(at);
    // Noise that is the same every time.
    let noise = f64::from((at * 7919 + 13) % 101) / 1000.0;
    let level = if at < 15 { 1.0 } else { 1.3 };
    let facts = [("cpu_model", "A processor"), ("kernel_release", "6.12.0")];
    NewEntry {
        origin: Origin::Measurement,
        content: format!("content {at}"),
        measured: time + 60.0,
        commit: Some(Commit {
            id: format!("{at:02}abcdef0123456789"),
            time: Some(time),
            author: Some("Ada".to_owned()),
            title: Some(HOSTILE.to_owned()),
        }),
        branch: "main".to_owned(),
        dirty: false,
        tags: vec![HOSTILE.to_owned()],
        facts: facts.map(|(name, value)| (name.to_owned(), value.to_owned())).into(),
        document: Some(format!("{{\"entry\": {at}}}")),
        // The second is shown in milliseconds.
        points: vec![point("sort", level + noise), point(HOSTILE, (1.0 + noise) * 1e-3)],
    }
}

fn point(benchmark: &str, value: f64) -> NewPoint {
    NewPoint {
        benchmark: benchmark.to_owned(),
        metric: "wall_time".to_owned(),
        unit: Unit::Second,
        direction: Direction::Lower,
        parameters: Vec::new(),
        main: true,
        exact: false,
        value,
        error: Some(0.01),
        runs: 10,
    }
}

/// An answer, taken apart.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) body: String,
}

impl Reply {
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", String::as_str)
    }
}

/// Returns a page without the scripts of the site and the data for them: these are all that it may have.
pub(crate) fn without_own_scripts(page: &str) -> String {
    let mut out = page.to_owned();
    for (name, _) in becalm_report::web::web_scripts() {
        out = out.replace(&format!("<script src=\"../{name}\" defer></script>\n"), "");
    }
    let data = "<script type=\"application/json\" id=\"whole\">";
    if let Some((before, after)) = out.clone().split_once(data) {
        let (text, after) = after.split_once("</script>").expect("it ends");
        serde_json::from_str::<serde_json::Value>(text).expect("it is JSON");
        out = format!("{before}{after}");
    }
    out
}

/// Sends bytes and reads until the server closes the connection; `None` if it says nothing.
pub(crate) fn exchange(at: SocketAddr, sent: &[u8]) -> Option<Reply> {
    let mut stream = TcpStream::connect(at).unwrap();
    // A server that hangs fails the test and does not hang it.
    stream.set_read_timeout(Some(Duration::from_secs(300))).unwrap();
    // A server that has seen enough may close before it has read all.
    let _ = stream.write_all(sent);
    let mut bytes = Vec::new();
    let _ = stream.read_to_end(&mut bytes);
    let text = String::from_utf8(bytes).unwrap();
    let (head, body) = text.split_once("\r\n\r\n")?;
    let mut lines = head.lines();
    let status = lines.next()?.split(' ').nth(1)?.parse().unwrap();
    let headers = lines.filter_map(|line| line.split_once(": "));
    let headers = headers.map(|(name, value)| (name.to_lowercase(), value.to_owned()));
    Some(Reply { status, headers: headers.collect(), body: body.to_owned() })
}

/// Asks for a path with further lines of the head.
pub(crate) fn get_with(server: &Server, path: &str, more: &str) -> Reply {
    request(server, "GET", path, more, "")
}

pub(crate) fn get(server: &Server, path: &str) -> Reply {
    get_with(server, path, "")
}

pub(crate) fn request(server: &Server, method: &str, path: &str, more: &str, body: &str) -> Reply {
    let host = if more.to_lowercase().contains("host:") {
        String::new()
    } else {
        format!("Host: {}\r\n", server.at())
    };
    let length =
        if body.is_empty() { String::new() } else { format!("Content-Length: {}\r\n", body.len()) };
    let sent =
        format!("{method} {path} HTTP/1.1\r\n{host}{more}{length}Connection: close\r\n\r\n{body}");
    exchange(server.at(), sent.as_bytes()).expect("an answer")
}

const FORM: &str = "Content-Type: application/x-www-form-urlencoded\r\n";

/// Sends a form.
pub(crate) fn post(server: &Server, path: &str, more: &str, form: &str) -> Reply {
    request(server, "POST", path, &format!("{FORM}{more}"), form)
}

/// Returns the value of a hidden field of the first form of a page.
pub(crate) fn field(page: &str, name: &str) -> String {
    let begin = format!("name=\"{name}\" value=\"");
    let after = page.split_once(&begin).unwrap_or_else(|| panic!("no {name} in {page}")).1;
    after.split_once('"').unwrap().0.to_owned()
}
