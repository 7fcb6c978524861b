//! The way of a request: who asks, what for, and the answer.

use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use becalm_model::history::EntryId;
use becalm_model::wire::json_text;
use becalm_report::web::{
    Decisions, Site, SitePlace, WebMessage, web_badge, web_benchmarks, web_changes, web_compare,
    web_entries, web_entry, web_feed, web_icon, web_machines, web_message, web_message_text,
    web_scripts, web_series, web_suites,
};
use becalm_series::{Right, Store, StoreError, Token};
use bytes::Bytes;
use http::header::{AUTHORIZATION, CONTENT_TYPE};
use http::request::Parts;
use http::{HeaderMap, Request, Response, StatusCode};
use http_body_util::{BodyExt as _, Full, LengthLimitError, Limited};
use hyper::body::{Body as _, Incoming};
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use super::access::{Access, Caller, FormToken, host, is_same_origin};
use super::answer::{Answer, Kind, takes_gzip};
use super::counters::Counters;
use super::decide::Asked;
use super::encrypted::Encryption;
use super::openapi::openapi;
use super::query::{pairs, plain, value};
use super::target::{Form, Target, target};
use super::upload::{Arrivals, Arrived, PATIENCE, Upload};
use super::wanted::{Wanted, Wished};
use super::{Answered, Limits, Log, ServerOptions};
use crate::history::History;
use crate::queries::{self, CompareAsked, Findings};

/// Queries at the same time.
const QUERIES: usize = 4;

/// How long tokens are known before they are read again: so long one that was revoked may still count.
const FRESH: Duration = Duration::from_secs(1);

/// Bytes of a form.
const FORM: usize = 16 << 10;

/// What all connections share.
pub(super) struct Service {
    history: History,
    title: String,
    version: String,
    access: Access,
    /// Tokens of the history, and when they were read.
    tokens: tokio::sync::Mutex<(Option<Instant>, Arc<[Token]>)>,
    /// In every form of this server, if anything can be changed. Another start has another one.
    form_token: Option<FormToken>,
    counters: Counters,
    turns: Arc<Semaphore>,
    arrivals: Arrivals,
    /// Records are read and added one at a time: the history has one writer, and what a record needs while it is read is
    /// several times its length.
    adding: Arc<Semaphore>,
    pub(super) limits: Limits,
    pub(super) encryption: Option<Encryption>,
    schema: fn(&str) -> Option<String>,
    log: Option<Log>,
}

/// What came with a request.
enum Sent {
    Nothing,
    Form(Vec<(String, String)>),
    Record(Arrived),
}

/// Why there is no answer but a message.
enum Refused {
    Message(WebMessage),
    Store(StoreError),
}

impl From<StoreError> for Refused {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Missing { .. } => Self::Message(WebMessage::NotFound),
            error => Self::Store(error),
        }
    }
}

impl From<WebMessage> for Refused {
    fn from(message: WebMessage) -> Self {
        Self::Message(message)
    }
}

impl Service {
    pub(super) fn new(history: History, options: ServerOptions) -> io::Result<Self> {
        let ServerOptions {
            title, version, access, encryption, changes, limits, schema, log, ..
        } = options;
        let form_token = if changes { Some(FormToken::make()?) } else { None };
        Ok(Self {
            history,
            title,
            version,
            access,
            tokens: tokio::sync::Mutex::new((None, Arc::new([]))),
            form_token,
            counters: Counters::default(),
            turns: Arc::new(Semaphore::new(QUERIES)),
            arrivals: Arrivals::new(limits.record, limits.arrival),
            adding: Arc::new(Semaphore::new(1)),
            limits,
            encryption,
            schema,
            log,
        })
    }

