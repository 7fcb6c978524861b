use becalm_series::SeriesFilter;
use serde_json::Value;

use std::collections::HashSet;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use becalm_model::history::Commit;
use becalm_web::Commits;

use super::support::{Bench, HOSTILE, entry, get, get_with, request, without_own_scripts};

#[test]
fn the_front_page_has_the_change_and_leads_to_its_series_and_record() {
    let bench = Bench::with_a_change();
    let server = bench.serve();
    let page = get(&server, "/");
    assert_eq!(page.status, 200, "{}", page.body);
    assert!(page.body.contains("<h1>1\u{a0}regression, confirmed and open</h1>"), "{}", page.body);
    assert!(
        page.body.contains("after <code>14abcdef01</code>, up to <code>15abcdef01</code>"),
        "{}",
        page.body
    );
    assert!(page.body.contains("A processor, Linux 6.12.0"), "{}", page.body);
    let id = series_of(&bench, "sort");
    assert!(page.body.contains(&format!("href=\"series/{id}\"")), "{}", page.body);
    // Who wrote the commit, behind what it says.
    assert!(page.body.contains(", by Ada (<a href="), "{}", page.body);
    let series = get(&server, &format!("/series/{id}"));
    assert!(series.body.contains("href=\"../record/16\""), "{}", series.body);
    assert_eq!(series.body.matches("<circle").count(), 30);
    let record = get(&server, "/record/16");
    assert!(record.body.contains("<title>record</title>"), "{}", record.body);
    assert!(record.header("content-security-policy").contains("style-src 'sha256-"), "{record:?}");
}

fn series_of(bench: &Bench, benchmark: &str) -> i64 {
    let filter = SeriesFilter { benchmark: Some(benchmark.to_owned()), ..SeriesFilter::default() };
    bench.store().series(&filter).unwrap()[0].id.0
}

#[test]
fn every_page_is_complete_without_script_and_repeats_no_markup_of_others() {
    let bench = Bench::with_a_change();
    let server = bench.serve();
    let id = series_of(&bench, HOSTILE);
    let paths = [
        "/",
        "/changes?state=all",
        "/benchmarks",
        "/benchmarks?search=SORT+main",
        "/entries",
        "/entry/30",
        "/compare?before=01abcdef&after=29abcdef",
        "/compare?of=branches",
        "/compare?of=machines",
        "/machines",
        "/suites",
    ];
    let more = [
        format!("/series/{id}"),
        format!("/series/{id}?by=time"),
        "/nothing".to_owned(),
        "/feed.atom".to_owned(),
    ];
    for path in paths.into_iter().map(str::to_owned).chain(more) {
        let page = get(&server, &path);
        assert!(!without_own_scripts(&page.body).contains("<script"), "{path}: {}", page.body);
        assert!(!page.body.contains('\u{1}'), "{path}");
        if path != "/feed.atom" {
            assert!(
                page.body.contains("<html lang=\"en\">") && page.body.ends_with("</html>\n"),
                "{path}"
            );
            // A style in an element is what the policy forbids, and so is another than this.
            assert!(!page.body.contains("style=\""), "{path}");
            let own = format!("<style>{}</style>", becalm_report::web::web_style());
            assert!(page.body.contains(&own) && page.body.matches("<style").count() == 1, "{path}");
        }
        let policy = page.header("content-security-policy");
        assert!(policy.starts_with("default-src 'none'; style-src 'sha256-"), "{path}: {policy}");
        let is_scripted = path.starts_with("/series/");
        assert_eq!(policy.contains("script-src 'self';"), is_scripted, "{path}: {policy}");
        assert!(!policy.contains("unsafe"), "{path}: {policy}");
        assert_eq!(page.header("x-content-type-options"), "nosniff", "{path}");
    }
}

