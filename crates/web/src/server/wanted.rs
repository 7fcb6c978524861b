//! What a request says in its address, read and checked.

use becalm_report::web::WebMessage;

use super::access::Caller;
use super::fields::Fields;
use super::query::value;
use super::target::Form;
use crate::queries::{By, CompareOf};

/// Letters of a search, a branch and the like.
const WORDS: usize = 200;

/// One request, as far as routes look at it.
pub(super) struct Wanted {
    pub(super) query: Vec<(String, String)>,
    pub(super) who: Caller,
    /// The address of the site, for a feed.
    pub(super) base: String,
}

/// How a document is wanted.
pub(super) enum Wished {
    Page,
    Document,
    Fields(Fields),
}

impl Wanted {
    pub(super) fn words(&self, name: &str) -> Option<String> {
        value(&self.query, name).map(|words| words.chars().take(WORDS).collect())
    }

    pub(super) fn page(&self) -> Result<usize, WebMessage> {
        let Some(text) = value(&self.query, "page") else { return Ok(1) };
        let page = text.parse().ok().filter(|page| *page > 0);
        page.ok_or_else(|| WebMessage::BadRequest("`page` must be a number, 1 or more".to_owned()))
    }

    pub(super) fn by(&self) -> Result<By, WebMessage> {
        match value(&self.query, "by") {
            None | Some("order") => Ok(By::Order),
            Some("time") => Ok(By::Time),
            Some(_) => Err(WebMessage::BadRequest("`by` must be order or time".to_owned())),
        }
    }

    pub(super) fn wish(&self, form: Form) -> Result<Wished, WebMessage> {
        Ok(match (form, value(&self.query, "fields")) {
            (Form::Page, _) => Wished::Page,
            (Form::Json, None) => Wished::Document,
            (Form::Json, Some(fields)) => Wished::Fields(Fields::read(fields)?),
        })
    }

    /// Returns what is compared, and which verdicts are listed.
    pub(super) fn compared(&self) -> Result<(CompareOf, &'static str), WebMessage> {
        const SHOWN: [&str; 4] = ["all", "different", "undecided", "same"];
        let bad = |what: &str| WebMessage::BadRequest(what.to_owned());
        let of = match value(&self.query, "of") {
            None => CompareOf::Commits,
            Some(given) => CompareOf::ALL
                .into_iter()
                .find(|of| of.word() == given)
                .ok_or_else(|| bad("`of` must be commits, branches or machines"))?,
        };
        let given = value(&self.query, "show").unwrap_or("all");
        let show = SHOWN.into_iter().find(|show| *show == given);
        Ok((of, show.ok_or_else(|| bad("`show` must be all, different, undecided or same"))?))
    }

    pub(super) fn state(&self) -> Result<&'static str, WebMessage> {
        const STATES: [&str; 4] = ["open", "acknowledged", "dismissed", "all"];
        let given = value(&self.query, "state").unwrap_or("open");
        STATES.into_iter().find(|state| *state == given).ok_or_else(|| {
            WebMessage::BadRequest(
                "`state` must be open, acknowledged, dismissed or all".to_owned(),
            )
        })
    }
}
