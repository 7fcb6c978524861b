//! Pages without data: why there is none, and what to do.

use std::fmt::Write as _;

use becalm_model::history::{Decision, Review};

use super::change::decided;
use super::frame::{LONGEST_TEXT, Section, clipped_to, page};
use super::links::{At, Links, Site};
use crate::escape;

/// Why a page is not what somebody asked for.
#[derive(Debug, Clone, PartialEq)]
pub enum WebMessage {
    /// There is no such page, series or entry.
    NotFound,
    /// There is no such project, on a server with several.
    NoProject,
    /// The page is there, but not for this method.
    WrongMethod,
    /// The request cannot be understood, because of this.
    BadRequest(String),
    /// The record of an entry was pruned.
    Pruned,
    /// The record of an entry cannot be read by this becalm, because of this.
    Unreadable(String),
    /// The database did not answer, because of this.
    NoDatabase(String),
    /// The form is of another page, or of an earlier start of the server.
    ForeignForm,
    /// A dismissal needs a reason.
    NoReason,
    /// Somebody else decided meanwhile: what they decided, and the series with the change.
    Meanwhile {
        /// What is decided now; `None` if the change is open again.
        review: Option<Review>,
        /// The number of the series.
        series: i64,
    },
    /// Somebody asked without a token that the server knows.
    NoToken,
    /// Somebody asked with a token that does not permit this.
    NoRight {
        /// What it would have to permit: `read`, `upload` or `manage`.
        needed: &'static str,
    },
    /// The name by which somebody asked is not one of this server.
    UnknownHost,
    /// The request is larger than the server takes.
    TooLarge,
    /// The request came too slowly.
    TooSlow,
    /// Others ask for so much that there was no time for this.
    Busy,
    /// Something in becalm failed.
    Failed,
}

/// Writes a page that says why there is nothing else. `depth` is how many folders down it was asked for.
pub fn web_message(message: &WebMessage, site: &Site, depth: usize) -> String {
    let links = Links::below(site, depth);
    let (title, text) = words(message);
    let mut out = format!("<h1>{}</h1>\n<p>{}</p>\n", escape::html(title), escape::html(&text));
    if *message == WebMessage::NoProject {
        let _ = writeln!(out, "<p><a href=\"{}\">All projects</a></p>", links.projects());
    }
    if let WebMessage::Meanwhile { series, .. } = message {
        let to = links.to(At::Series { id: *series, by: "order", page: 1 });
        let _ = writeln!(out, "<p><a href=\"{to}\">Look at it again and decide</a></p>");
    }
    page(&links, Section::None, title, &out)
}

/// Says the same in one sentence, for programs.
pub fn web_message_text(message: &WebMessage) -> String {
    let (title, text) = words(message);
    format!("{title}: {text}")
}

fn words(message: &WebMessage) -> (&'static str, String) {
    use WebMessage as M;
    match message {
        M::NotFound => ("Not found", "The history has nothing with this name or number.".to_owned()),
        M::NoProject => (
            "Not found",
            "No project has this name. On this server, the address of each page begins with the name of its project."
                .to_owned(),
        ),
        M::WrongMethod => ("Not possible", "This address does not accept such a request.".to_owned()),
        M::BadRequest(why) => ("Bad request", sentence(why)),
        M::Pruned => {
            ("The record was pruned", "The history keeps only the values of this entry.".to_owned())
        }
        M::Unreadable(why) => ("The record cannot be read", sentence(why)),
        M::NoDatabase(why) => (
            "The history cannot be read",
            format!(
                "{} The server tries again with every request.",
                sentence(why)
            ),
        ),
        M::ForeignForm => (
            "Not decided",
            "The form is not from this server, or from before its last start. Load the page again and decide there."
                .to_owned(),
        ),
        M::NoReason => (
            "Not decided",
            "Dismissing a change needs a reason. Go back and write one.".to_owned(),
        ),
        M::Meanwhile { review, .. } => {
            let now = review.as_ref().map_or("open".to_owned(), |review| {
                let (word, reason) = match &review.decision {
                    Decision::Acknowledged { reason } => ("acknowledged", reason.as_deref()),
                    Decision::Dismissed { reason } => ("dismissed", Some(reason.as_str())),
                };
                decided(word, &review.by, Some(review.time), reason)
            });
            (
                "Another user decided meanwhile",
                format!("Your decision was not saved. The change is now {now}."),
            )
        }
        M::NoToken => {
            ("Token needed", "This needs a token of the server that permits it: to read, to upload or to manage.".to_owned())
        }
        M::NoRight { needed } => {
            ("Not permitted", format!("Your token does not have the right to {needed}."))
        }
        M::UnknownHost => (
            "Unknown name",
            "This server does not answer to the name in the address; --host adds a name.".to_owned(),
        ),
        M::TooLarge => ("Too large", "The request is larger than this server accepts.".to_owned()),
        M::TooSlow => ("Too slow", "The request did not arrive in time.".to_owned()),
        M::Busy => {
            ("Busy", "The server has too much to do: try again in a moment.".to_owned())
        }
        M::Failed => {
            ("Failed", "becalm could not make this page; its log has the reason.".to_owned())
        }
    }
}

/// Makes a sentence of what an error says.
fn sentence(error: &str) -> String {
    let error = clipped_to(error, LONGEST_TEXT);
    let mut letters = error.chars();
    let first = letters.next().into_iter().flat_map(char::to_uppercase);
    first.chain(letters).collect::<String>() + "."
}