#[test]
fn pages_are_compressed_for_those_who_take_that() {
    let bench = Bench::with_a_change();
    let server = bench.serve_with(None, false);
    let ask = |path: &str, more: &str| {
        let mut stream = TcpStream::connect(server.at()).unwrap();
        let host = server.at();
        let head =
            format!("GET {path} HTTP/1.1\r\nHost: {host}\r\n{more}Connection: close\r\n\r\n");
        stream.write_all(head.as_bytes()).unwrap();
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).unwrap();
        let end = bytes.windows(4).position(|four| four == b"\r\n\r\n").unwrap();
        let body = bytes.split_off(end + 4);
        (String::from_utf8(bytes).unwrap().to_lowercase(), body)
    };
    for path in ["/", "/series/1", "/api/openapi.json", "/api/changes"] {
        let (head, plain) = ask(path, "");
        assert!(
            !head.contains("content-encoding") && head.contains("vary: accept-encoding"),
            "{head}"
        );
        let (head, packed) = ask(path, "Accept-Encoding: gzip, br\r\n");
        assert!(
            head.contains("content-encoding: gzip") && packed.len() < plain.len() / 2,
            "{head}"
        );
        let mut unpacked = Vec::new();
        flate2::read::GzDecoder::new(&packed[..]).read_to_end(&mut unpacked).unwrap();
        assert!(unpacked == plain, "{path}");
    }
    let (head, _) = ask("/health", "Accept-Encoding: gzip\r\n");
    assert!(!head.contains("content-encoding"), "{head}");
}

#[test]
fn an_empty_history_says_what_to_do() {
    let bench = Bench::empty();
    let server = bench.serve();
    for path in ["/", "/benchmarks", "/entries"] {
        let page = get(&server, path);
        assert_eq!(page.status, 200, "{path}");
        assert!(
            page.body.contains("<code>becalm history add FILE</code>"),
            "{path}: {}",
            page.body
        );
    }
}

#[test]
fn the_interface_for_programs_answers_with_the_documents_of_the_pages() {
    let bench = Bench::with_a_change();
    let server = bench.serve();
    let id = series_of(&bench, "sort");
    let json = |path: &str| -> Value {
        let reply = get(&server, path);
        assert_eq!(
            (reply.status, reply.header("content-type")),
            (200, "application/json"),
            "{path}"
        );
        serde_json::from_str(&reply.body).unwrap()
    };
    let changes = json("/api/changes");
    assert_eq!(changes["schema"], "becalm/web-changes/1");
    assert_eq!(changes["counts"]["open_regressions"], 1);
    assert_eq!(changes["changes"][0]["change"]["history"]["id"], format!("{id}@16"));
    assert_eq!(json(&format!("/api/series/{id}"))["points"].as_array().unwrap().len(), 30);
    assert_eq!(json("/api/benchmarks?search=sort")["part"]["items"], 1);
    assert_eq!(json("/api/entries")["entries"][0]["entry"], 30);
    assert_eq!(json("/api/entry/30")["values"].as_array().unwrap().len(), 2);
    assert_eq!(json("/api/record/30"), serde_json::json!({"entry": 29}));
    let missing = get(&server, "/api/series/999");
    assert_eq!(missing.status, 404);
    let error: Value = serde_json::from_str(&missing.body).unwrap();
    assert_eq!(error["error"], "Not found: The history has nothing with this name or number.");
}

#[test]
fn addresses_that_are_nothing_and_methods_that_do_not_fit_are_refused() {
    let bench = Bench::with_a_change();
    let server = bench.serve();
    for path in [
        "/nothing",
        "/series/999",
        "/entry/999",
        "/record/999",
        "/changes?page=2",
        "/series/x",
        "/%2e%2e/etc",
    ] {
        assert_eq!(get(&server, path).status, 404, "{path}");
    }
    for path in ["/changes?page=0", "/changes?page=x", "/changes?state=none", "/series/1?by=size"] {
        assert_eq!(get(&server, path).status, 400, "{path}");
    }
    let wrong = request(&server, "DELETE", "/entry/1", "", "");
    assert_eq!((wrong.status, wrong.header("allow")), (405, "GET, HEAD"));
    let wrong = get(&server, "/changes/1@16");
    assert_eq!((wrong.status, wrong.header("allow")), (405, "POST"));
    let head = request(&server, "HEAD", "/entries", "", "");
    assert_eq!((head.status, head.body.as_str()), (200, ""));
}

#[test]
fn without_the_token_nobody_reads_anything() {
    let bench = Bench::with_a_change();
    let server = bench.serve_with(Some("0123456789abcdef"), true);
    for path in ["/", "/api/changes", "/metrics", "/icon.svg", "/nothing", "/record/1"] {
        let reply = get(&server, path);
        assert_eq!(reply.status, 401, "{path}");
        assert!(reply.header("www-authenticate").starts_with("Basic "), "{path}");
        assert!(!reply.body.contains("sort"), "{path}: {}", reply.body);
        let wrong = get_with(&server, path, "Authorization: Bearer 0123456789abcdeg\r\n");
        assert_eq!(wrong.status, 401, "{path}");
    }
    assert_eq!(
        (get(&server, "/health").status, get(&server, "/health").body.as_str()),
        (200, "ok\n")
    );
    let right = get_with(&server, "/", "Authorization: Bearer 0123456789abcdef\r\n");
    assert!(right.status == 200 && right.body.contains("sort"), "{}", right.body);
}

