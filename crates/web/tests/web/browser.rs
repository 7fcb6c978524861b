//! The pages in a real browser.

use std::path::Path;

use becalm_series::HistoryLocation;
use becalm_testkit::{Browser, skipped};
use becalm_web::Server;
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

/// Two servers, one with a history and one with several projects, and the pages of both with their addresses.
fn pages(bench: &Bench) -> ([Server; 2], Vec<(&'static str, String)>) {
    let gone = HistoryLocation::File(bench.folder.path().join("gone"));
    let projects = [
        ("sort", bench.place()),
        ("a-project.with_a-name-that-is-too-long-for-a-telephone", bench.place()),
        ("gone", gone),
    ];
    let servers = [bench.serve(), Bench::serve_knowing(&projects, None, |_| Some(Vec::new()))];
    let [one, several] = servers.each_ref().map(Server::url);
    let of_one = PAGES.map(|(name, path)| (name, format!("{one}{path}")));
    let of_several =
        [("projects", ""), ("project", "sort/"), ("gone", "gone/"), ("no-project", "x")];
    let of_several = of_several.map(|(name, path)| (name, format!("{several}{path}")));
    (servers, of_one.into_iter().chain(of_several).collect())
}

#[test]
fn pages_fit_a_screen_and_a_telephone_without_an_error() {
    let mut browser = match Browser::start() {
        Ok(browser) => browser,
        Err(why) => return skipped(&why),
    };
    let pictures = Path::new(env!("CARGO_TARGET_TMPDIR")).join("pages");
    std::fs::create_dir_all(&pictures).unwrap();
    let bench = Bench::with_a_change();
    let (_servers, pages) = pages(&bench);
    for (name, address) in pages {
        for (width, scheme) in [(1280, "light"), (1280, "dark"), (390, "light"), (390, "dark")] {
            let what = format!("{name} at {width}, {scheme}");
            browser.open(&address, width, scheme);
            // Of a status that is an error the browser says so.
            let wrong =
                browser.errors.iter().filter(|error| !error.contains("Failed to load resource"));
            assert_eq!(wrong.count(), 0, "{what}: {:?}", browser.errors);
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
    let (servers, pages) = pages(&bench);
    let nothing = ("nothing", format!("{}nothing", servers[0].url()));
    let mut found = Vec::new();
    for (name, address) in pages.into_iter().chain([nothing]) {
        for (width, scheme) in [(1280, "light"), (390, "dark")] {
            browser.open(&address, width, scheme);
            // What is folded is a part of the page, too.
            browser.ask("document.querySelectorAll('details').forEach(one => one.open = true)");
            browser.ask(&axe);
            let violations = browser.wait_for(
                "axe.run(document, {resultTypes: ['violations']}).then(found => found.violations.map(one => \
                 one.id + ': ' + one.nodes.slice(0, 2).map(node => node.html.slice(0, 200)).join(' ')))",
            );
            let violations = violations.as_array().expect("axe runs").clone();
            found.extend(violations.into_iter().map(|one| format!("{name} at {width}: {one}")));
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
    let (servers, _) = pages(&bench);
    browser.open(&format!("{}series/1", servers[0].url()), 1280, "light");
    let reached = tabbed(&mut browser, 14);
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
    browser.open(&servers[1].url(), 390, "dark");
    let reached = tabbed(&mut browser, 2);
    assert_eq!(reached, ["Skip to the content", "sort"]);
    browser.open(&format!("{}sort/series/1", servers[1].url()), 390, "dark");
    assert_eq!(tabbed(&mut browser, 3), ["Skip to the content", "Projects", "Changes"]);
}

/// Presses the key that goes on so many times, and returns the texts of what that reaches.
fn tabbed(browser: &mut Browser, times: usize) -> Vec<String> {
    let mut reached = Vec::new();
    for _ in 0..times {
        for kind in ["keyDown", "keyUp"] {
            let key =
                json!({"type": kind, "key": "Tab", "code": "Tab", "windowsVirtualKeyCode": 9});
            browser.order("Input.dispatchKeyEvent", &key);
        }
        let text = browser.ask("document.activeElement.textContent.trim()");
        reached.push(text.as_str().unwrap_or_default().to_owned());
    }
    reached
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
    browser.open(&format!("{}series/2", server.url()), 1280, "light");
    browser.ask("document.querySelector('#zoom figure').focus()");
    press(&mut browser, "End");
    let (page, enlarged) =
        (browser.ask("document.querySelector('dd').textContent"), browser.ask(said));
    let enlarged = enlarged.as_str().unwrap().rsplit(": ").next().unwrap();
    let [page, enlarged] = [page.as_str().unwrap(), enlarged].map(|text| {
        let mut words = text.split(|c: char| c.is_whitespace() || c == ',');
        (words.next().unwrap().parse::<f64>().expect(text), words.next().unwrap().to_owned())
    });
    assert!((page.0 / enlarged.0 - 1.0).abs() < 1e-3 && page.1 == "ms", "{page:?} {enlarged:?}");
    assert_eq!(page.1, enlarged.1);
    browser.order("Emulation.setScriptExecutionDisabled", &json!({"value": true}));
    browser.open(&format!("{}series/1", server.url()), 1280, "light");
    let shown = browser.ask("document.querySelector('#zoom').offsetHeight");
    assert_eq!((shown, &browser.errors), (json!(0), &Vec::new()));
}
