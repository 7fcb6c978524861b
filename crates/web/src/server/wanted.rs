//! What a request says in its address, read and checked.

use becalm_report::web::WebMessage;

use super::access::Caller;
use super::fields::Fields;
use super::query::value;
use super::target::Form;
use crate::queries::{By, CompareOf};

/// What the points of a series are in order of.
pub(super) const BY: [&str; 2] = ["order", "time"];

/// What is compared.
pub(super) const OF: [&str; 3] =
    [CompareOf::ALL[0].word(), CompareOf::ALL[1].word(), CompareOf::ALL[2].word()];

/// Which verdicts of a comparison are listed.
pub(super) const SHOWN: [&str; 4] = ["all", "different", "undecided", "same"];

/// What asks for all metrics.
pub(super) const ALL: &str = "yes";

/// What was decided about the changes that are listed.
pub(super) const STATES: [&str; 4] = ["open", "acknowledged", "dismissed", "all"];

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
        // No database keeps a NUL in a name, and PostgreSQL fails when it is asked for one.
        let plain = |c: &char| *c != '\0';
        value(&self.query, name).map(|words| words.chars().filter(plain).take(WORDS).collect())
    }

    pub(super) fn page(&self) -> Result<usize, WebMessage> {
        let Some(text) = value(&self.query, "page") else { return Ok(1) };
        let page = text.parse().ok().filter(|page| *page > 0);
        page.ok_or_else(|| WebMessage::BadRequest("`page` must be a number, 1 or more".to_owned()))
    }

    pub(super) fn by(&self) -> Result<By, WebMessage> {
        Ok(if self.one_of("by", &BY)? == 0 { By::Order } else { By::Time })
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
        Ok((CompareOf::ALL[self.one_of("of", &OF)?], SHOWN[self.one_of("show", &SHOWN)?]))
    }

    pub(super) fn state(&self) -> Result<&'static str, WebMessage> {
        Ok(STATES[self.one_of("state", &STATES)?])
    }

    /// Says whether all metrics are wanted, and not only the main ones.
    pub(super) fn all(&self) -> Result<bool, WebMessage> {
        self.one_of("all", &[ALL])?;
        Ok(value(&self.query, "all").is_some())
    }

    /// Returns which of some words is given: the first, if none is.
    fn one_of(&self, name: &str, words: &[&str]) -> Result<usize, WebMessage> {
        let Some(given) = value(&self.query, name) else { return Ok(0) };
        words.iter().position(|word| *word == given).ok_or_else(|| {
            let known = match words {
                [others @ .., last] if !others.is_empty() => {
                    format!("{} or {last}", others.join(", "))
                }
                _ => words.concat(),
            };
            WebMessage::BadRequest(format!("`{name}` must be {known}"))
        })
    }
}
