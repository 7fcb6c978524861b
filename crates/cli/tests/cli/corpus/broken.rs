//! Saved files with one byte changed, and cut off: whatever is read of them, nothing panics.

use becalm_model::{Record, wire};
use becalm_report::{Style, WORDS, metadata_text, show_text};
use becalm_runner::rounds::causes;

use super::{env, files, has_ending, name, read};

/// Places in each file that are tried; a longer search is made by raising this.
const PLACES: usize = 12;

/// Hands each broken form of a text to `open`: the byte at a place is another one, or the text ends before it.
fn each_broken(text: &[u8], mut open: impl FnMut(&[u8])) {
    for place in (0..PLACES).map(|place| (2 * place + 1) * text.len() / (2 * PLACES)) {
        open(&text[..place]);
        for bit in [1, 16] {
            let mut broken = text.to_vec();
            broken[place] ^= bit;
            open(&broken);
        }
    }
}

/// Does with a record what commands do that show it.
fn show(record: &Record) {
    let _ = causes(record);
    let text = show_text(record, &[], &Style::PLAIN) + &metadata_text(record, &Style::PLAIN);
    assert!(!text.is_empty());
    let written = serde_json::to_string(&wire::document(record, Vec::new(), &WORDS)).unwrap();
    assert!(!written.is_empty());
}

#[test]
fn broken_records_are_read_or_refused() {
    for file in files("records") {
        each_broken(read(&file).as_bytes(), |bytes| {
            if let Some(record) =
                str::from_utf8(bytes).ok().and_then(|text| wire::read_document(text).ok())
            {
                show(&record);
            }
        });
    }
}

#[test]
fn broken_logs_are_read_or_refused() {
    for file in files("logs") {
        each_broken(read(&file).as_bytes(), |bytes| {
            if let Some(record) =
                str::from_utf8(bytes).ok().and_then(|text| wire::read_log(text).ok())
            {
                show(&record);
            }
        });
    }
}

#[test]
fn broken_journals_reports_and_searches_are_read_or_refused() {
    for kind in ["machines", "documents", "searches"] {
        for file in files(kind).iter().filter(|file| has_ending(name(file), "json")) {
            let text = read(file);
            let text = match serde_json::from_str::<serde_json::Value>(&text)
                .unwrap()
                .get("var/lib/becalm/journal")
            {
                Some(journal) => journal.as_str().unwrap().to_owned(),
                None => text,
            };
            each_broken(text.as_bytes(), |bytes| {
                let _ = wire::read_journal(bytes);
                let Ok(text) = str::from_utf8(bytes) else { return };
                let _ = wire::read_ci(text, becalm_series::judge::ci::conclude);
                let _ = serde_json::from_str::<wire::BisectDocument>(text);
                let _ = serde_json::from_str::<wire::CpuNoiseDocument>(text);
            });
        }
    }
}

#[test]
fn broken_histories_are_listed_or_refused() {
    for file in files("histories").iter().filter(|file| has_ending(name(file), "db")) {
        let whole = std::fs::read(file).unwrap();
        let env = env();
        for place in (0..PLACES).map(|place| (2 * place + 1) * whole.len() / (2 * PLACES)) {
            let mut broken = whole.clone();
            broken[place] ^= 1;
            for bytes in [&broken[..], &whole[..place]] {
                env.write("h.db", bytes);
                let output = env.run(["changes", "--json", "--store", "h.db"]);
                let code = output.status.code();
                assert!(matches!(code, Some(0 | 4)), "{} at {place}: {output:?}", name(file));
            }
        }
    }
}
