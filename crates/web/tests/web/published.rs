use std::collections::BTreeMap;
use std::convert::Infallible;

use becalm_web::{Publication, publish};

use super::support::{Bench, without_own_scripts};

fn publication(records: usize) -> Publication<'static> {
    Publication { title: "a history", version: "1.0", commits: None, url: None, records }
}

fn files(bench: &Bench, records: usize) -> BTreeMap<String, String> {
    let mut files = BTreeMap::new();
    let published = publish::<Infallible>(&bench.history(), publication(records), |path, text| {
        files.insert(path.to_owned(), text.to_owned());
        Ok(())
    });
    assert_eq!(published.unwrap().files, files.len());
    files
}

#[test]
fn every_link_between_published_files_leads_to_one() {
    let bench = Bench::with_a_change();
    let files = files(&bench, 3);
    for needed in [
        "index.html",
        "benchmarks.html",
        "compare.html",
        "machines.html",
        "suites.html",
        "entries.html",
        "style.css",
        "feed.atom",
        "entry/1.html",
    ] {
        assert!(files.contains_key(needed), "{needed}: {:?}", files.keys());
    }
    assert!(files.contains_key("record/30.html") && !files.contains_key("record/1.html"));
    let mut links = 0;
    for (path, text) in &files {
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        for part in text.split("href=\"").skip(1).chain(text.split("script src=\"").skip(1)) {
            let link = part.split_once('"').unwrap().0;
            let link = link.split_once('#').map_or(link, |(link, _)| link);
            if link.is_empty() {
                continue;
            }
            let target = match link.strip_prefix("../") {
                Some(rest) if !folder.is_empty() => rest.to_owned(),
                _ if folder.is_empty() => link.to_owned(),
                _ => format!("{folder}/{link}"),
            };
            assert!(files.contains_key(&target), "{path} leads to {target}");
            links += 1;
        }
        assert!(
            !text.contains("<form") && !without_own_scripts(text).contains("<script"),
            "{path}"
        );
    }
    assert!(links > 100, "{links}");
}

#[test]
fn a_published_feed_has_addresses_where_it_is_known_where_it_will_be() {
    let bench = Bench::with_a_change();
    let feed = |url| {
        let mut feed = String::new();
        let publication = Publication { url, ..publication(0) };
        let done = publish::<Infallible>(&bench.history(), publication, |path, text| {
            if path == "feed.atom" {
                text.clone_into(&mut feed);
            }
            Ok(())
        });
        assert!(done.is_ok());
        feed
    };
    let url = "https://example.org/pages/";
    assert!(feed(Some(url)).contains(&format!("xml:base=\"{url}\"")));
    assert!(!feed(None).contains("xml:base"));
}

#[test]
fn a_file_that_cannot_be_written_ends_the_export() {
    let bench = Bench::with_a_change();
    let mut written = 0;
    let failed = publish(&bench.history(), publication(3), |_, _| {
        written += 1;
        if written == 5 { Err("full") } else { Ok(()) }
    });
    assert!(matches!(failed, Err(becalm_web::PublishError::Write("full"))));
    assert_eq!(written, 5);
}
