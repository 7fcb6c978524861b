//! What is special to a server.

use becalm_store::{Access, HistoryLocation, StoreError, open};

use crate::support::{Bench, added, begun_by_several, entry};

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
fn several_writers_may_begin_it_at_once() {
    for _ in 0..4 {
        let Some(bench) = Bench::postgres() else { return };
        begun_by_several(&bench);
    }
}
