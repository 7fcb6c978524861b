//! The way of a request: who asks, what for, and the answer.

use std::io;
use std::sync::Arc;
use std::time::Instant;

use becalm_model::wire::json_text;
use becalm_report::web::{
    CommitPages, Decisions, Site, SitePart, SitePlace, WebMessage, web_icon, web_message,
    web_message_text, web_scripts,
};
use becalm_series::{Right, StoreError};
use bytes::Bytes;
use http::header::{CONTENT_TYPE, HOST};
use http::request::Parts;
use http::{HeaderMap, Request, Response, StatusCode, Version};
use http_body_util::{BodyExt as _, Full, LengthLimitError, Limited};
use hyper::body::{Body as _, Incoming};
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use super::access::{Access, Caller, FormToken, host, is_same_origin};
use super::answer::{Answer, Kind, takes_gzip};
use super::counters::Counters;
use super::decide::Asked;
use super::encrypted::Encryption;
use super::openapi::{Described, openapi, refuse_unknown};
use super::projects::{Project, Projects, WAIT};
use super::query::{pairs, plain, value};
use super::target::{Form, Target, target};
use super::upload::{Arrivals, Arrived, PATIENCE, Upload};
use super::wanted::Wanted;
use super::{Answered, Limits, Log, ServerOptions};

/// Bytes of a form.
const FORM: usize = 16 << 10;

/// What all connections share.
pub(super) struct Service {
    pub(super) projects: Projects,
    title: String,
    commits: Option<CommitPages>,
    pub(super) version: String,
    pub(super) access: Arc<Access>,
    /// In every form of this server, if anything can be changed. Another start has another one.
    form_token: Option<FormToken>,
    pub(super) counters: Counters,
    arrivals: Arrivals,
    pub(super) limits: Limits,
    pub(super) encryption: Option<Encryption>,
    pub(super) schema: fn(&str) -> Option<String>,
    log: Option<Log>,
}

/// What came with a request.
enum Sent {
    Nothing,
    Form(Vec<(String, String)>),
    Record(Arrived),
}

/// Why there is no answer but a message.
pub(super) enum Refused {
    Message(WebMessage),
    Store(StoreError),
}