    /// Returns how the address of the site begins.
    pub(super) fn scheme(&self) -> &'static str {
        if self.encryption.is_some() { "https" } else { "http" }
    }

    /// Finds what most pages need, before anybody asks. If that is not possible now, the first request tries again.
    pub(super) fn look(&self) {
        let _ = self.history.reading(|store| Findings::of(&self.history, store));
    }

    /// Answers a request, whatever it is.
    pub(super) async fn answer(
        self: Arc<Self>,
        request: Request<Incoming>,
    ) -> Response<Full<Bytes>> {
        let began = Instant::now();
        let (head, body) = request.into_parts();
        let asked = self.log.is_some().then(|| (head.method.clone(), head.uri.path().to_owned()));
        let (page, answer) = Arc::clone(&self).page(head, body).await;
        let status = answer.status.as_u16();
        self.counters.count(page, status, began.elapsed());
        if let Some((log, (method, path))) = self.log.as_ref().zip(asked) {
            let (bytes, seconds) = (answer.bytes(), began.elapsed().as_secs_f64());
            log(&Answered { method: method.as_str(), path: &path, page, status, bytes, seconds });
        }
        answer.response()
    }

    async fn page(self: Arc<Self>, head: Parts, body: Incoming) -> (&'static str, Answer) {
        let path: Vec<String> = head.uri.path().split('/').skip(1).map(plain).collect();
        let form =
            if path.first().is_some_and(|first| first == "api") { Form::Json } else { Form::Page };
        // Links of an answer are relative to where it was asked for.
        let depth = path.len().saturating_sub(1).min(1);
        let nobody = Caller::nobody();
        let refuse = |message: &WebMessage| self.message(message, form, depth, &nobody);
        if !self.access.knows_host(&head.headers) {
            return ("refused", refuse(&WebMessage::UnknownHost));
        }
        let known = self.known_tokens(&head.headers).await;
        let caller = self.access.caller(&head.headers, &known);
        let Some(target) = target(&path, form, &head.method) else {
            return match caller {
                Some(_) => ("none", refuse(&WebMessage::NotFound)),
                None => ("refused", refuse(&WebMessage::NoToken).asking_for_token()),
            };
        };
        let name = target.name();
        let who = match (caller, target.needs()) {
            // Whoever looks after the server needs to know no more than whether it works.
            (caller, None) => caller.unwrap_or_else(Caller::nobody),
            (Some(caller), Some(right)) if caller.may(right) => caller,
            (Some(caller), Some(right)) if caller.has_token => {
                return (name, refuse(&WebMessage::NoRight { needed: right.word() }));
            }
            _ => return (name, refuse(&WebMessage::NoToken).asking_for_token()),
        };
        let methods = target.methods(form);
        if !methods.split(", ").any(|method| method == head.method.as_str()) {
            return (name, refuse(&WebMessage::WrongMethod).allowing(methods));
        }
        let sent = match target {
            Target::Decision(_) => self.form(&head.headers, body).await.map(Sent::Form),
            Target::Upload if self.form_token.is_none() => Err(WebMessage::WrongMethod),
            Target::Upload => self.arrivals.take(body).await.map(Sent::Record),
            _ => Ok(Sent::Nothing),
        };
        let sent = match sent {
            Ok(sent) => sent,
            Err(message) => return (name, refuse(&message)),
        };
        let base = host(&head.headers)
            .map_or(String::new(), |host| format!("{}://{host}/", self.scheme()));
        let wanted = Wanted { query: pairs(head.uri.query().unwrap_or_default()), who, base };
        let turns = if target == Target::Upload { &self.adding } else { &self.turns };
        let turn = timeout(PATIENCE, Arc::clone(turns).acquire_owned()).await;
        let Ok(Ok(turn)) = turn else { return (name, refuse(&WebMessage::Busy)) };
        let takes_gzip = takes_gzip(&head.headers);
        // Databases block.
        let service = Arc::clone(&self);
        let work = spawn_blocking(move || {
            // It has its turn until it is done, also if nobody waits for it any more.
            let _turn = turn;
            let done = service.carry_out(target, form, &wanted, sent);
            let site = service.site(&wanted.who);
            let answer = done.unwrap_or_else(|refused| {
                let message = match refused {
                    Refused::Message(message) => message,
                    Refused::Store(error) => WebMessage::NoDatabase(error.to_string()),
                };
                message_on(&site, &message, form, depth)
            });
            if takes_gzip { answer.compressed() } else { answer }
        });
        let answer = match timeout(PATIENCE, work).await {
            Ok(Ok(answer)) => answer,
            Ok(Err(_)) => refuse(&WebMessage::Failed),
            Err(_) => refuse(&WebMessage::Busy),
        };
        (name, answer)
    }

    /// Returns the tokens of the history, if somebody gives one: as they were a moment ago, so that those who guess do not
    /// keep the database busy.
    async fn known_tokens(self: &Arc<Self>, headers: &HeaderMap) -> Arc<[Token]> {
        if !headers.contains_key(AUTHORIZATION) {
            return Arc::new([]);
        }
        let mut known = self.tokens.lock().await;
        if known.0.is_none_or(|read| read.elapsed() >= FRESH) {
            let service = Arc::clone(self);
            let read = spawn_blocking(move || service.history.reading(Store::tokens)).await;
            known.0 = Some(Instant::now());
            // While the history cannot be read, those that were there count on.
            if let Ok(Ok(tokens)) = read {
                known.1 = tokens.into();
            }
        }
        Arc::clone(&known.1)
    }

    /// Reads a form that a page of this server sent.
    async fn form(
        &self,
        headers: &HeaderMap,
        body: Incoming,
    ) -> Result<Vec<(String, String)>, WebMessage> {
        let Some(expected) = &self.form_token else { return Err(WebMessage::WrongMethod) };
        let kind =
            headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        if !kind.starts_with("application/x-www-form-urlencoded") {
            return Err(WebMessage::BadRequest("a decision must be sent as a form".to_owned()));
        }
        if !is_same_origin(headers) {
            return Err(WebMessage::ForeignForm);
        }
        if body.size_hint().lower() > FORM as u64 {
            return Err(WebMessage::TooLarge);
        }
        let whole = timeout(self.limits.arrival, Limited::new(body, FORM).collect()).await;
        let bytes = match whole {
            Err(_) => return Err(WebMessage::TooSlow),
            Ok(Err(error)) if error.is::<LengthLimitError>() => return Err(WebMessage::TooLarge),
            Ok(Err(_)) => return Err(WebMessage::BadRequest("the form did not arrive".to_owned())),
            Ok(Ok(whole)) => whole.to_bytes(),
        };
        let form = pairs(&String::from_utf8_lossy(&bytes));
        let token = value(&form, "token").unwrap_or_default();
        if expected.is(token) { Ok(form) } else { Err(WebMessage::ForeignForm) }
    }

    fn site(&self, who: &Caller) -> Site {
        let decisions = self
            .form_token
            .as_ref()
            .filter(|_| who.may(Right::Manage))
            .and_then(|token| token.for_page().ok())
            .map(|token| Decisions { token, by: who.name.clone() });
        Site {
            title: self.title.clone(),
            version: self.version.clone(),
            place: SitePlace::Served { decisions },
        }
    }

    fn message(&self, message: &WebMessage, form: Form, depth: usize, who: &Caller) -> Answer {
        message_on(&self.site(who), message, form, depth)
    }

    /// Makes the answer, with the history.
    fn carry_out(
        &self,
        target: Target,
        form: Form,
        wanted: &Wanted,
        sent: Sent,
    ) -> Result<Answer, Refused> {
        let site = self.site(&wanted.who);
        match (target, sent) {
            (Target::Script(place), _) => {
                let [library, own] = web_scripts();
                let (kind, text) =
                    if place == 0 { (Kind::Library, library.1) } else { (Kind::Script, own.1) };
                Ok(Answer::ok(kind, text.to_owned()))
            }
            (Target::OpenApi, _) => Ok(Answer::ok(Kind::Json, openapi(&self.version))),
            (Target::Schema(name), _) => {
                let text = (self.schema)(name).ok_or(WebMessage::NotFound)?;
                Ok(Answer::ok(Kind::Json, text))
            }
            (Target::Icon, _) => Ok(Answer::ok(Kind::Picture, web_icon())),
            (Target::Decision(change), Sent::Form(form)) => {
                let asked = Asked::read(change, &form, &wanted.who.name)?;
                Ok(Answer::see_other(asked.carry_out(&self.history)??))
            }
            (Target::Upload, Sent::Record(record)) => {
                let upload = Upload::read(&wanted.query)?;
                let document = upload.carry_out(&self.history, record.text)??;
                let is_new = document.outcome != "known";
                let status = if is_new { StatusCode::CREATED } else { StatusCode::OK };
                Ok(Answer::new(status, Kind::Json, json_text(&document)))
            }
            (target, _) => self.look_up(target, form, wanted, &site),
        }
    }

    /// Makes an answer of what is in the history.
    fn look_up(
        &self,
        target: Target,
        form: Form,
        wanted: &Wanted,
        site: &Site,
    ) -> Result<Answer, Refused> {
        let page = wanted.page()?;
        let by = wanted.by()?;
        let state = wanted.state()?;
        let compared = wanted.compared()?;
        let wish = wanted.wish(form)?;
        let history = &self.history;
        // What is wrong with a request is found before the database is asked.
        history
            .reading(|store| {
                Ok(match target {
                    Target::Changes => {
                        let branch = wanted.words("branch");
                        let found =
                            queries::changes(history, store, state, branch.as_deref(), page)?;
                        shown(found, &wish, |document| web_changes(document, site))
                    }
                    Target::Series(id) => {
                        let found = queries::series(history, store, id, by, page)?;
                        shown(found, &wish, |document| web_series(document, site))
                            .map(Answer::with_scripts)
                    }
                    Target::Benchmarks => {
                        let search = wanted.words("search").unwrap_or_default();
                        let all = wanted.words("all").is_some();
                        let found = queries::benchmarks(history, store, &search, all, page)?;
                        shown(found, &wish, |document| web_benchmarks(document, site))
                    }
                    Target::Entries => {
                        shown(queries::entries(history, store, page)?, &wish, |document| {
                            web_entries(document, site)
                        })
                    }
                    Target::Entry(id) => {
                        shown(queries::entry(store, id, page)?, &wish, |document| {
                            web_entry(document, site)
                        })
                    }
                    Target::Record(id) => record(history, store, id, form)?,
                    Target::Compare => {
                        let [before, after, search] = ["before", "after", "search"]
                            .map(|name| wanted.words(name).unwrap_or_default());
                        let (of, show) = compared;
                        let sides = [before.as_str(), after.as_str()];
                        let asked = CompareAsked { of, sides, show, search: &search, page };
                        shown(queries::compare(history, store, &asked)?, &wish, |document| {
                            web_compare(document, site)
                        })
                    }
                    Target::Machines => {
                        shown(queries::machines(history, store, page)?, &wish, |document| {
                            web_machines(document, site)
                        })
                    }
                    Target::Suites => {
                        let named = wanted.words("branch").zip(wanted.words("machine"));
                        let named = named
                            .as_ref()
                            .map(|(branch, machine)| (branch.as_str(), machine.as_str()));
                        shown(queries::suites(history, store, named, page)?, &wish, |document| {
                            web_suites(document, site)
                        })
                    }
                    Target::Feed => {
                        let changes = queries::feed(history, store)?;
                        Ok(Answer::ok(Kind::Feed, web_feed(&changes, site, &wanted.base)))
                    }
                    Target::Badge => {
                        let branch = wanted.words("branch");
                        let counts = Findings::of(history, store)?.counts(branch.as_deref());
                        Ok(Answer::ok(Kind::Badge, web_badge(counts)))
                    }
                    Target::Metrics => {
                        let found = Findings::of(history, store)?;
                        let (entries, series) = (found.stamp.entries, found.watched().count());
                        Ok(Answer::ok(
                            Kind::Text,
                            self.counters.text(found.counts(None), entries, series),
                        ))
                    }
                    Target::Health => {
                        store.stamp()?;
                        Ok(Answer::ok(Kind::Text, "ok\n".to_owned()))
                    }
                    // Answered above.
                    Target::Script(_)
                    | Target::Icon
                    | Target::OpenApi
                    | Target::Schema(_)
                    | Target::Decision(_)
                    | Target::Upload => Err(WebMessage::Failed),
                })
            })?
            .map_err(Refused::from)
    }
}

