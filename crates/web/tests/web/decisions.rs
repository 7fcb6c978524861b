use becalm_model::history::{Decision, Review, SeriesId, StoredChange};

use super::support::{Bench, field, get, get_with, post};

/// The only change of a history.
fn change(bench: &Bench) -> (SeriesId, StoredChange) {
    let mut store = bench.store();
    let series = store.series(&becalm_series::SeriesFilter::default()).unwrap();
    let id = series.iter().find(|one| one.key.benchmark == "sort").unwrap().id;
    (id, store.changes(&[id]).unwrap().remove(0).remove(0))
}

fn path(page: &str) -> String {
    let after = page.split_once("<form method=\"post\" action=\"").unwrap().1;
    format!("/{}", after.split_once('"').unwrap().0)
}

#[test]
fn a_decision_is_kept_with_who_and_why_and_can_be_undone() {
    let bench = Bench::with_a_change();
    let server = bench.serve();
    let page = get(&server, "/").body;
    let (path, token) = (path(&page), field(&page, "token"));
    let form = format!("token={token}&seen=open&decision=dismiss&reason=a+new+compiler&by=ada");
    let reply = post(&server, &path, "", &form);
    assert_eq!(reply.status, 303, "{}", reply.body);
    assert!(reply.header("location").ends_with("-16"), "{reply:?}");
    let (_, kept) = change(&bench);
    let review = kept.review.unwrap();
    assert_eq!(review.by, "ada");
    assert_eq!(review.decision, Decision::Dismissed { reason: "a new compiler".to_owned() });
    // It is not open any more, and the share of dismissed ones is public.
    let page = get(&server, "/").body;
    assert!(page.contains("<h1>No open changes</h1>"), "{page}");
    assert!(page.contains("1\u{a0}change with a decision, 1 was dismissed (100\u{a0}%)"), "{page}");
    let page = get(&server, "/changes?state=dismissed").body;
    assert!(page.contains("dismissed by ada on ") && page.contains(": a new compiler"), "{page}");
    let form = format!("token={token}&seen={}&decision=reopen", field(&page, "seen"));
    assert_eq!(post(&server, &path, "", &form).status, 303);
    assert_eq!(change(&bench).1.review, None);
}

#[test]
fn a_decision_outlives_new_values_and_does_not_come_back() {
    let bench = Bench::with_a_change();
    let server = bench.serve();
    let page = get(&server, "/").body;
    let form = format!("token={}&seen=open&decision=dismiss&reason=noise", field(&page, "token"));
    assert_eq!(post(&server, &path(&page), "", &form).status, 303);
    for at in 30..40 {
        bench.store().add(&super::support::entry(at)).unwrap();
    }
    let page = get(&server, "/").body;
    assert!(
        page.contains("<h1>No open changes</h1>") && page.contains("40\u{a0}entries"),
        "{page}"
    );
}

#[test]
fn of_two_who_decide_at_once_the_second_is_told() {
    let bench = Bench::with_a_change();
    let server = bench.serve();
    // Both look at the same page.
    let page = get(&server, "/").body;
    let (path, token) = (path(&page), field(&page, "token"));
    let ada = format!("token={token}&seen=open&decision=acknowledge&by=ada");
    assert_eq!(post(&server, &path, "", &ada).status, 303);
    let eve = format!("token={token}&seen=open&decision=dismiss&reason=noise&by=eve");
    let reply = post(&server, &path, "", &eve);
    assert_eq!(reply.status, 409, "{}", reply.body);
    assert!(reply.body.contains("The change is now acknowledged by ada on "), "{}", reply.body);
    let Some(Review { by, decision, .. }) = change(&bench).1.review else { panic!("it is lost") };
    assert_eq!((by.as_str(), decision), ("ada", Decision::Acknowledged { reason: None }));
}

#[test]
fn of_many_who_decide_at_once_one_is_kept_and_all_others_are_told() {
    let bench = Bench::with_a_change();
    let server = bench.serve();
    let page = get(&server, "/").body;
    let (path, token) = (path(&page), field(&page, "token"));
    let statuses: Vec<u16> = std::thread::scope(|scope| {
        let (path, token, server) = (&path, &token, &server);
        let one = move |by: usize| {
            let form = format!("token={token}&seen=open&decision=acknowledge&by=user{by}");
            post(server, path, "", &form).status
        };
        let all: Vec<_> = (0..8).map(|by| scope.spawn(move || one(by))).collect();
        all.into_iter().map(|one| one.join().unwrap()).collect()
    });
    assert_eq!(statuses.iter().filter(|status| **status == 303).count(), 1, "{statuses:?}");
    assert_eq!(statuses.iter().filter(|status| **status == 409).count(), 7, "{statuses:?}");
}

#[test]
fn forms_of_other_sites_change_nothing() {
    let bench = Bench::with_a_change();
    let server = bench.serve();
    let page = get(&server, "/").body;
    let (path, token) = (path(&page), field(&page, "token"));
    let right = format!("token={token}&seen=open&decision=acknowledge");
    let refused = |more: &str, form: &str| {
        let reply = post(&server, &path, more, form);
        assert_eq!(reply.status, 403, "{more} {form}: {}", reply.body);
    };
    refused("Origin: http://evil.example\r\n", &right);
    refused("Origin: null\r\n", &right);
    refused("Sec-Fetch-Site: cross-site\r\n", &right);
    refused("", "seen=open&decision=acknowledge");
    refused("", "token=0&seen=open&decision=acknowledge");
    // The token of another start.
    refused("", &right.replace(&token, &"0".repeat(64)));
    assert!(get(&server, "/").body.contains("1\u{a0}regression, confirmed and open"));
    let own = format!("Origin: http://{}\r\n", server.at());
    assert_eq!(post(&server, &path, &own, &right).status, 303);
}

#[test]
fn a_server_that_is_for_reading_has_no_forms_and_takes_none() {
    let bench = Bench::with_a_change();
    let server = bench.serve_with(None, false);
    let page = get(&server, "/").body;
    assert!(!page.contains("<form"), "{page}");
    let reply = post(&server, "/changes/1@16", "", "seen=open&decision=acknowledge");
    assert_eq!(reply.status, 405, "{}", reply.body);
}

#[test]
fn who_has_the_token_decides_by_the_name_given_with_it() {
    let bench = Bench::with_a_change();
    let server = bench.serve_with(Some("0123456789abcdef"), true);
    // ada:0123456789abcdef
    let ada = "Authorization: Basic YWRhOjAxMjM0NTY3ODlhYmNkZWY=\r\n";
    let page = get_with(&server, "/", ada).body;
    assert!(page.contains("autocomplete=\"name\" value=\"ada\""), "{page}");
    let form = format!("token={}&seen=open&decision=acknowledge", field(&page, "token"));
    assert_eq!(post(&server, &path(&page), "", &form).status, 401);
    assert_eq!(post(&server, &path(&page), ada, &form).status, 303);
    assert_eq!(change(&bench).1.review.unwrap().by, "ada");
}

#[test]
fn changes_that_are_not_there_cannot_be_decided_about() {
    let bench = Bench::with_a_change();
    let server = bench.serve();
    let token = field(&get(&server, "/").body, "token");
    for path in ["/changes/999@16", "/changes/1@999", "/changes/1@2"] {
        let form = format!("token={token}&seen=open&decision=acknowledge");
        assert_eq!(post(&server, path, "", &form).status, 404, "{path}");
    }
}
