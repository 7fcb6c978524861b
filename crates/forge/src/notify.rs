//! Messages to webhooks, which are sent when something changed.

use becalm_model::ci::CiReport;
use becalm_model::wire::ci_document;
use becalm_report::{WORDS, ci_message};
use serde_json::{Value, json};
use ureq::http::Method;

use crate::api::{Again, Api};
use crate::error::{Channel, NotifyError};
use crate::secrets::Secret;

/// Sends the document to a webhook and a message to a chat, and returns what could not be sent.
pub fn notify(
    report: &CiReport,
    webhook: Option<&Secret>,
    slack: Option<&Secret>,
    link: Option<&str>,
) -> Vec<NotifyError> {
    if !report.conclusion.is_news() {
        return Vec::new();
    }
    let mut errors = Vec::new();
    // A secret that a CI does not have is an empty variable.
    let given = |url: &&Secret| !url.expose().is_empty();
    if let Some(url) = webhook.filter(given) {
        let body = serde_json::to_value(ci_document(report, &WORDS)).expect("a document is JSON");
        errors.extend(send(Channel::Webhook, url, &body).err());
    }
    if let Some(url) = slack.filter(given) {
        let body = json!({ "text": ci_message(report, link) });
        errors.extend(send(Channel::Chat, url, &body).err());
    }
    errors
}

fn send(channel: Channel, url: &Secret, body: &Value) -> Result<(), NotifyError> {
    // A webhook answers in its own words: Slack with `ok`.
    let sent = Api::whole(url.clone()).text(&Method::POST, "", Some(body), Again::IfRefused);
    sent.map(|_| ()).map_err(|source| NotifyError { channel, source })
}
