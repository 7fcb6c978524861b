//! A real browser: Chromium without a screen, told what to do through a pipe.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use base64::Engine as _;
use serde_json::{Value, json};

/// A browser with one page, which ends when it is dropped.
#[derive(Debug)]
pub struct Browser {
    child: Child,
    orders: File,
    answers: BufReader<File>,
    number: u64,
    session: Option<String>,
    /// What went wrong on pages since the last one was opened.
    pub errors: Vec<String>,
    _folder: tempfile::TempDir,
}

impl Browser {
    /// Starts one, or says why there is none.
    pub fn start() -> Result<Self, String> {
        let program = ["chromium", "chromium-browser", "google-chrome"].into_iter().find(|name| {
            let path = std::env::var_os("PATH").unwrap_or_default();
            std::env::split_paths(&path).any(|folder| folder.join(name).is_file())
        });
        let program = program.ok_or("Chromium is not installed (package chromium)")?;
        let folder = tempfile::tempdir().unwrap();
        let pipe = |name: &str| -> PathBuf { folder.path().join(name) };
        let made = Command::new("mkfifo").args([pipe("orders"), pipe("answers")]).status();
        if !made.is_ok_and(|status| status.success()) {
            return Err("mkfifo does not work here".to_owned());
        }
        // The browser reads from 3 and writes to 4.
        let script = r#"exec "$0" --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --no-first-run \
            --disable-background-networking --disable-component-update --disable-sync --no-proxy-server \
            --host-resolver-rules='MAP * ~NOTFOUND, EXCLUDE 127.0.0.1' --user-data-dir="$3" \
            --remote-debugging-pipe about:blank 3<"$1" 4>"$2""#;
        let mut start = Command::new("sh");
        start.args(["-c", script, program]).args([
            pipe("orders"),
            pipe("answers"),
            pipe("profile"),
        ]);
        start.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let child = start.spawn().map_err(|error| error.to_string())?;
        let orders = File::options().write(true).open(pipe("orders")).unwrap();
        let answers = BufReader::new(File::open(pipe("answers")).unwrap());
        let mut browser = Self {
            child,
            orders,
            answers,
            number: 0,
            session: None,
            errors: Vec::new(),
            _folder: folder,
        };
        let target = browser.order("Target.createTarget", &json!({"url": "about:blank"}));
        let target = json!({"targetId": target["targetId"], "flatten": true});
        let session = browser.order("Target.attachToTarget", &target);
        browser.session = session["sessionId"].as_str().map(str::to_owned);
        for domain in ["Page", "Runtime", "Log", "Network"] {
            browser.order(&format!("{domain}.enable"), &json!({}));
        }
        Ok(browser)
    }

    /// Carries out an order and returns the answer.
    pub fn order(&mut self, method: &str, params: &Value) -> Value {
        self.number += 1;
        let mut order = json!({"id": self.number, "method": method, "params": params});
        if let Some(session) = &self.session {
            order["sessionId"] = json!(session);
        }
        self.orders.write_all(format!("{order}\0").as_bytes()).unwrap();
        loop {
            let message = self.message();
            if message["id"] == self.number {
                assert!(message["error"].is_null(), "{method}: {message}");
                return message["result"].clone();
            }
        }
    }

    /// Waits for the next message, and keeps what went wrong on the page.
    pub fn message(&mut self) -> Value {
        let mut bytes = Vec::new();
        self.answers.read_until(0, &mut bytes).unwrap();
        assert_eq!(bytes.pop(), Some(0), "the browser has ended");
        let message: Value = serde_json::from_slice(&bytes).unwrap();
        let params = &message["params"];
        match message["method"].as_str() {
            Some("Log.entryAdded") if params["entry"]["level"] != "verbose" => {
                self.errors.push(params["entry"].to_string());
            }
            Some(
                "Runtime.consoleAPICalled" | "Runtime.exceptionThrown" | "Network.loadingFailed",
            ) => {
                self.errors.push(params.to_string());
            }
            _ => {}
        }
        message
    }

    /// Opens a page in a window of this width, `light` or `dark`, and waits until all of it is there.
    pub fn open(&mut self, url: &str, width: u32, scheme: &str) {
        let mobile = width < 500;
        let size = json!({"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": mobile});
        self.order("Emulation.setDeviceMetricsOverride", &size);
        let scheme = json!({"features": [{"name": "prefers-color-scheme", "value": scheme}]});
        self.order("Emulation.setEmulatedMedia", &scheme);
        self.load(url);
    }

    /// Opens a page in the window as it is.
    pub fn load(&mut self, url: &str) {
        self.errors.clear();
        self.order("Page.navigate", &json!({"url": url}));
        while self.message()["method"] != "Page.loadEventFired" {}
    }

    /// Computes something on the page.
    pub fn ask(&mut self, expression: &str) -> Value {
        let asked = json!({"expression": expression, "returnByValue": true});
        self.order("Runtime.evaluate", &asked)["result"]["value"].clone()
    }

    /// Computes something on the page that takes a while.
    pub fn wait_for(&mut self, expression: &str) -> Value {
        let asked = json!({"expression": expression, "returnByValue": true, "awaitPromise": true});
        self.order("Runtime.evaluate", &asked)["result"]["value"].clone()
    }

    /// Keeps a picture of the whole page.
    pub fn picture(&mut self, path: &Path) {
        let asked = json!({"format": "png", "captureBeyondViewport": true});
        let answer = self.order("Page.captureScreenshot", &asked);
        let text = answer["data"].as_str().unwrap();
        let bytes = base64::engine::general_purpose::STANDARD.decode(text).unwrap();
        std::fs::write(path, bytes).unwrap();
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
