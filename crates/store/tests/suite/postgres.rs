//! What is special to a server.

use becalm_store::{Access, HistoryLocation, StoreError, open};

use crate::support::{Bench, added, begun_by_several, entry, values};

#[test]
fn a_newer_history_is_refused_and_left_alone() {
    let Some(bench) = Bench::postgres() else { return };
    added(&mut bench.open(), &entry("1", 1.0, 1.0));
    let HistoryLocation::Server { url, .. } = &bench.place else { panic!("not a server") };
    let mut raw = postgres::Client::connect(url, postgres::NoTls).unwrap();
    raw.batch_execute("UPDATE becalm.version SET version = 99").unwrap();
    for access in [Access::Write, Access::Read] {
        let error = open(&bench.place, access).err().unwrap();
        assert!(matches!(error, StoreError::TooNew { found: 99, .. }), "{error}");
    }
}

#[test]
fn a_server_that_is_not_there_is_told_without_the_password() {
    let place = HistoryLocation::parse("postgresql://me:secret@127.0.0.1:1/perf");
    let told = open(&place, Access::Write).err().unwrap().to_string();
    assert!(
        told.contains("postgresql://me@127.0.0.1:1/perf") && !told.contains("secret"),
        "{told}"
    );
    assert!(!format!("{place:?}").contains("secret"));
}

#[test]
fn a_server_that_takes_connections_and_never_answers_is_told() {
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = silent.local_addr().unwrap();
    for encryption in ["disable", "require", "disable"] {
        let url = format!("postgresql://me@{address}/perf?sslmode={encryption}&connect_timeout=1");
        let told = open(&HistoryLocation::parse(&url), Access::Read).err().unwrap().to_string();
        assert!(told.contains("did not answer within 1 s"), "{told}");
    }
}

#[test]
fn several_writers_may_begin_it_at_once() {
    for _ in 0..4 {
        let Some(bench) = Bench::postgres() else { return };
        begun_by_several(&bench);
    }
}

/// The same database with this schema.
fn in_schema(bench: &Bench, schema: &str) -> HistoryLocation {
    let HistoryLocation::Server { url, .. } = &bench.place else { panic!("not a server") };
    HistoryLocation::parse(&format!("{url}?schema={schema}"))
}

#[test]
fn schemas_of_a_database_have_histories_that_know_nothing_of_each_other() {
    let Some(bench) = Bench::postgres() else { return };
    let places = ["one", "Two-2"].map(|schema| in_schema(&bench, schema));
    for (place, value) in places.iter().chain([&bench.place]).zip([1.0, 2.0, 3.0]) {
        assert!(matches!(open(place, Access::Read), Err(StoreError::Absent { .. })));
        added(&mut open(place, Access::Write).unwrap(), &entry("1", 1.0, value));
    }
    for (place, value) in places.iter().chain([&bench.place]).zip([1.0, 2.0, 3.0]) {
        let mut store = open(place, Access::Read).unwrap();
        assert_eq!(values(&mut store), [("sort".to_owned(), vec![value])]);
    }
    // What is written under one name is what the other writes under its own.
    let named = in_schema(&bench, "becalm");
    assert_eq!(values(&mut open(&named, Access::Read).unwrap()), [("sort".to_owned(), vec![3.0])]);
}

#[test]
fn who_writes_in_one_schema_does_not_wait_for_who_writes_in_another() {
    let Some(bench) = Bench::postgres() else { return };
    added(&mut bench.open(), &entry("1", 1.0, 1.0));
    let mut other = open(&in_schema(&bench, "other"), Access::Write).unwrap();
    let HistoryLocation::Server { url, .. } = &bench.place else { panic!("not a server") };
    let mut raw = postgres::Client::connect(url, postgres::NoTls).unwrap();
    // Somebody in the middle of writing to the usual schema, as every becalm does it.
    raw.batch_execute("BEGIN; SELECT pg_advisory_xact_lock(1650811757, 1)").unwrap();
    // Would wait for half a minute and fail.
    added(&mut other, &entry("1", 1.0, 2.0));
    raw.batch_execute("ROLLBACK").unwrap();
}

#[test]
fn a_schema_that_may_not_be_made_is_told_with_its_place() {
    let Some(bench) = Bench::postgres() else { return };
    let HistoryLocation::Server { url, .. } = &bench.place else { panic!("not a server") };
    let mut raw = postgres::Client::connect(url, postgres::NoTls).unwrap();
    raw.batch_execute("CREATE ROLE guest LOGIN; CREATE SCHEMA theirs AUTHORIZATION guest").unwrap();
    let guest = url.replace("becalm@", "guest@");
    let place = |schema: &str| HistoryLocation::parse(&format!("{guest}?schema={schema}"));
    let error = open(&place("mine"), Access::Write).err().unwrap().to_string();
    assert!(error.contains("?schema=mine: permission denied"), "{error}");
    // One that somebody else has made for them is enough.
    added(&mut open(&place("theirs"), Access::Write).unwrap(), &entry("1", 1.0, 1.0));
}
