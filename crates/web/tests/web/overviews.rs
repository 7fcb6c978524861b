//! Pages over many series: what differs, machines, and where time goes.

use serde_json::Value;

use super::support::{Bench, entry, get};

/// Two machines and two branches, of which the other has a slower `sort`.
fn bench() -> Bench {
    let bench = Bench::with_a_change();
    let mut store = bench.store();
    for at in 0..30 {
        let mut slower = entry(at);
        "feature".clone_into(&mut slower.branch);
        slower.content = format!("feature {at}");
        slower.points[0].value *= 1.5;
        store.add(&slower).unwrap();
        let mut elsewhere = entry(at);
        elsewhere.content = format!("elsewhere {at}");
        elsewhere.facts.insert("cpu_model".to_owned(), "Another processor".to_owned());
        let compiler = if at < 25 { "cc 1" } else { "cc 2" };
        elsewhere.facts.insert("compiler".to_owned(), compiler.to_owned());
        store.add(&elsewhere).unwrap();
    }
    bench
}

fn json(server: &becalm_web::Server, path: &str) -> Value {
    let reply = get(server, path);
    assert_eq!(reply.status, 200, "{path}: {}", reply.body);
    serde_json::from_str(&reply.body).unwrap()
}

fn verdict<'a>(document: &'a Value, benchmark: &str) -> Option<&'a Value> {
    let all = document["comparisons"].as_array().unwrap();
    all.iter().find(|one| one["benchmark"] == benchmark)
}

#[test]
fn two_branches_differ_where_they_do_and_the_surest_comes_first() {
    let bench = bench();
    let server = bench.serve();
    let document = json(&server, "/api/compare?of=branches&before=main&after=feature");
    let first = &document["comparisons"][0];
    assert_eq!(
        (&first["benchmark"], &first["verdict"]),
        (&Value::from("sort"), &Value::from("slower"))
    );
    let ratio = ["ratio_low", "ratio", "ratio_high"].map(|name| first[name].as_f64().unwrap());
    assert!(ratio[0] > 1.3 && (ratio[1] - 1.5).abs() < 0.02 && ratio[2] < 1.7, "{ratio:?}");
    assert_eq!(first["before"]["entries"], 10);
    let other = verdict(&document, super::support::HOSTILE).unwrap();
    assert_ne!(other["verdict"], "slower");
    assert_eq!(
        (&document["counts"]["slower"], &document["counts"]["only_before"]),
        (&Value::from(1), &Value::from(2))
    );
    let different =
        json(&server, "/api/compare?of=branches&before=main&after=feature&show=different");
    assert_eq!(different["part"]["items"], 1);
    let searched =
        json(&server, "/api/compare?of=branches&before=main&after=feature&search=nothing");
    assert_eq!(searched["part"]["items"], 0);
    let page = get(&server, "/compare?of=branches&before=main&after=feature").body;
    assert!(
        page.contains("<h1>feature against main</h1>") && page.contains("class=\"forest slower\""),
        "{page}"
    );
    assert!(page.contains("1 slower, 0 faster"), "{page}");
}

#[test]
fn without_sides_the_newest_two_commits_are_compared() {
    let bench = bench();
    let server = bench.serve();
    let document = json(&server, "/api/compare");
    let sides = ["before", "after"].map(|side| document[side].as_str().unwrap().to_owned());
    assert_eq!(sides, ["28abcdef0123456789", "29abcdef0123456789"]);
    assert_eq!(document["counts"]["slower"], 0);
    // A commit is known by the beginning of its id, as everywhere.
    let old = json(&server, "/api/compare?before=01abcdef&after=29abcdef");
    assert_eq!(verdict(&old, "sort").unwrap()["verdict"], "slower");
    // What the history does not have is not compared in silence, nor what is too short to name a commit.
    for unknown in [
        "before=zzzzzz&after=29abcdef",
        "before=01abc&after=29abcdef",
        "of=branches&before=main&after=mian",
        "of=machines&before=nowhere",
    ] {
        assert_eq!(get(&server, &format!("/compare?{unknown}")).status, 404, "{unknown}");
    }
    for wrong in ["of=moons", "show=some", "page=0"] {
        assert_eq!(get(&server, &format!("/compare?{wrong}")).status, 400, "{wrong}");
    }
}