#[test]
fn a_site_whose_name_leads_here_learns_nothing() {
    let bench = Bench::with_a_change();
    let server = bench.serve();
    let reply = get_with(&server, "/", "Host: evil.example\r\n");
    assert!(reply.status == 421 && !reply.body.contains("sort"), "{}", reply.body);
}

#[test]
fn a_database_that_goes_away_is_said_and_comes_back() {
    let bench = Bench::with_a_change();
    let server = bench.serve();
    assert_eq!(get(&server, "/").status, 200);
    let (path, away) = (bench.path(), bench.folder.path().join("away"));
    std::fs::rename(&path, &away).unwrap();
    for path in ["/", "/health", "/entries", "/api/changes"] {
        let reply = get(&server, path);
        assert_eq!(reply.status, 503, "{path}: {}", reply.body);
    }
    assert!(get(&server, "/").body.contains("The history cannot be read"));
    std::fs::rename(&away, &path).unwrap();
    assert_eq!(get(&server, "/").status, 200);
}

#[test]
fn what_is_added_while_the_server_runs_is_shown() {
    let bench = Bench::with_a_change();
    let server = bench.serve();
    assert!(get(&server, "/").body.contains("30\u{a0}entries"));
    bench.store().add(&super::support::entry(30)).unwrap();
    assert!(get(&server, "/").body.contains("31\u{a0}entries"));
}

#[test]
fn counters_say_what_was_answered_and_what_there_is() {
    let bench = Bench::with_a_change();
    let server = bench.serve();
    get(&server, "/");
    get(&server, "/entry/999");
    let text = get(&server, "/metrics").body;
    for line in [
        "becalm_http_requests_total{page=\"changes\",status=\"200\"} 1",
        "becalm_http_requests_total{page=\"entry\",status=\"404\"} 1",
        "becalm_entries 30",
        "becalm_open_regressions 1",
        "becalm_changes{state=\"open\"} 1",
    ] {
        assert!(text.lines().any(|one| one == line), "{line} in {text}");
    }
}

#[test]
fn badge_and_feed_have_the_confirmed_change() {
    let bench = Bench::with_a_change();
    let server = bench.serve();
    let badge = get(&server, "/badge.svg");
    assert!(badge.body.contains("performance: 1 open regression"), "{}", badge.body);
    assert_eq!(badge.header("cross-origin-resource-policy"), "cross-origin");
    assert!(get(&server, "/badge.svg?branch=main").body.contains("1 open regression"));
    // A branch that is not there has no regression, and is not fine.
    assert_eq!(get(&server, "/badge.svg?branch=mian").status, 404);
    let feed = get(&server, "/feed.atom");
    assert_eq!(feed.body.matches("<entry>").count(), 1, "{}", feed.body);
    let base = format!("xml:base=\"http://{}/\"", server.at());
    assert!(feed.body.contains(&base), "{}", feed.body);
    assert!(
        feed.body.contains("(first value: ") && feed.body.contains(", by Ada)"),
        "{}",
        feed.body
    );
}

#[test]
fn a_long_series_is_shown_in_parts_with_the_whole_of_it_above() {
    let bench = Bench::empty();
    let mut store = bench.store();
    for at in 0..310 {
        store.add(&super::support::entry(at)).unwrap();
    }
    let server = bench.serve();
    let id = series_of(&bench, "sort");
    let points = |page: usize| -> (usize, Value) {
        let json = get(&server, &format!("/api/series/{id}?page={page}")).body;
        let json: Value = serde_json::from_str(&json).unwrap();
        let html = get(&server, &format!("/series/{id}?page={page}")).body;
        assert!(html.contains("All 310\u{a0}points of the series"), "{html}");
        (html.matches("<circle").count(), json)
    };
    let (newest, json) = points(1);
    assert_eq!((newest, &json["points"][149]["entry"]), (150, &Value::from(310)));
    assert_eq!(json["overview"].as_array().unwrap().len(), 240);
    let (oldest, json) = points(3);
    assert_eq!(
        (oldest, &json["points"][0]["entry"], &json["points"][9]["index"]),
        (10, &Value::from(1), &Value::from(9))
    );
    // Levels and changes are those of the whole series.
    assert_eq!(
        (json["levels"].as_array().unwrap().len(), json["changes"].as_array().unwrap().len()),
        (2, 1)
    );
    assert_eq!(get(&server, &format!("/series/{id}?page=4")).status, 404);
}