/// Makes an answer that only says why there is no other.
fn message_on(site: &Site, message: &WebMessage, form: Form, depth: usize) -> Answer {
    use WebMessage as M;
    let status = match message {
        M::NotFound => StatusCode::NOT_FOUND,
        M::Pruned => StatusCode::GONE,
        M::WrongMethod => StatusCode::METHOD_NOT_ALLOWED,
        M::BadRequest(_) | M::NoReason => StatusCode::BAD_REQUEST,
        M::NoToken => StatusCode::UNAUTHORIZED,
        M::ForeignForm | M::NoRight { .. } => StatusCode::FORBIDDEN,
        M::UnknownHost => StatusCode::MISDIRECTED_REQUEST,
        M::Meanwhile { .. } => StatusCode::CONFLICT,
        M::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
        M::TooSlow => StatusCode::REQUEST_TIMEOUT,
        M::NoDatabase(_) | M::Busy => StatusCode::SERVICE_UNAVAILABLE,
        M::Failed | M::Unreadable(_) => StatusCode::INTERNAL_SERVER_ERROR,
    };
    match form {
        Form::Page => Answer::new(status, Kind::Page, web_message(message, site, depth)),
        Form::Json => {
            let text =
                format!("{{\"error\": {}}}\n", json_text(&web_message_text(message)).trim_end());
            Answer::new(status, Kind::Json, text)
        }
    }
}

