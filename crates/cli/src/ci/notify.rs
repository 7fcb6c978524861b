//! Messages to webhooks, which are sent when something changed.

use becalm_model::ci::CiReport;
use becalm_model::wire::ci_document;
use becalm_report::ci_message;
use serde_json::{Value, json};

use super::api::{Again, Api, ApiError, Method, Secret};
use crate::error::CommandError;

/// Sends the document to a webhook and a message to a chat, and returns what could not be sent.
pub(crate) fn notify(
    report: &CiReport,
    webhook: Option<&Secret>,
    slack: Option<&Secret>,
    link: Option<&str>,
) -> Vec<CommandError> {
    if !report.conclusion().is_news() {
        return Vec::new();
    }
    let mut errors = Vec::new();
    // A secret that a CI does not have is an empty variable.
    let given = |url: &&Secret| !url.expose().is_empty();
    if let Some(url) = webhook.filter(given) {
        let body = serde_json::to_value(ci_document(report)).expect("a document is JSON");
        errors.extend(send(url, &body).err().map(|error| told("--notify", &error)));
    }
    if let Some(url) = slack.filter(given) {
        let body = json!({ "text": ci_message(report, link) });
        errors.extend(send(url, &body).err().map(|error| told("--notify-slack", &error)));
    }
    errors
}

fn send(url: &Secret, body: &Value) -> Result<(), ApiError> {
    // A webhook answers in its own words: Slack with `ok`.
    Api::whole(url.clone()).text(Method::Post, "", Some(body), Again::IfRefused).map(|_| ())
}

/// Says what failed without the address, which is a secret.
fn told(option: &str, error: &ApiError) -> CommandError {
    CommandError::measure(format!("{option}: the message was not sent: {error}"))
}