#[test]
fn machines_have_their_facts_noise_and_what_changed_there() {
    let bench = bench();
    let server = bench.serve();
    let document = json(&server, "/api/machines");
    let machines = document["machines"].as_array().unwrap();
    assert_eq!(machines.len(), 2);
    let other =
        machines.iter().find(|one| one["facts"]["cpu_model"] == "Another processor").unwrap();
    let noise = other["noise"].as_array().unwrap();
    assert_eq!(noise.len(), 2);
    assert!(
        noise.iter().all(|window| (0.005..0.1).contains(&window["middle"].as_f64().unwrap())),
        "{noise:?}"
    );
    let turn = &other["turns"][0];
    assert_eq!(
        (&turn["fact"], &turn["before"], &turn["after"]),
        (&"compiler".into(), &"cc 1".into(), &"cc 2".into())
    );
    let first = machines.iter().find(|one| one["facts"]["cpu_model"] == "A processor").unwrap();
    let branches: Vec<&Value> =
        first["branches"].as_array().unwrap().iter().map(|one| &one["branch"]).collect();
    assert_eq!(branches.len(), 2, "{branches:?}");
    let compared = json(
        &server,
        &format!(
            "/api/compare?of=machines&before={}&after={}",
            first["fingerprint"].as_str().unwrap(),
            other["fingerprint"].as_str().unwrap()
        ),
    );
    assert_eq!(compared["part"]["items"], 2);
    let page = get(&server, "/machines").body;
    assert!(page.contains("Another processor") && page.contains("cc 2"), "{page}");
}

#[test]
fn suites_say_where_the_time_of_their_last_commit_went() {
    let bench = bench();
    let server = bench.serve();
    let document = json(&server, "/api/suites");
    assert_eq!(document["suites"].as_array().unwrap().len(), 3);
    let rows = document["benchmarks"].as_array().unwrap();
    let share: f64 = rows.iter().map(|one| one["share"].as_f64().unwrap()).sum();
    assert!((share - 1.0).abs() < 1e-9 && rows[0]["benchmark"] == "sort", "{rows:?}");
    let seconds = rows[0]["value"].as_f64().unwrap() * 10.0;
    assert!((rows[0]["seconds"].as_f64().unwrap() - seconds).abs() < 1e-9);
    let machine = document["fingerprint"].as_str().unwrap();
    let chosen = json(&server, &format!("/api/suites?branch=main&machine={machine}"));
    assert_eq!(chosen["branch"], "main");
    assert_eq!(get(&server, "/suites?branch=main&machine=none").status, 404);
    assert_eq!(json(&server, "/api/suites?branch=feature")["branch"], "feature");
    assert_eq!(get(&server, "/api/suites?branch=featrue").status, 404);
    assert!(get(&server, "/suites").body.contains("<h1>Suites</h1>"));
}

#[test]
fn a_commit_that_several_suites_measured_has_the_time_of_all() {
    let bench = Bench::with_a_change();
    let mut store = bench.store();
    let mut other = entry(29);
    "another suite".clone_into(&mut other.content);
    other.measured += 60.0;
    other.points.truncate(1);
    "search".clone_into(&mut other.points[0].benchmark);
    store.add(&other).unwrap();
    let names = |server: &becalm_web::Server| -> Vec<String> {
        let document = json(server, "/api/suites");
        let rows = document["benchmarks"].as_array().unwrap();
        assert_eq!(document["suites"][0]["benchmarks"], rows.len());
        rows.iter().map(|one| one["benchmark"].as_str().unwrap().to_owned()).collect()
    };
    let server = bench.serve();
    let all = names(&server);
    assert!(all.len() == 3 && all.contains(&"sort".to_owned()), "{all:?}");
    // The next commit has one of them only.
    let mut next = entry(30);
    next.points = other.points;
    store.add(&next).unwrap();
    assert_eq!(names(&server), ["search"]);
}

#[test]
fn an_empty_history_has_these_pages_too() {
    let bench = Bench::empty();
    let server = bench.serve();
    for path in ["/compare", "/compare?of=branches", "/compare?of=machines", "/machines", "/suites"]
    {
        assert_eq!(get(&server, path).status, 200, "{path}");
    }
}

#[test]
fn a_comparison_that_is_asked_for_again_is_that_of_the_history_as_it_is() {
    let bench = Bench::with_a_change();
    let server = bench.serve();
    let of = |path: &str| json(&server, path);
    let all = of("/api/compare");
    assert_eq!(of("/api/compare?search=nowhere")["comparisons"], Value::Array(Vec::new()));
    assert_eq!(of("/api/compare"), all);
    assert_ne!(of("/api/compare?before=01abcdef&after=29abcdef"), all);
    bench.store().add(&entry(30)).unwrap();
    let later = of("/api/compare");
    assert_eq!(later["before"], all["after"], "{later}");
    assert_ne!(later["comparisons"], all["comparisons"]);
}