impl From<StoreError> for Refused {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Missing { .. } => Self::Message(WebMessage::NotFound),
            StoreError::Nul { .. } => Self::Message(WebMessage::BadRequest(error.to_string())),
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
    pub(super) fn new(projects: Projects, options: ServerOptions) -> io::Result<Self> {
        let ServerOptions {
            title,
            version,
            commits,
            access,
            encryption,
            changes,
            limits,
            schema,
            log,
            ..
        } = options;
        let form_token = if changes { Some(FormToken::make()?) } else { None };
        projects.settle(access.has_readers);
        Ok(Self {
            projects,
            title,
            commits,
            version,
            access: Arc::new(access),
            form_token,
            counters: Counters::default(),
            arrivals: Arrivals::new(limits.record, limits.arrival),
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

    /// Answers a request, whatever it is.
    pub(super) async fn answer(
        self: Arc<Self>,
        request: Request<Incoming>,
    ) -> Response<Full<Bytes>> {
        let began = Instant::now();
        let (head, body) = request.into_parts();
        let asked = self.log.is_some().then(|| (head.method.clone(), head.uri.path().to_owned()));
        let (project, page, answer) = Arc::clone(&self).page(head, body).await;
        let status = answer.status.as_u16();
        self.counters.count(project, page, status, began.elapsed());
        if let Some((log, (method, path))) = self.log.as_ref().zip(asked) {
            let (bytes, seconds) = (answer.bytes(), began.elapsed().as_secs_f64());
            log(&Answered { method: method.as_str(), path: &path, page, status, bytes, seconds });
        }
        answer.response()
    }

    async fn page(
        self: Arc<Self>,
        head: Parts,
        body: Incoming,
    ) -> (Option<usize>, &'static str, Answer) {
        let whole: Vec<String> = head.uri.path().split('/').skip(1).map(plain).collect();
        let (project, path) = self.projects.find(&whole);
        if !names_one_host(&head) {
            let site = self.site(None, &Caller::nobody());
            let message = WebMessage::BadRequest("the request must name one host".to_owned());
            let answer = message_on(&site, &message, Form::of(path), whole.len().saturating_sub(1));
            return (project, "refused", answer);
        }
        if !self.access.knows_host(&head.headers, self.projects.is_open(&self.access)) {
            let site = self.site(None, &Caller::nobody());
            let depth = whole.len().saturating_sub(1);
            let answer = message_on(&site, &WebMessage::UnknownHost, Form::of(path), depth);
            return (project, "refused", answer);
        }
        let (page, answer) = match project {
            None => {
                let (page, answer) = self.at_top(&head, path).await;
                (page, if takes_gzip(&head.headers) { answer.compressed() } else { answer })
            }
            Some(at) => {
                let project = Arc::clone(&self.projects.all()[at]);
                Arc::clone(&self).of_project(project, &head, path, body).await
            }
        };
        (project, page, answer)
    }

    /// Answers what is of one project, or of the only history.
    async fn of_project(
        self: Arc<Self>,
        project: Arc<Project>,
        head: &Parts,
        path: &[String],
        body: Incoming,
    ) -> (&'static str, Answer) {
        let form = Form::of(path);
        // Links of an answer are relative to where it was asked for.
        let depth = path.len().saturating_sub(1);
        let nobody = self.site(Some(&project), &Caller::nobody());
        let refuse = |message: &WebMessage| message_on(&nobody, message, form, depth);
        let are_named = self.projects.are_named();
        let named = are_named.then_some(project.name.as_str());
        let ask_for_token = || match named {
            None => refuse(&WebMessage::NoToken).asking_for_token(None),
            Some(name) => self.token_needed(form, path.len(), Some(name)),
        };
        let target =
            target(path, form, &head.method).filter(|target| !are_named || target.is_of_project());
        let caller = if target == Some(Target::Health) {
            // Whoever looks after the server needs to know no more than whether it works.
            Some(Caller::nobody())
        } else {
            match project.caller(&self.access, &head.headers).await {
                Ok(caller) => caller,
                Err(message) => return (target.map_or("none", Target::name), refuse(&message)),
            }
        };
        let Some(target) = target else {
            return match caller {
                Some(_) => ("none", refuse(&WebMessage::NotFound)),
                None => ("refused", ask_for_token()),
            };
        };
        let name = target.name();
        let who = match (caller, target.needs()) {
            (Some(caller), None) => caller,
            (Some(caller), Some(right)) if caller.may(right) => caller,
            (Some(caller), Some(right)) if caller.has_token => {
                return (name, refuse(&WebMessage::NoRight { needed: right.word() }));
            }
            _ => return (name, ask_for_token()),
        };
        if !target.takes(form, &head.method) {
            return (name, refuse(&WebMessage::WrongMethod).allowing(target.methods(form)));
        }
        if are_named && path.is_empty() {
            // Its links are relative to its folder.
            return (name, Answer::see_other(format!("{}/", project.name)));
        }
        let sent = match target {
            Target::Decision(_) => self.form(&head.headers, body).await.map(Sent::Form),
            Target::Upload if self.form_token.is_none() => Err(WebMessage::WrongMethod),
            // A browser sends the token that it remembers with the forms of any site.
            Target::Upload if !is_same_origin(&head.headers) => {
                Err(WebMessage::BadRequest("a page of another site cannot send records".to_owned()))
            }
            Target::Upload => self.arrivals.take(body).await.map(Sent::Record),
            _ => Ok(Sent::Nothing),
        };
        let sent = match sent {
            Ok(sent) => sent,
            Err(message) => return (name, refuse(&message)),
        };
        let base = host(&head.headers)
            .map_or(String::new(), |host| format!("{}://{host}/", self.scheme()));
        let base = named.map_or(base.clone(), |name| format!("{base}{name}/"));
        let wanted = Wanted { query: pairs(head.uri.query().unwrap_or_default()), who, base };
        // Those who wait for a record have no turn meanwhile, so that all other pages go on.
        let is_record = matches!(target, Target::Upload | Target::Record(_));
        let turns = if is_record { &project.records } else { &project.turns };
        let turn = timeout(PATIENCE, Arc::clone(turns).acquire_owned());
        let Ok(Ok(turn)) = turn.await else { return (name, refuse(&WebMessage::Busy)) };
        let takes_gzip = takes_gzip(&head.headers);
        // Databases block.
        let service = Arc::clone(&self);
        let work = spawn_blocking(move || {
            // It has its turn until it is done, also if nobody waits for it any more.
            let _turn = turn;
            let site = service.site(Some(&project), &wanted.who);
            let done = service.carry_out(&project, &site, target, form, &wanted, sent);
            let answer = done.unwrap_or_else(|refused| {
                let message = match refused {
                    Refused::Message(message) => message,
                    Refused::Store(error) => WebMessage::NoDatabase(error.to_string()),
                };
                message_on(&site, &message, form, depth)
            });
            if takes_gzip { answer.compressed() } else { answer }
        });
        // Whoever looks after the server asks again soon.
        let patience = if target == Target::Health { WAIT } else { PATIENCE };
        let answer = match timeout(patience, work).await {
            Ok(Ok(answer)) => answer,
            Ok(Err(_)) => refuse(&WebMessage::Failed),
            Err(_) => refuse(&WebMessage::Busy),
        };
        (name, answer)
    }

    /// Asks for a token somewhere on a server with several projects: whether there is a project of this name or not, the
    /// answer is the same.
    pub(super) fn token_needed(&self, form: Form, depth: usize, project: Option<&str>) -> Answer {
        let site = self.site(None, &Caller::nobody());
        message_on(&site, &WebMessage::NoToken, form, depth).asking_for_token(project)
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

    /// Returns what pages of a project have around them; `None` is what is above several.
    pub(super) fn site(&self, project: Option<&Project>, who: &Caller) -> Site {
        let decisions = self
            .form_token
            .as_ref()
            .filter(|_| who.may(Right::Manage))
            .and_then(|token| token.for_page().ok())
            .map(|token| Decisions { token, by: who.name.clone() });
        let (title, part) = match project {
            Some(_) if !self.projects.are_named() => (&self.title, SitePart::Whole),
            Some(project) => (&project.name, SitePart::Project),
            None => (&self.title, SitePart::Top),
        };
        Site {
            commits: self.commits.as_ref().map(|pages| match project {
                Some(project) if self.projects.are_named() => pages.of_project(&project.name),
                _ => pages.clone(),
            }),
            title: title.clone(),
            version: self.version.clone(),
            place: SitePlace::Served { decisions, part },
        }
    }

    /// Makes the answer, with the history.
    fn carry_out(
        &self,
        project: &Project,
        site: &Site,
        target: Target,
        form: Form,
        wanted: &Wanted,
        sent: Sent,
    ) -> Result<Answer, Refused> {
        match (target, sent) {
            (Target::Script(place), _) => {
                let [library, own] = web_scripts();
                let (kind, text) =
                    if place == 0 { (Kind::Library, library.1) } else { (Kind::Script, own.1) };
                Ok(Answer::ok(kind, text.to_owned()))
            }
            (Target::OpenApi, _) => {
                let part = if self.projects.are_named() {
                    Described::Project(&project.name)
                } else {
                    Described::Whole
                };
                Ok(Answer::ok(Kind::Json, openapi(&self.version, part)))
            }
            (Target::Schema(name), _) => {
                let text = (self.schema)(name).ok_or(WebMessage::NotFound)?;
                Ok(Answer::ok(Kind::Json, text))
            }
            (Target::Icon, _) => Ok(Answer::ok(Kind::Picture, web_icon())),
            (Target::Decision(change), Sent::Form(form)) => {
                let asked = Asked::read(change, &form, &wanted.who.name)?;
                Ok(Answer::see_other(asked.carry_out(&project.history)??))
            }
            (Target::Upload, Sent::Record(record)) => {
                refuse_unknown("post", "entries", &wanted.query)?;
                let upload = Upload::read(&wanted.query)?;
                let document = upload.carry_out(&project.history, record.text)??;
                let is_new = document.outcome != "known";
                let status = if is_new { StatusCode::CREATED } else { StatusCode::OK };
                Ok(Answer::new(status, Kind::Json, json_text(&document)))
            }
            (target, _) => self.look_up(&project.history, target, form, wanted, site),
        }
    }
}

/// Says whether a request names the server once, as HTTP/1.1 has to (RFC 9112, section 3.2).
fn names_one_host(head: &Parts) -> bool {
    let mut named = head.headers.get_all(HOST).iter();
    let (first, second) = (named.next(), named.next());
    let is_named = first.is_some() || head.version < Version::HTTP_11;
    let is_same = head.uri.authority().is_none_or(|authority| {
        first
            .is_some_and(|host| host.as_bytes().eq_ignore_ascii_case(authority.as_str().as_bytes()))
    });
    is_named && second.is_none() && is_same
}

/// Makes an answer that only says why there is no other.
pub(super) fn message_on(site: &Site, message: &WebMessage, form: Form, depth: usize) -> Answer {
    use WebMessage as M;
    let status = match message {
        M::NotFound | M::NoProject => StatusCode::NOT_FOUND,
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
