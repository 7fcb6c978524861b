//! The requests that fuzzing begins with (`cargo xtask fuzz web`), as they are, cut and patched.

use std::path::Path;
use std::sync::{LazyLock, Mutex};

use becalm_web::Unconnected;
use proptest::prelude::*;

use super::support::{Bench, field};

/// What the requests have as their token.
const TOKEN: &str = "0123456789abcdef";

/// What they have in place of the token of a form.
const FORM_TOKEN: &str =
    "FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF";

/// Servers without a socket, one with a history and one with a project, and the token of the forms of the first.
struct Target {
    server: Unconnected,
    of_projects: Unconnected,
    form_token: String,
    _bench: Bench,
}

impl Target {
    fn new() -> Self {
        let bench = Bench::with_a_change();
        let server = bench.unconnected(TOKEN);
        let of_projects = bench.unconnected_project(TOKEN);
        let front = requests().into_iter().find(|(name, _)| name == "front").expect("it is there");
        let page = String::from_utf8(server.exchange(front.1.as_bytes())).unwrap();
        Self { server, of_projects, form_token: field(&page, "token"), _bench: bench }
    }

    /// Returns the statuses of all answers.
    fn statuses(&self, sent: &[u8]) -> Vec<u16> {
        // By the name that they give it.
        let name = b"Host: projects";
        let is_of_projects = sent.windows(name.len()).any(|here| here == name);
        let server = if is_of_projects { &self.of_projects } else { &self.server };
        let answer = server.exchange(sent);
        let lines = answer.split(|byte| *byte == b'\n');
        let first = lines.filter_map(|line| line.strip_prefix(b"HTTP/1."));
        let status = |line: &[u8]| std::str::from_utf8(&line[2..5]).unwrap().parse().unwrap();
        first.map(status).collect()
    }

    fn with_form_token(&self, text: &str) -> String {
        text.replace(FORM_TOKEN, &self.form_token)
    }
}

/// Every request by the name of its file.
fn requests() -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/requests");
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut all: Vec<(String, String)> = files
        .map(|path| {
            let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
            (name, std::fs::read_to_string(path).unwrap())
        })
        .collect();
    all.sort();
    all
}

#[test]
fn requests_that_fuzzing_begins_with_reach_what_they_are_for() {
    let target = Target::new();
    for (name, text) in requests() {
        let expected: &[u16] = match name.as_str() {
            "decision" => &[303],
            "chunked" => &[201],
            "machines" => &[200, 200],
            "entries" => &[200, 200, 200],
            "api" => &[200, 200, 200, 200],
            "assets" => &[200, 200, 200, 200, 200],
            "projects" => &[200, 303, 200, 200, 200, 200, 200, 200, 200, 404],
            "benchmarks" => &[404],
            // `upload` sends the same record as `chunked`, which is known by then.
            _ => &[200],
        };
        assert_eq!(target.statuses(target.with_form_token(&text).as_bytes()), expected, "{name}");
    }
}

static TARGET: LazyLock<Mutex<Target>> = LazyLock::new(|| Mutex::new(Target::new()));

/// What takes the place of a word of a request.
const PATCHES: [&str; 14] = [
    "",
    "-1",
    "99999999999999999999",
    "%",
    "%00%ff",
    "a=b&a=b&=&&",
    "' OR 1=1 --",
    "<script>alert(1)</script>",
    "../../..",
    "1e999",
    "NaN",
    "\u{202e}",
    "POST",
    "chunked",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn requests_that_are_cut_and_patched_never_make_a_handler_fail(
        which in any::<prop::sample::Index>(),
        patches in prop::collection::vec((any::<prop::sample::Index>(), 0..PATCHES.len()), 0..4),
        end in any::<prop::sample::Index>(),
        is_cut in prop::bool::weighted(0.3),
    ) {
        let target = TARGET.lock().unwrap();
        let requests = requests();
        let mut bytes = target.with_form_token(&requests[which.index(requests.len())].1).into_bytes();
        for (at, patch) in patches {
            let from = at.index(bytes.len());
            let is_edge = |byte: &u8| b" \r\n&=?/:,{}\"".contains(byte);
            let start = bytes[..from].iter().rposition(is_edge).map_or(0, |found| found + 1);
            let length = bytes[start..].iter().position(is_edge).unwrap_or(bytes.len() - start);
            bytes.splice(start..start + length, PATCHES[patch].bytes());
            if bytes.is_empty() {
                break;
            }
        }
        if is_cut && !bytes.is_empty() {
            bytes.truncate(end.index(bytes.len()));
        }
        for status in target.statuses(&bytes) {
            prop_assert!(status < 500, "{status}: {}", String::from_utf8_lossy(&bytes));
        }
    }
}