/// Shows a document as it is wanted; `None` is not found.
fn shown<T: serde::Serialize>(
    found: Option<T>,
    form: &Wished,
    page: impl Fn(&T) -> String,
) -> Result<Answer, WebMessage> {
    let document = found.ok_or(WebMessage::NotFound)?;
    Ok(match form {
        Wished::Page => Answer::ok(Kind::Page, page(&document)),
        Wished::Document => Answer::ok(Kind::Json, json_text(&document)),
        Wished::Fields(fields) => {
            let value = serde_json::to_value(&document).map_err(|_| WebMessage::Failed)?;
            Answer::ok(Kind::Json, json_text(&fields.of(value)?))
        }
    })
}

/// Shows the whole record of an entry: the report of a saved file, or the document itself.
fn record(
    history: &History,
    store: &mut Store,
    id: EntryId,
    form: Form,
) -> Result<Result<Answer, WebMessage>, StoreError> {
    let Some(document) = store.document(id)? else {
        let is_there = !store.values(id)?.is_empty();
        return Ok(Err(if is_there { WebMessage::Pruned } else { WebMessage::NotFound }));
    };
    Ok(match form {
        Form::Json => Ok(Answer::ok(Kind::Json, document)),
        Form::Page => (history.record_page)(&document)
            .map(|page| Answer::ok(Kind::Record, page))
            .map_err(WebMessage::Unreadable),
    })
}
