//! The front page as a phone shows it that visits the site for the first time: a browser with the network and the processor
//! that Lighthouse gives a phone.

use anyhow::{Context, Result};
use becalm_stats::Sample;
use becalm_stats::quantile::quantile;
use becalm_testkit::Browser;
use serde_json::json;

/// Times that the page is opened on each network, each time with nothing kept.
const VISITS: usize = 5;

/// How many times slower the processor is.
const SLOWER: f64 = 4.0;

/// A network of Lighthouse's `throttling` constants for mobile devices, with what it does to a request.
struct Network {
    name: &'static str,
    /// From request to answer, in milliseconds.
    latency: f64,
    /// In kilobits each second.
    down: f64,
    up: f64,
}

/// Where Lighthouse computes what a phone would take, it uses the first; where it slows a browser down, the second, whose
/// latency stands for all round trips of a request, those of a new connection too.
const NETWORKS: [Network; 2] = [
    Network { name: "150 ms, 1.6 Mbit/s", latency: 150.0, down: 1638.4, up: 750.0 },
    Network { name: "562.5 ms, 1.4 Mbit/s", latency: 562.5, down: 1474.56, up: 675.0 },
];

/// Opens the front page on each network, and says when something was painted and when all was there.
pub(super) fn visit(name: &str, address: &str) -> Result<()> {
    let mut browser = match Browser::start() {
        Ok(browser) => browser,
        Err(why) => {
            println!("{name}: not opened as a phone would: {why}");
            return Ok(());
        }
    };
    let screen = json!({"width": 390, "height": 844, "deviceScaleFactor": 3, "mobile": true});
    browser.order("Emulation.setDeviceMetricsOverride", &screen);
    browser.order("Emulation.setCPUThrottlingRate", &json!({"rate": SLOWER}));
    for network in NETWORKS {
        let bytes = |kilobits: f64| kilobits * 1024.0 / 8.0;
        let conditions = json!({
            "offline": false,
            "latency": network.latency,
            "downloadThroughput": bytes(network.down),
            "uploadThroughput": bytes(network.up),
        });
        let (mut painted, mut loaded) = (Vec::new(), Vec::new());
        for _ in 0..VISITS {
            // The address of the page before may have left a connection.
            browser.load("about:blank");
            browser.order("Network.clearBrowserCache", &json!({}));
            browser.order("Network.emulateNetworkConditions", &conditions);
            browser.load(&format!("http://{address}/"));
            // The first paint of a page may come after it has loaded.
            let paint = browser.wait_for(
                "new Promise(done => new PerformanceObserver(list => { \
                 const found = list.getEntriesByName('first-contentful-paint'); \
                 if (found.length > 0) done(found[0].startTime); \
                 }).observe({type: 'paint', buffered: true}))",
            );
            painted.push(paint.as_f64().context("nothing was painted")?);
            let load = browser.ask("performance.getEntriesByType('navigation')[0].loadEventStart");
            loaded.push(load.as_f64().context("it did not load")?);
        }
        let told = |times: Vec<f64>| -> Result<String> {
            let sample = Sample::new(times)?;
            Ok(format!("{:.0} ms (at most {:.0})", quantile(&sample, 0.5), sample.maximum()))
        };
        println!(
            "{name}: the front page on a phone ({}, processor {SLOWER} times slower): first paint after {}, complete after {}",
            network.name,
            told(painted)?,
            told(loaded)?,
        );
    }
    Ok(())
}