#[test]
fn a_series_has_its_changes_of_spread_and_leads_to_other_machines() {
    let bench = Bench::empty();
    let mut store = bench.store();
    for at in 0..120_u32 {
        let mut entry = super::support::entry(at);
        // The same level, around which the values scatter five times as much from the 61st on.
        let noise = (f64::from((at * 7919 + 13) % 101) - 50.0) / 1000.0;
        entry.points.truncate(1);
        entry.points[0].value = 10.0 + noise * if at < 60 { 1.0 } else { 5.0 };
        entry.points[0].error = None;
        store.add(&entry).unwrap();
    }
    let mut other = super::support::entry(130);
    other.facts.insert("cpu_model".to_owned(), "Another processor".to_owned());
    store.add(&other).unwrap();
    let server = bench.serve();
    let id = series_of(&bench, "sort");
    let json = get(&server, &format!("/api/series/{id}")).body;
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["spreads"][0]["kind"], "noisier", "{}", json["spreads"]);
    assert_eq!(json["elsewhere"].as_array().unwrap().len(), 1);
    assert_eq!(json["elsewhere"][0]["machine"]["cpu_model"], "Another processor");
    let html = get(&server, &format!("/series/{id}")).body;
    let to = format!("series/{}", json["elsewhere"][0]["series"]);
    for words in ["<h2>Spread</h2>", "noisier", "<h2>Elsewhere</h2>", "Another processor", &to] {
        assert!(html.contains(words), "{words}: {html}");
    }
}

#[test]
fn programs_get_the_fields_that_they_name() {
    let bench = Bench::with_a_change();
    let server = bench.serve();
    let reply = get(&server, "/api/changes?fields=counts.open_regressions,changes.change.kind");
    let json: Value = serde_json::from_str(&reply.body).unwrap();
    let expected = serde_json::json!({
        "schema": "becalm/web-changes/1",
        "counts": {"open_regressions": 1},
        "changes": [{"change": {"kind": "regression"}}],
    });
    assert_eq!(json, expected);
    for wrong in ["nothing", "", "a..b"] {
        assert_eq!(get(&server, &format!("/api/entries?fields={wrong}")).status, 400, "{wrong}");
    }
}

#[test]
fn the_description_of_the_interface_is_what_the_server_answers() {
    let bench = Bench::with_a_change();
    let server = bench.serve();
    let json = |path: &str| -> Value {
        let reply = get(&server, path);
        assert_eq!(reply.status, 200, "{path}: {}", reply.body);
        serde_json::from_str(&reply.body).unwrap()
    };
    let description = json("/api/openapi.json");
    assert_eq!(description["openapi"], "3.1.0");
    for (path, operations) in description["paths"].as_object().unwrap() {
        let path = path.replace("{id}", "1");
        let answer = json(&path);
        let schema =
            &operations["get"]["responses"]["200"]["content"]["application/json"]["schema"];
        let named = schema["$ref"].as_str().unwrap();
        let published = json(&format!("/api/{named}"));
        assert!(published["properties"]["schema"].is_object(), "{named}: {published}");
        if path != "/api/record/1" {
            let name = named.strip_prefix("schema/").unwrap();
            assert_eq!(answer["schema"], format!("becalm/{name}/1"), "{path}");
        }
    }
    assert_eq!(get(&server, "/api/schema/nothing").status, 404);
}

#[test]
fn the_interface_takes_the_parameters_and_words_that_are_described_and_no_others() {
    let bench = Bench::with_a_change();
    let server = bench.serve();
    let status = |address: &str| get(&server, address).status;
    let described: Value = serde_json::from_str(&get(&server, "/api/openapi.json").body).unwrap();
    let mut words = 0;
    for (path, operations) in described["paths"].as_object().unwrap() {
        let path = path.replace("{id}", "1");
        assert_eq!(status(&format!("{path}?pgae=1")), 400, "{path}");
        for parameter in operations["get"]["parameters"].as_array().unwrap() {
            let name = parameter["name"].as_str().unwrap();
            let Some(known) = parameter["schema"]["enum"].as_array() else { continue };
            for word in known {
                let address = format!("{path}?{name}={}", word.as_str().unwrap());
                assert_eq!(status(&address), 200, "{address}");
                words += 1;
            }
            assert_eq!(status(&format!("{path}?{name}=other")), 400, "{path}, {name}");
        }
    }
    assert!(words > 10, "{words}");
    // What mail and feeds add to links of pages does no harm.
    assert_eq!(status("/?utm_source=mail"), 200);
    let said = get(&server, "/api/machines?branch=main").body;
    assert!(said.contains("no parameter `branch`: this address takes page, fields"), "{said}");
}

