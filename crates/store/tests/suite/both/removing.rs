//! What is removed and what stays, and the tokens.

use becalm_model::history::{Decision, EntryId, Pruned, Review};
use becalm_store::{EntryFilter, Prune, Right, SeriesFilter, Store, Token};

use super::decisions::{change, found_in, keep};
use crate::support::{Bench, added, all_series, entry, point, values};

both!(
    documents_go_first_and_those_at_changes_stay,
    entries_go_with_everything_of_theirs,
    tokens_are_made_once_and_stay_after_they_were_revoked,
);

fn documents_go_first_and_those_at_changes_stay(bench: &Bench) {
    let mut store = bench.open();
    let ids: Vec<EntryId> = (0..10)
        .map(|at| added(&mut store, &entry(&at.to_string(), f64::from(at) * 100.0, 1.0)))
        .collect();
    let series = all_series(&mut store)[0].id;
    let found = found_in(series, vec![change(ids[3], ids[2], 1.0)], None);
    keep(&mut store, &[found]).unwrap();
    let by_time = Prune { documents_before: Some(400.0), dry_run: true, ..Prune::default() };
    let would = store.prune(&by_time).unwrap();
    assert_eq!((would.records, would.records_kept, would.entries), (2, 2, 0));
    let kept = |store: &mut Store| -> Vec<bool> {
        let entries = store.entries(&EntryFilter::default()).unwrap();
        entries.iter().map(|one| one.has_document).collect()
    };
    assert_eq!(kept(&mut store), [true; 10]);
    assert_eq!(
        store.prune(&Prune { dry_run: false, ..by_time }).unwrap(),
        Pruned { dry_run: false, ..would }
    );
    let mut expected = [true; 10];
    expected[..2].fill(false);
    assert_eq!(kept(&mut store), expected);
    let by_number = Prune { documents_kept: Some(3), ..Prune::default() };
    assert_eq!(store.prune(&by_number).unwrap().records, 3);
    expected[4..7].fill(false);
    assert_eq!(kept(&mut store), expected);
    assert_eq!(values(&mut store)[0].1.len(), 10);
    // Somebody said that it is no change.
    let decision = Decision::Dismissed { reason: "noise".to_owned() };
    let review = Review { decision, by: String::new(), time: 1.0 };
    store.review(series, ids[3], Some(&review)).unwrap();
    assert_eq!(store.prune(&by_number).unwrap().records, 2);
}

fn entries_go_with_everything_of_theirs(bench: &Bench) {
    let mut store = bench.open();
    let mut ids = Vec::new();
    for at in 0..5 {
        let mut new = entry(&at.to_string(), f64::from(at) * 100.0, f64::from(at));
        if at == 0 {
            new.points.push(point("once", 1.0));
        }
        ids.push(added(&mut store, &new));
    }
    let sort = store
        .series(&SeriesFilter {
            metric: None,
            benchmark: Some("sort".to_owned()),
            ..SeriesFilter::default()
        })
        .unwrap()[0]
        .id;
    for at in [2, 4] {
        let review = Review {
            decision: Decision::Acknowledged { reason: None },
            by: "me".to_owned(),
            time: 1.0,
        };
        store.review(sort, ids[at], Some(&review)).unwrap();
    }
    let prune = Prune { entries_before: Some(200.0), entries: vec![ids[4]], ..Prune::default() };
    let pruned = store.prune(&prune).unwrap();
    assert_eq!(
        Pruned { bytes: 0, ..pruned },
        Pruned { entries: 3, values: 4, records: 3, decisions: 1, ..Pruned::default() }
    );
    assert_eq!(values(&mut store), [("sort".to_owned(), vec![2.0, 3.0])]);
    // The number of an entry is not given again, and the same thing may be added again.
    let again = added(&mut store, &entry("4", 400.0, 4.0));
    assert!(again > ids[4], "{again} {}", ids[4]);
    let nothing = Prune { entries: vec![EntryId(1000)], ..Prune::default() };
    let error = store.prune(&nothing).unwrap_err().to_string();
    assert!(error.ends_with("has no entry 1000"), "{error}");
}

fn tokens_are_made_once_and_stay_after_they_were_revoked(bench: &Bench) {
    let mut store = bench.open();
    let token = |name: &str, digest: &str, rights: &[Right]| Token {
        name: name.to_owned(),
        digest: digest.to_owned(),
        rights: rights.to_vec(),
        made: 1.5,
        revoked: None,
    };
    let ci = token("ci", "aa", &[Right::Upload]);
    assert!(store.add_token(&ci).unwrap());
    assert!(!store.add_token(&token("ci", "bb", &[Right::Read])).unwrap());
    assert!(store.add_token(&token("ada", "cc", &[Right::Manage, Right::Read])).unwrap());
    assert!(store.revoke_token("ci", 2.5).unwrap());
    assert!(!store.revoke_token("ci", 3.5).unwrap());
    assert!(!store.revoke_token("nobody", 3.5).unwrap());
    // The name can be used again, the token cannot.
    assert!(store.add_token(&token("ci", "aa", &[Right::Upload])).is_err());
    assert!(store.add_token(&token("ci", "dd", &[Right::Upload])).unwrap());
    let all = bench.open_for_reading().tokens().unwrap();
    let revoked = Token { revoked: Some(2.5), ..ci };
    assert_eq!(all[0], revoked);
    assert_eq!(all[1].rights, [Right::Read, Right::Manage]);
    assert!(!all[0].permits(Right::Upload) && all[2].permits(Right::Upload));
    assert!(!all[2].permits(Right::Read));
}
