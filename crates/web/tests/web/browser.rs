//! The pages in a real browser.

use std::path::Path;

use becalm_testkit::{Browser, skipped};
use serde_json::json;

use super::support::Bench;

/// The pages, as pictures of them are called, with their addresses.
const PAGES: [(&str, &str); 10] = [
    ("changes", "changes"),
    ("series", "series/1"),
    ("by-time", "series/1?by=time"),
    ("hostile", "series/2"),
    ("benchmarks", "benchmarks"),
    ("compare", "compare?before=01abcdef&after=29abcdef"),
    ("machines", "machines"),
    ("suites", "suites"),
    ("entries", "entries"),
    ("entry", "entry/30"),
];

#[test]
fn pages_fit_a_screen_and_a_telephone_without_an_error() {
    let mut browser = match Browser::start() {
        Ok(browser) => browser,
        Err(why) => return skipped(&why),
    };
    let pictures = Path::new(env!("CARGO_TARGET_TMPDIR")).join("pages");
    std::fs::create_dir_all(&pictures).unwrap();
    let bench = Bench::with_a_change();
    let server = bench.serve();
    for (name, path) in PAGES {
        for (width, scheme) in [(1280, "light"), (1280, "dark"), (390, "light"), (390, "dark")] {
            let what = format!("{name} at {width}, {scheme}");
            browser.open(&format!("{}{path}", server.url()), width, scheme);
            assert_eq!(browser.errors, Vec::<String>::new(), "{what}");
            let wide = browser.ask("document.documentElement.scrollWidth").as_u64().unwrap();
            assert!(wide <= u64::from(width), "{what}: {wide} pixels wide");
            // What a policy had forbidden would look like this.
            let sheets = browser.ask("document.styleSheets.length");
            assert_eq!(sheets, 1, "{what}");
            browser.picture(&pictures.join(format!("{name}-{width}-{scheme}.png")));
        }
    }
}

/// Returns the script that finds what keeps people out of a page: `xtask` puts the folder with it among those of programs.
fn axe() -> Result<String, String> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut files = std::env::split_paths(&path).map(|folder| folder.join("axe.min.js"));
    let file = files.find(|file| file.is_file());
    let file = file.ok_or("axe-core is not installed (npm package axe-core)")?;
    std::fs::read_to_string(file).map_err(|error| error.to_string())
}

#[test]
fn axe_finds_nothing_that_keeps_people_out() {
    let (mut browser, axe) = match Browser::start().and_then(|browser| Ok((browser, axe()?))) {
        Ok(found) => found,
        Err(why) => return skipped(&why),
    };
    let bench = Bench::with_a_change();
    let server = bench.serve();
    let mut found = Vec::new();
    for path in PAGES.map(|(_, path)| path).into_iter().chain(["nothing"]) {
        for (width, scheme) in [(1280, "light"), (390, "dark")] {
            browser.open(&format!("{}{path}", server.url()), width, scheme);
            // What is folded is a part of the page, too.
            browser.ask("document.querySelectorAll('details').forEach(one => one.open = true)");
            browser.ask(&axe);
            let violations = browser.wait_for(
                "axe.run(document, {resultTypes: ['violations']}).then(found => found.violations.map(one => \
                 one.id + ': ' + one.nodes.slice(0, 2).map(node => node.html.slice(0, 200)).join(' ')))",
            );
            let violations = violations.as_array().expect("axe runs").clone();
            found.extend(violations.into_iter().map(|one| format!("{path} at {width}: {one}")));
        }
    }
    assert_eq!(found, Vec::<String>::new());
}

#[test]
fn the_keyboard_reaches_everything_and_first_the_content() {
    let mut browser = match Browser::start() {
        Ok(browser) => browser,
        Err(why) => return skipped(&why),
    };
    let bench = Bench::with_a_change();
    let server = bench.serve();
    browser.open(&format!("{}series/1", server.url()), 1280, "light");
    let mut reached = Vec::new();
    for _ in 0..14 {
        for kind in ["keyDown", "keyUp"] {
            let key =
                json!({"type": kind, "key": "Tab", "code": "Tab", "windowsVirtualKeyCode": 9});
            browser.order("Input.dispatchKeyEvent", &key);
        }
        reached.push(
            browser
                .ask("document.activeElement.textContent.trim()")
                .as_str()
                .unwrap_or_default()
                .to_owned(),
        );
    }
    let expected = [
        "Skip to the content",
        "Changes",
        "Benchmarks",
        "Compare",
        "Machines",
        "Suites",
        "Entries",
        "By entry",
        "By time",
        "Measure again",
        "Decide",
    ];
    let found: Vec<&str> =
        reached.iter().map(String::as_str).filter(|text| expected.contains(text)).collect();
    assert_eq!(found, expected, "{reached:?}");
}

/// Presses a key on the element that has the focus.
fn press(browser: &mut Browser, key: &str) {
    for kind in ["keyDown", "keyUp"] {
        browser.order("Input.dispatchKeyEvent", &json!({"type": kind, "key": key}));
    }
}

#[test]
fn a_history_is_enlarged_where_scripts_run_and_complete_where_they_do_not() {
    let mut browser = match Browser::start() {
        Ok(browser) => browser,
        Err(why) => return skipped(&why),
    };
    let bench = Bench::with_a_change();
    let server = bench.serve();
    for (path, scheme) in
        [("series/1", "light"), ("series/1?by=time", "dark"), ("series/2", "light")]
    {
        browser.open(&format!("{}{path}", server.url()), 1280, scheme);
        // Something is drawn that is not all the same.
        let colours = browser.ask(
            "(() => { const one = document.querySelector('#zoom canvas'); \
             const bytes = one.getContext('2d').getImageData(0, 0, one.width, one.height).data; \
             return new Set(new Uint32Array(bytes.buffer)).size; })()",
        );
        assert!(colours.as_u64().is_some_and(|colours| colours > 3), "{path}: {colours}");
        assert_eq!(browser.errors, Vec::<String>::new(), "{path}");
    }
    browser.open(&format!("{}series/1", server.url()), 390, "light");
    browser.ask("document.querySelector('#zoom figure').focus()");
    let said = "document.querySelector('#zoom [aria-live]').textContent";
    press(&mut browser, "Home");
    assert!(browser.ask(said).as_str().unwrap().starts_with("point 1,"), "the first point");
    for key in ["ArrowRight", "+", "-", "0"] {
        press(&mut browser, key);
    }
    assert!(browser.ask(said).as_str().unwrap().starts_with("point 2,"), "the second point");
    assert_eq!(browser.errors, Vec::<String>::new());
    press(&mut browser, "Enter");
    while browser.message()["method"] != "Page.loadEventFired" {}
    assert!(browser.ask("location.pathname").as_str().unwrap().ends_with("/entry/2"));
    browser.order("Emulation.setScriptExecutionDisabled", &json!({"value": true}));
    browser.open(&format!("{}series/1", server.url()), 1280, "light");
    let shown = browser.ask("document.querySelector('#zoom').offsetHeight");
    assert_eq!((shown, &browser.errors), (json!(0), &Vec::new()));
}