#[test]
fn entries_of_lost_commits_and_changed_trees_do_not_count_and_are_said() {
    let bench = Bench::empty();
    let mut store = bench.store();
    let id = |at: u32| format!("{at:040x}");
    for at in 0..30 {
        let mut one = entry(at);
        one.commit = one.commit.map(|commit| Commit { id: id(at), ..commit });
        // What would be a change of level, if it counted.
        one.dirty = at >= 15;
        store.add(&one).unwrap();
    }
    let has: Arc<Mutex<HashSet<String>>> = Arc::new(Mutex::new((0..30).map(id).collect()));
    let all = Arc::clone(&has);
    let server = bench.serve_counting(Box::new(move |branch| {
        let all = all.lock().unwrap().clone();
        (branch == "main").then(|| Commits { first_parents: all.clone(), all, tip: f64::INFINITY })
    }));
    let front = get(&server, "/").body;
    assert!(front.contains("No open changes"), "{front}");
    let words = "Not counted: 15 entries are of a working tree with changes that no commit has.";
    assert!(front.contains(words), "{front}");
    // The newest two commits that count are compared.
    let compared: Value = serde_json::from_str(&get(&server, "/api/compare").body).unwrap();
    assert_eq!((&compared["before"], &compared["after"]), (&id(13).into(), &id(14).into()));
    assert!(get(&server, "/entries").body.matches(", not counted").count() == 15);
    let id_of_series = series_of(&bench, "sort");
    let page = get(&server, &format!("/series/{id_of_series}")).body;
    assert!(
        page.contains("<h2>Not counted</h2>") && page.contains("15 values</summary>"),
        "{page}"
    );
    // The branch is rewritten, which is noticed with the next entry.
    has.lock().unwrap().remove(&id(3));
    let mut one = entry(30);
    one.commit = one.commit.map(|commit| Commit { id: id(29), ..commit });
    store.add(&one).unwrap();
    let front = get(&server, "/").body;
    let words =
        "Not counted: 1 entry is of commits that main lost when it was rewritten; 15 entries are";
    assert!(front.contains(words), "{front}");
    let document = get(&server, &format!("/api/series/{id_of_series}")).body;
    let document: serde_json::Value = serde_json::from_str(&document).unwrap();
    assert_eq!(document["points"].as_array().unwrap().len(), 15);
    assert_eq!(document["uncounted"].as_array().unwrap().len(), 16);
}

#[test]
fn a_server_that_is_prepared_has_looked_at_its_history() {
    let bench = Bench::with_a_change();
    let looked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&looked);
    let server = bench.serve_counting(Box::new(move |_| {
        count.fetch_add(1, Ordering::SeqCst);
        None
    }));
    let at_start = looked.load(Ordering::SeqCst);
    assert!(at_start > 0);
    assert_eq!(get(&server, "/").status, 200);
    assert_eq!(looked.load(Ordering::SeqCst), at_start, "nobody looks again for a page");
}

#[test]
fn a_branch_of_which_nothing_counts_says_so_on_every_page() {
    let bench = Bench::empty();
    let mut store = bench.store();
    for at in 0..3 {
        let mut one = entry(at);
        one.dirty = true;
        store.add(&one).unwrap();
    }
    let server = bench.serve();
    let page = get(&server, &format!("/series/{}", series_of(&bench, "sort"))).body;
    assert!(page.contains("It has no values that count."), "{page}");
    assert!(page.contains("3 values</summary>"), "{page}");
    let machines = get(&server, "/machines").body;
    assert!(!machines.contains("1970") && !machines.contains("href=\"suites?"), "{machines}");
    for path in ["/", "/benchmarks", "/suites", "/compare", "/entries", "/feed.atom", "/metrics"] {
        assert_eq!(get(&server, path).status, 200, "{path}");
    }
}
