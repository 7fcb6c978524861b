//! The site of this repository: every link of it leads somewhere, and a word is found.

use std::path::Path;
use std::process::Command;

use becalm_testkit::skipped;

use super::paths::ends;
use super::{INDEX, check, links, pages, write};
use crate::workspace::root;

#[test]
fn every_link_of_a_markdown_file_leads_somewhere() {
    let broken = links::broken(&root()).unwrap();
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn every_link_of_the_site_leads_somewhere() {
    let files = pages::build(&root()).unwrap();
    let broken = links::broken_on_site(&files);
    assert!(broken.is_empty(), "{}", broken.join("\n"));
    check().unwrap();
}

#[test]
fn nothing_of_the_site_comes_from_elsewhere() {
    let files = pages::build(&root()).unwrap();
    for (name, bytes) in files.iter().filter(|(name, _)| ends(name, "html")) {
        let html = String::from_utf8_lossy(bytes);
        for start in ["<script src=\"http", "<link rel=\"stylesheet\" href=\"http", "src=\"//"] {
            assert!(!html.contains(start), "{name}: {start}");
        }
    }
}

#[test]
fn the_search_index_has_the_sections_of_every_page() {
    let files = pages::build(&root()).unwrap();
    let script = String::from_utf8(files[INDEX].clone()).unwrap();
    let json = script.strip_prefix("const SECTIONS = ").unwrap().trim_end().trim_end_matches(';');
    let sections: Vec<serde_json::Value> = serde_json::from_str(json).unwrap();
    let pages = files.keys().filter(|name| ends(name, "html"));
    for page in pages {
        assert!(sections.iter().any(|section| section["page"] == page.as_str()), "{page}");
    }
    let found = sections.iter().find(|section| {
        section["text"].as_str().is_some_and(|text| text.contains("PR_SET_PDEATHSIG"))
    });
    assert_eq!(found.unwrap()["page"], "ARCHITECTURE.html");
}

#[test]
fn the_search_finds_a_page_by_a_word() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path()).unwrap();
    let script = "const fs = require('fs');\
                  const code = ['search-index.js', 'search.js'].map((name) => fs.readFileSync(name, 'utf8'));\
                  const ask = \"for (const section of search(SECTIONS, process.argv[1])) \
                               console.log(section.page + '#' + section.anchor)\";\
                  (0, eval)(code.join('\\n') + '\\n' + ask);";
    let asked = |query: &str| {
        let node =
            Command::new("node").args(["-e", script, query]).current_dir(folder.path()).output();
        node.ok().map(|output| {
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            String::from_utf8(output.stdout).unwrap()
        })
    };
    let Some(found) = asked("pr_set_pdeathsig leader") else {
        return skipped("node is not installed");
    };
    assert_eq!(found.trim(), "ARCHITECTURE.html#invariants");
    assert_eq!(asked("nowhere-to-be-found").unwrap(), "");
    // A heading comes before texts that have the word.
    let first = asked("becalm bisect").unwrap();
    assert_eq!(first.lines().next(), Some("docs/COMMANDS.html#becalm-bisect"));
}

#[test]
fn the_search_works_in_a_browser_from_disk() {
    let folder = tempfile::tempdir().unwrap();
    let site = folder.path().join("site");
    write(&site).unwrap();
    let Some(dom) = opened(&site.join("docs/START.html"), "?q=PR_SET_PDEATHSIG", folder.path())
    else {
        return skipped("no Chromium is installed");
    };
    assert!(dom.contains("1 section"), "{dom}");
    assert!(dom.contains("<a href=\"../ARCHITECTURE.html#invariants\">"), "{dom}");
}

/// Returns a page as Chromium has it after its scripts ran; none where there is no Chromium.
fn opened(page: &Path, query: &str, home: &Path) -> Option<String> {
    for program in ["chromium", "chromium-browser", "google-chrome"] {
        let mut command = Command::new(program);
        command
            .args(["--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=10000"])
            .arg(format!("--user-data-dir={}", home.join("profile").display()))
            .args(["--dump-dom", &format!("file://{}{query}", page.display())]);
        if let Ok(output) = command.output() {
            return Some(String::from_utf8_lossy(&output.stdout).into_owned());
        }
    }
    None
}

#[test]
fn a_folder_with_something_else_is_not_emptied() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("mine.txt"), "").unwrap();
    assert!(write(folder.path()).unwrap_err().to_string().contains("something else"));
    assert!(folder.path().join("mine.txt").exists());
}

#[test]
fn the_readme_and_the_argument_stay_short() {
    for (name, most) in [("README.md", 1000), ("docs/METHODOLOGY.md", 2400)] {
        let words = std::fs::read_to_string(root().join(name)).unwrap().split_whitespace().count();
        assert!(words <= most, "{name}: {words} words");
    }
}
