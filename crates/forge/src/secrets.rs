//! Secrets that the environment of a job holds, taken out of what anybody may read: builds print what they are given.

use becalm_model::ci::{CiReport, CiResult};
use becalm_model::{Interruption, Note};
use serde_json::Value;

/// Variables whose values are secrets, whoever uses them.
const NAMES: [&str; 9] = [
    "GITHUB_TOKEN",
    "GH_TOKEN",
    "ACTIONS_RUNTIME_TOKEN",
    "ACTIONS_ID_TOKEN_REQUEST_TOKEN",
    "BECALM_GITLAB_TOKEN",
    "GITLAB_TOKEN",
    "CI_JOB_TOKEN",
    "CI_REGISTRY_PASSWORD",
    "PGPASSWORD",
];

/// Variable with the place of the history, which may be an address with a password in it.
const STORE: &str = "BECALM_STORE";

/// Shorter values are words of everyday, and to replace them would give them away.
const SHORTEST: usize = 8;

/// What stands in the place of a secret.
const HIDDEN: &str = "***";

/// Values that nobody is to read.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Secrets(Vec<String>);

impl Secrets {
    /// Takes those of the environment, and the addresses of webhooks, whose variables are read with the flags.
    pub fn of<'a>(
        variable: impl Fn(&str) -> Option<String>,
        hooks: impl IntoIterator<Item = &'a Secret>,
    ) -> Self {
        let hooks = hooks.into_iter().flat_map(|one| parts_of_address(one.expose()));
        let passwords = variable(STORE).map(|address| passwords_in(&address)).unwrap_or_default();
        Self::new(NAMES.into_iter().filter_map(&variable).chain(hooks).chain(passwords))
    }

    /// Takes these values, as far as they are long enough.
    pub(crate) fn new(values: impl IntoIterator<Item = String>) -> Self {
        let mut values: Vec<String> =
            values.into_iter().filter(|value| value.len() >= SHORTEST).collect();
        // One may be part of another, of which the rest would stay.
        values.sort_unstable_by_key(|value| std::cmp::Reverse(value.len()));
        Self(values)
    }

    /// Returns a text without them.
    pub fn hide(&self, text: &str) -> String {
        self.0.iter().fold(text.to_owned(), |text, secret| text.replace(secret.as_str(), HIDDEN))
    }

    /// Takes them out of all texts of a report.
    pub fn hide_in(&self, report: &mut CiReport) {
        let hide = |text: &mut String| *text = self.hide(text);
        match &mut report.result {
            CiResult::Identical(why) => *why = self.hidden_note(why),
            CiResult::Failed(
                Interruption::Failure { error: text } | Interruption::Text { text },
            ) => {
                hide(text);
            }
            CiResult::Failed(Interruption::Signal { .. }) => {}
            CiResult::Measured { lines, .. } => {
                for line in lines {
                    hide(&mut line.name);
                    hide(&mut line.metric);
                }
            }
        }
        hide(&mut report.base.title);
        hide(&mut report.head.title);
        hide(&mut report.machine);
        report.reproduce.iter_mut().for_each(hide);
        report.notes.iter_mut().for_each(|note| *note = self.hidden_note(note));
    }

    /// Returns a note without them, whatever texts its fields hold.
    fn hidden_note(&self, note: &Note) -> Note {
        if let Note::Text(sentence) = note {
            return Note::text(self.hide(&sentence.text));
        }
        let mut value = serde_json::to_value(note).expect("a note is JSON");
        self.hide_below(&mut value);
        serde_json::from_value(value).unwrap_or_else(|_| Note::text(HIDDEN))
    }

    fn hide_below(&self, value: &mut Value) {
        match value {
            Value::String(text) => *text = self.hide(text),
            Value::Array(values) => values.iter_mut().for_each(|one| self.hide_below(one)),
            Value::Object(fields) => fields.values_mut().for_each(|one| self.hide_below(one)),
            _ => {}
        }
    }
}

impl std::fmt::Debug for Secrets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "[{} secrets]", self.0.len())
    }
}

/// Returns what of an address is secret: all of it, and each longer part behind the name of the host.
pub(crate) fn parts_of_address(address: &str) -> Vec<String> {
    let behind = address.split_once("://").map_or(address, |(_, rest)| rest);
    let (_, path) = behind.split_once('/').unwrap_or((behind, ""));
    // `services` and `webhooks` stand in such addresses, and are words of everyday.
    let is_word = |part: &&str| part.len() < 16 && part.bytes().all(|b| b.is_ascii_lowercase());
    let parts = path.split(['/', '?', '&', '=', '#']).filter(|part| !is_word(part));
    [address, path]
        .map(str::to_owned)
        .into_iter()
        .chain(parts.map(str::to_owned))
        .chain(passwords_in(address))
        .collect()
}

/// Returns the password of `scheme://user:password@host`, and that of `?password=`, as they stand there.
fn passwords_in(address: &str) -> Vec<String> {
    let Some((_, behind)) = address.split_once("://") else { return Vec::new() };
    let host = behind.split(['/', '?']).next().unwrap_or_default();
    let before_host = host.rsplit_once('@').and_then(|(user, _)| user.split_once(':'));
    let query = behind.split_once('?').map_or("", |(_, query)| query);
    let of_query = query.split('&').filter_map(|pair| pair.strip_prefix("password="));
    before_host
        .map(|(_, password)| password)
        .into_iter()
        .chain(of_query)
        .map(str::to_owned)
        .collect()
}

/// A text that is never shown.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Takes a text in keeping.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Returns the text, for where it has to go.
    pub(crate) fn expose(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("[secret]")
    }
}

impl std::str::FromStr for Secret {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(Self::new(text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_secrets_are_replaced_and_the_longer_ones_first() {
        let variable = |name: &str| match name {
            "GITHUB_TOKEN" => Some("t0ken-of-ours".to_owned()),
            "PGPASSWORD" => Some("short".to_owned()),
            "BECALM_STORE" => Some("postgresql://becalm:passw0rd!@host/measurements".to_owned()),
            "HOME" => Some("/home/somebody".to_owned()),
            _ => None,
        };
        let hook = Secret::new("https://x/t0ken-of-ours-2");
        let secrets = Secrets::of(variable, [&hook]);
        let text = "t0ken-of-ours-2, passw0rd! and t0ken-of-ours for measurements in a short /home/somebody";
        let hidden = "***, *** and *** for measurements in a short /home/somebody";
        assert_eq!(secrets.hide(text), hidden);
    }

    #[test]
    fn an_address_is_a_secret_also_in_parts() {
        let secrets = Secrets::new(parts_of_address(
            "https://hooks.example.org/services/T01/s3cret-s3cret?a=b",
        ));
        let said = "POST services/T01/s3cret-s3cret?a=b: no s3cret-s3cret at hooks.example.org";
        assert_eq!(secrets.hide(said), "POST ***: no *** at hooks.example.org");
        assert_eq!(secrets.hide("the benchmark services/parse"), "the benchmark services/parse");
    }

    #[test]
    fn a_password_may_stand_in_the_query() {
        let variable = |name: &str| {
            (name == STORE).then(|| "postgresql://h/db?user=u&password=pass-w0rd&x=1".to_owned())
        };
        assert_eq!(Secrets::of(variable, []).hide("as u with pass-w0rd"), "as u with ***");
    }
}
