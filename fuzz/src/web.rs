//! Gives bytes to the dashboard as what a client says on one connection: no handler may panic, every answer is one of HTTP
//! that blames the client or has what was asked for, and libFuzzer watches memory and time.

#![no_main]

use std::sync::{Mutex, PoisonError};

use becalm_model::history::Commit;
use becalm_model::{Direction, Unit};
use becalm_series::{Access as StoreAccess, ChangeTerms, HistoryLocation, NewEntry, NewPoint, Origin, open};
use becalm_web::{Access, History, Limits, Projects, ServerOptions, Unconnected};
use libfuzzer_sys::fuzz_target;

/// What inputs have as their token.
const TOKEN: &str = "0123456789abcdef";

/// What inputs have that are for a server with projects.
const OF_PROJECTS: &[u8] = b"Host: projects";

/// What inputs have in place of the token of a form, of the same length.
const FORM_TOKEN: [u8; 86] = [b'F'; 86];

/// Exchanges with one history: inputs add entries to it.
const EXCHANGES: usize = 2000;

/// Two servers over a small history: of the second it is a project.
struct Dashboard {
    server: Unconnected,
    of_projects: Unconnected,
    form_token: Vec<u8>,
    exchanges: usize,
    _folder: tempfile::TempDir,
}

static DASHBOARD: Mutex<Option<Dashboard>> = Mutex::new(None);

impl Dashboard {
    fn new() -> Self {
        let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).expect("a folder");
        let place = HistoryLocation::File(folder.path().join("history.db"));
        let mut store = open(&place, StoreAccess::Write).expect("a history");
        for at in 0..30 {
            store.add(&entry(at)).expect("it takes entries");
        }
        let options = || ServerOptions {
            at: "127.0.0.1:0".parse().expect("an address"),
            title: "history".to_owned(),
            version: "1.0".to_owned(),
            access: Access::new(([127, 0, 0, 1], 0).into(), Some(TOKEN), &[], Vec::new()).expect("a token"),
            encryption: None,
            changes: true,
            limits: Limits { record: 64 << 10, ..Limits::default() },
            schema: |name| Some(name.to_owned()),
            log: None,
        };
        let page = |document: &str| Ok(format!("{} bytes", document.len()));
        let history = || History::new(place.clone(), ChangeTerms::default(), page, Box::new(|_| None));
        let server = Unconnected::new(history(), options()).expect("a server");
        let project = ("sort".parse().expect("a name"), history(), Some(Vec::new()));
        let of_projects = Unconnected::new(Projects::named([project]), options()).expect("a server");
        let front = format!("GET / HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {TOKEN}\r\n\r\n");
        let page = String::from_utf8(server.exchange(front.as_bytes())).expect("a page");
        let (_, after) = page.split_once("name=\"token\" value=\"").expect("a form");
        let form_token = after.as_bytes()[..FORM_TOKEN.len()].to_vec();
        Self { server, of_projects, form_token, exchanges: 0, _folder: folder }
    }

    fn exchange(&mut self, bytes: &[u8]) -> Vec<u8> {
        self.exchanges += 1;
        let mut sent = bytes.to_vec();
        if let Some(at) = bytes.windows(FORM_TOKEN.len()).position(|here| here == FORM_TOKEN) {
            sent[at..at + FORM_TOKEN.len()].copy_from_slice(&self.form_token);
        }
        let is_of_projects = bytes.windows(OF_PROJECTS.len()).any(|here| here == OF_PROJECTS);
        if is_of_projects { self.of_projects.exchange(&sent) } else { self.server.exchange(&sent) }
    }
}

/// The entry of one of thirty commits, in which `sort` gets slower at the sixteenth.
fn entry(at: u32) -> NewEntry {
    let time = 1_795_000_000.0 + 86_400.0 * f64::from(at);
    let noise = f64::from((at * 7919 + 13) % 101) / 1000.0;
    let point = |benchmark: &str, value: f64| NewPoint {
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
    };
    NewEntry {
        origin: Origin::Measurement,
        content: format!("content {at}"),
        measured: time + 60.0,
        commit: Some(Commit { id: format!("{at:02}abcdef0123456789"), time: Some(time) }),
        branch: "main".to_owned(),
        dirty: false,
        tags: vec!["nightly".to_owned()],
        facts: [("cpu_model".to_owned(), "A processor".to_owned())].into(),
        document: Some(format!("{{\"entry\": {at}}}")),
        points: vec![point("sort", if at < 15 { 1.0 } else { 1.3 } + noise), point("<b>", 1.0 + noise)],
    }
}

fuzz_target!(|bytes: &[u8]| {
    let mut kept = DASHBOARD.lock().unwrap_or_else(PoisonError::into_inner);
    if kept.as_ref().is_some_and(|dashboard| dashboard.exchanges >= EXCHANGES) {
        *kept = None;
    }
    let answer = kept.get_or_insert_with(Dashboard::new).exchange(bytes);
    if answer.is_empty() {
        return;
    }
    let status = answer.strip_prefix(b"HTTP/1.1 ").or_else(|| answer.strip_prefix(b"HTTP/1.0 "));
    let status = status.and_then(|rest| rest.get(..3)).expect("an answer of HTTP");
    // Nothing that a client says is the fault of the server.
    assert!(!status.starts_with(b"5"), "{}", String::from_utf8_lossy(&answer));
});
