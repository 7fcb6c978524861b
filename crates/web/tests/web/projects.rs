//! Several histories on one server.

use std::collections::{BTreeMap, BTreeSet};
use std::net::TcpListener;

use becalm_series::{Access, HistoryLocation, Right, open};
use becalm_testkit::{postgres, skipped, wait_until};
use becalm_web::Server;
use serde_json::Value;

use super::support::{Bench, entry, field, get, get_with, post, request};

/// Two projects, of which `sort` has a regression and `search` no entry.
fn two() -> [(&'static str, Bench); 2] {
    [("sort", Bench::with_a_change()), ("search", Bench::empty())]
}

fn places(projects: &[(&'static str, Bench)]) -> Vec<(&'static str, HistoryLocation)> {
    projects.iter().map(|(name, bench)| (*name, bench.place())).collect()
}

fn json(server: &Server, path: &str, more: &str) -> Value {
    let reply = get_with(server, path, more);
    assert_eq!(reply.status, 200, "{path}: {}", reply.body);
    serde_json::from_str(&reply.body).unwrap()
}

/// Returns what a link of a page leads to.
fn resolved(from: &str, link: &str) -> String {
    let link = link.split_once('#').map_or(link, |(link, _)| link).replace("&amp;", "&");
    let folder = &from[..=from.split('?').next().unwrap().rfind('/').unwrap()];
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    let (path, query) = link.split_once('?').map_or((&*link, ""), |(path, query)| (path, query));
    for part in path.split('/') {
        match part {
            ".." => assert!(parts.pop().is_some(), "{link} in {from} leads out of the server"),
            "" | "." => {}
            part => parts.push(part),
        }
    }
    let end = if path.ends_with('/') && !parts.is_empty() { "/" } else { "" };
    let query = if query.is_empty() { String::new() } else { format!("?{query}") };
    format!("/{}{end}{query}", parts.join("/"))
}

#[test]
fn every_link_of_every_page_leads_to_a_page_of_the_same_project_or_to_the_list() {
    let projects = two();
    let server = Bench::serve_projects(&places(&projects), None);
    let mut seen: BTreeMap<String, u16> = BTreeMap::new();
    let mut ahead: BTreeSet<String> = ["/".to_owned(), "/sort/nothing/at/all".to_owned()].into();
    while let Some(path) = ahead.pop_first() {
        let page = get(&server, &path);
        seen.insert(path.clone(), page.status);
        if !page.header("content-type").starts_with("text/html") {
            continue;
        }
        let own = path[1..].split_once('/').map_or("", |(project, _)| project);
        let links =
            ["href=\"", "src=\"", "action=\""].map(|before| page.body.split(before).skip(1));
        for link in links.into_iter().flatten() {
            let link = link.split_once('"').unwrap().0;
            if link.starts_with('#')
                || link.starts_with("../changes/")
                || link.starts_with("changes/")
            {
                continue;
            }
            let to = resolved(&path, link);
            let of = to[1..].split_once('/').map_or("", |(project, _)| project);
            assert!(of == own || own.is_empty() || to == "/", "{path} leads to {to}");
            // Entries are all alike.
            if !seen.contains_key(&to) && seen.len() < 150 {
                ahead.insert(to);
            }
        }
    }
    let wrong: Vec<_> = seen.iter().filter(|(_, status)| **status != 200).collect();
    assert_eq!(wrong, [(&"/sort/nothing/at/all".to_owned(), &404)], "{seen:?}");
    for path in
        ["/sort/", "/search/", "/sort/changes", "/sort/icon.svg", "/icon.svg", "/sort/feed.atom"]
    {
        assert!(seen.contains_key(path), "{path} is not in {:?}", seen.keys());
    }
}

#[test]
fn the_list_says_how_each_project_stands() {
    let projects = two();
    let server = Bench::serve_projects(&places(&projects), None);
    let page = get(&server, "/").body;
    assert!(page.contains("<h1>2\u{a0}projects</h1>"), "{page}");
    assert!(
        page.contains("<a href=\"sort/\">sort</a>") && page.contains("\u{25b2} 1</span>"),
        "{page}"
    );
    let document = json(&server, "/api/projects", "");
    assert_eq!(document["schema"], "becalm/web-projects/1");
    let [sort, search] = [0, 1].map(|at| &document["projects"][at]);
    assert_eq!((&sort["name"], &search["name"]), (&"sort".into(), &"search".into()));
    let standing = &sort["standing"];
    let numbers =
        ["entries", "series", "open_improvements", "open_pending"].map(|name| &standing[name]);
    assert_eq!(numbers, [&30.into(), &2.into(), &0.into(), &Value::from(0)], "{standing}");
    assert_eq!(standing["counts"]["open_regressions"], 1);
    assert_eq!(standing["last"], 1_795_000_060.0 + 86_400.0 * 29.0);
    assert_eq!(
        (&search["standing"]["entries"], &search["standing"]["last"]),
        (&0.into(), &Value::Null)
    );
    let fields = json(&server, "/api/projects?fields=projects.name", "");
    assert_eq!(fields["projects"], serde_json::json!([{"name": "sort"}, {"name": "search"}]));
}

#[test]
fn a_project_has_all_of_its_pages_below_its_name_and_nothing_of_the_others() {
    let projects = two();
    let server = Bench::serve_projects(&places(&projects), None);
    for path in [
        "",
        "changes",
        "benchmarks",
        "compare",
        "machines",
        "suites",
        "entries",
        "feed.atom",
        "badge.svg",
        "api/changes",
        "api/schema/record",
    ] {
        assert_eq!(get(&server, &format!("/sort/{path}")).status, 200, "{path}");
        assert_eq!(get(&server, &format!("/search/{path}")).status, 200, "{path}");
    }
    assert_eq!(
        (get(&server, "/sort/entry/30").status, get(&server, "/search/entry/30").status),
        (200, 404)
    );
    let feed = get(&server, "/sort/feed.atom").body;
    assert!(feed.contains(&format!("xml:base=\"http://{}/sort/\"", server.at())), "{feed}");
    let described = json(&server, "/sort/api/openapi.json", "");
    assert_eq!(described["servers"][0]["url"], "/sort");
    assert!(described["paths"]["/api/changes"].is_object());
    let described = json(&server, "/api/openapi.json", "");
    assert!(
        described["paths"]["/{project}/api/changes"]["get"].is_object()
            && described["paths"]["/api/projects"].is_object()
    );
    // A folder is what links of its front page are relative to.
    let reply = get(&server, "/sort");
    assert_eq!((reply.status, reply.header("location")), (303, "sort/"));
    // What is of the whole server is at its top alone, and pages of a history are in a project alone.
    for nothing in [
        "/sort/health",
        "/sort/metrics",
        "/changes",
        "/series/1",
        "/feed.atom",
        "/api/changes",
        "/Sort/",
        "/nobody/",
        "/sort%2f",
    ] {
        assert_eq!(get(&server, nothing).status, 404, "{nothing}");
    }
    assert_eq!(request(&server, "DELETE", "/", "", "").status, 405);
}

#[test]
fn a_decision_and_a_record_are_kept_in_their_project() {
    let projects = two();
    let token = projects[1].1.token("ci", &[Right::Upload]);
    let server = Bench::serve_projects(&places(&projects), None);
    let page = get(&server, "/sort/").body;
    let form = format!("token={}&seen=open&decision=dismiss&reason=noise", field(&page, "token"));
    let action = page.split_once("<form method=\"post\" action=\"").unwrap().1;
    let path = format!("/sort/{}", action.split_once('"').unwrap().0);
    let reply = post(&server, &path, "", &form);
    let at = reply.header("location");
    assert!(reply.status == 303 && resolved(&path, at).starts_with("/sort/series/"), "{reply:?}");
    assert!(get(&server, "/sort/").body.contains("<h1>No open changes</h1>"));
    let record = "{\"schema\": \"becalm/run/1\", \"started_at\": 1795000001, \"confidence\": 0.95, \"subjects\": \
         [{\"name\": \"s\", \"command\": [\"s\"], \"runs\": [{\"round\": 0, \"order\": 0, \"wall_time\": 1}]}]}";
    let send = |path: &str| request(&server, "POST", path, &token, record).status;
    assert_eq!(send("/search/api/entries"), 201);
    // Its token is that of another project, or of none.
    assert_eq!((send("/sort/api/entries"), send("/api/entries")), (401, 404));
    assert_eq!((projects[0].1.entries(), projects[1].1.entries()), (30, 1));
}

#[test]
fn a_token_gives_rights_in_its_project_alone() {
    let projects = two();
    let [of_sort, of_search] =
        projects.each_ref().map(|(name, bench)| bench.token(name, &[Right::Read]));
    let uploader = projects[0].1.token("ci", &[Right::Upload]);
    let server = Bench::serve_projects(&places(&projects), Some("0123456789abcdef"));
    let of_server = "Authorization: Bearer 0123456789abcdef\r\n";
    let wrong = "Authorization: Bearer becalm_0123456789abcdef\r\n";
    let statuses = |token: &str| {
        ["/sort/", "/search/", "/sort/api/changes", "/nobody/", "/", "/metrics"]
            .map(|path| get_with(&server, path, token).status)
    };
    assert_eq!(statuses(of_server), [200, 200, 200, 404, 200, 200]);
    assert_eq!(statuses(&of_sort), [200, 401, 200, 401, 200, 200]);
    assert_eq!(statuses(&of_search), [401, 200, 401, 401, 200, 200]);
    assert_eq!(statuses(&uploader), [403, 401, 403, 401, 403, 403]);
    for nobody in ["", wrong] {
        assert_eq!(statuses(nobody), [401; 6]);
    }
    // A wrong token and that of another project get the same answer, and so does who asks for a project that is not there.
    for path in ["", "/", "/series/1", "/api/changes", "/api"] {
        let [other, wrong, none] = [("sort", &*of_search), ("sort", wrong), ("nobody", wrong)]
            .map(|(project, token)| get_with(&server, &format!("/{project}{path}"), token));
        let without = |mut one: BTreeMap<String, String>| one.remove("date").map(|_| one);
        let [other, wrong, none] =
            [other, wrong, none].map(|one| (one.status, one.body, without(one.headers)));
        assert_eq!(other, wrong, "{path}");
        assert_eq!((none.0, &none.1), (wrong.0, &wrong.1), "{path}");
        let realm = &none.2.unwrap()["www-authenticate"];
        assert!(realm.contains("\"becalm nobody:"), "{realm}");
    }
    assert!(get(&server, "/").header("www-authenticate").contains("\"becalm:"));
    // Nobody learns from the list or from the numbers what else there is.
    let page = get_with(&server, "/", &of_sort).body;
    assert!(page.contains("<h1>1\u{a0}project</h1>") && !page.contains("search/"), "{page}");
    let metrics = get_with(&server, "/metrics", &of_sort).body;
    assert!(
        metrics.contains("becalm_up{project=\"sort\"} 1") && !metrics.contains("search"),
        "{metrics}"
    );
    assert_eq!(json(&server, "/api/projects", of_server)["projects"].as_array().unwrap().len(), 2);
    assert_eq!(get(&server, "/health").status, 200);
}

#[test]
fn a_project_without_tokens_is_open_on_loopback_beside_one_that_is_not() {
    let projects = two();
    let reader = projects[0].1.token("ada", &[Right::Read]);
    let server = Bench::serve_projects(&places(&projects), None);
    let statuses =
        |more: &str| ["/sort/", "/search/", "/"].map(|path| get_with(&server, path, more).status);
    assert_eq!((statuses(""), statuses(&reader)), ([401, 200, 200], [200, 200, 200]));
    assert!(
        !get(&server, "/").body.contains("sort/")
            && get_with(&server, "/", &reader).body.contains("sort/")
    );
    // A site whose name leads here learns nothing of the one that is open.
    assert_eq!(get_with(&server, "/search/", "Host: evil.example\r\n").status, 421);
}

#[test]
fn a_project_whose_history_cannot_be_read_does_not_stop_the_others_and_comes_back() {
    let projects = two();
    let reader = projects[0].1.token("ada", &[Right::Read]);
    let (path, away) = (projects[0].1.path(), projects[0].1.folder.path().join("away"));
    std::fs::rename(&path, &away).unwrap();
    let server = Bench::serve_projects(&places(&projects), None);
    // It is not known who may read it, so nobody does.
    for more in ["", &reader] {
        let reply = get_with(&server, "/sort/", more);
        assert!(
            reply.status == 503 && reply.body.contains("tokens could not be read yet"),
            "{reply:?}"
        );
    }
    let list = get(&server, "/").body;
    assert!(
        list.contains("<h1>1\u{a0}project</h1>")
            && list.contains("1\u{a0}more project cannot be shown"),
        "{list}"
    );
    assert_eq!(get(&server, "/search/").status, 200);
    assert_eq!(get(&server, "/health").body, "ok, but of 2 projects 1 cannot be read\n");
    std::fs::rename(&away, &path).unwrap();
    wait_until("it is back", || get_with(&server, "/sort/", &reader).status == 200);
    assert_eq!(
        (get(&server, "/sort/").status, get(&server, "/health").body.as_str()),
        (401, "ok\n")
    );
    // Gone again: those who may read it see that, and why.
    std::fs::rename(&path, &away).unwrap();
    let list = get_with(&server, "/", &reader).body;
    assert!(list.contains("sort/") && list.contains("its history cannot be read now"), "{list}");
    let page = get_with(&server, "/sort/", &reader);
    assert!(page.status == 503 && page.body.contains("The history cannot be read"), "{page:?}");
    let metrics = get_with(&server, "/metrics", &reader).body;
    assert!(metrics.contains("becalm_up{project=\"sort\"} 0"), "{metrics}");
    assert!(metrics.contains("becalm_entries{project=\"search\"} 0"), "{metrics}");
    assert_eq!(get(&server, "/search/").status, 200);
}

#[test]
fn a_database_that_never_answers_keeps_nobody_from_the_other_projects() {
    let other = Bench::with_a_change();
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("postgresql://me:secret@{}/perf?schema=x", silent.local_addr().unwrap());
    let places = [("silent", HistoryLocation::parse(&url)), ("sort", other.place())];
    // It takes connections and says nothing at all.
    let server = Bench::serve_knowing(&places, None, |_| None);
    std::thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(|| {
                let reply = get(&server, "/silent/");
                assert!(reply.status == 503 && !reply.body.contains("secret"), "{reply:?}");
            });
        }
        scope.spawn(|| assert_eq!(get(&server, "/sort/").status, 200));
        scope.spawn(|| assert!(get(&server, "/").body.contains("sort/")));
    });
    drop(silent);
}

#[test]
fn schemas_of_a_database_of_postgresql_are_projects() {
    let url = match postgres() {
        Ok(server) => server.database(),
        Err(why) => return skipped(why),
    };
    let places =
        ["one", "two"].map(|name| (name, HistoryLocation::parse(&format!("{url}?schema={name}"))));
    for ((_, place), entries) in places.iter().zip([5, 2]) {
        let mut store = open(place, Access::Write).unwrap();
        for at in 0..entries {
            store.add(&entry(at)).unwrap();
        }
    }
    let server = Bench::serve_projects(&places, None);
    let document = json(&server, "/api/projects?fields=projects.standing.entries", "");
    let entries = [0, 1].map(|at| &document["projects"][at]["standing"]["entries"]);
    assert_eq!(entries, [&5.into(), &Value::from(2)]);
    assert_eq!(
        (get(&server, "/one/entry/5").status, get(&server, "/two/entry/5").status),
        (200, 404)
    );
    drop(server);
}
