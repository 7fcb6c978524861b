//! The top of a server with several projects: the list of them, and what is of all.

use std::sync::Arc;

use becalm_model::wire::{WEB_PROJECTS_SCHEMA, WebProjectDocument, WebProjectsDocument};
use becalm_report::web::{WebMessage, web_icon, web_projects};
use becalm_series::Right;
use http::request::Parts;

use super::access::Caller;
use super::answer::{Answer, Kind};
use super::counters::Counted;
use super::lookup::shown;
use super::openapi::{Described, openapi, refuse_unknown};
use super::projects::{Project, ProjectName, ask_each, callers};
use super::query::pairs;
use super::routes::{Service, message_on};
use super::target::{Form, Target, top_target};
use super::wanted::{Wanted, Wished};
use crate::queries;

/// Returns how the list of projects is wanted.
fn wish_for_list(wanted: &Wanted, form: Form) -> Result<Wished, WebMessage> {
    if form == Form::Json {
        refuse_unknown("get", "projects", &wanted.query)?;
    }
    wanted.wish(form)
}

impl Service {
    /// Answers what is not of one project.
    pub(super) async fn at_top(&self, head: &Parts, path: &[String]) -> (&'static str, Answer) {
        // What no address of the server begins with could be a project.
        let name = path.first().and_then(|first| first.parse::<ProjectName>().ok());
        let asked = name.as_ref().map(ToString::to_string);
        let form = Form::of(if name.is_some() { &path[1..] } else { path });
        let site = self.site(None, &Caller::nobody());
        let depth = path.len().saturating_sub(1);
        let refuse = |message: &WebMessage| message_on(&site, message, form, depth);
        let target = top_target(path, form);
        let name = target.map_or("none", Target::name);
        let projects = self.projects.all();
        let takes = |target: Target| target.takes(form, &head.method);
        // Whoever looks after the server needs to know no more than whether it works.
        if target.is_some_and(|target| target.needs().is_none() && takes(target)) {
            return (name, self.health().await.unwrap_or_else(|message| refuse(&message)));
        }
        let found = callers(projects, &self.access, &head.headers).await;
        let is_reader = |one: &Result<Option<Caller>, WebMessage>| matches!(one, Ok(Some(caller)) if caller.may(Right::Read));
        let readable: Vec<usize> =
            (0..projects.len()).filter(|at| is_reader(&found[*at])).collect();
        let has_token = found.iter().any(|one| matches!(one, Ok(Some(caller)) if caller.has_token));
        let unknown = found.iter().filter(|one| one.is_err()).count();
        let Some(target) = target else {
            // Whoever may not read all does not learn which names the others have.
            let may_know = match asked {
                None => has_token || !readable.is_empty(),
                Some(_) => readable.len() == projects.len(),
            };
            return if may_know {
                (name, refuse(&WebMessage::NoProject))
            } else {
                ("refused", self.token_needed(form, depth, asked.as_deref()))
            };
        };
        if readable.is_empty() {
            let why = found.into_iter().find_map(Result::err);
            return match (has_token, why) {
                (true, _) => (name, refuse(&WebMessage::NoRight { needed: Right::Read.word() })),
                (false, Some(why)) => (name, refuse(&why)),
                (false, None) => (name, self.token_needed(form, depth, None)),
            };
        }
        if !takes(target) {
            return (name, refuse(&WebMessage::WrongMethod).allowing(target.methods(form)));
        }
        let query = pairs(head.uri.query().unwrap_or_default());
        let wanted = Wanted { query, who: Caller::nobody(), base: String::new() };
        let answer = match target {
            Target::Projects => match wish_for_list(&wanted, form) {
                Ok(wish) => {
                    let document = self.listed(&readable, unknown).await;
                    shown(Some(document), &wish, |document| web_projects(document, &site))
                }
                Err(message) => Err(message),
            },
            Target::Metrics => Ok(self.metrics(&readable).await),
            Target::OpenApi => {
                Ok(Answer::ok(Kind::Json, openapi(&self.version, Described::Projects)))
            }
            Target::Schema(name) => {
                let text = (self.schema)(name).ok_or(WebMessage::NotFound);
                text.map(|text| Answer::ok(Kind::Json, text))
            }
            Target::Icon => Ok(Answer::ok(Kind::Picture, web_icon())),
            _ => Err(WebMessage::Failed),
        };
        (name, answer.unwrap_or_else(|message| refuse(&message)))
    }

    /// Says how these projects stand.
    async fn listed(&self, readable: &[usize], unknown: usize) -> WebProjectsDocument {
        let projects = self.of(readable);
        let standings = ask_each(&projects, queries::standing).await;
        let one = |(project, standing): (&Arc<Project>, _)| WebProjectDocument {
            name: project.name.clone(),
            standing,
        };
        WebProjectsDocument {
            schema: WEB_PROJECTS_SCHEMA.to_owned(),
            projects: projects.iter().zip(standings).map(one).collect(),
            unknown,
        }
    }

    async fn metrics(&self, readable: &[usize]) -> Answer {
        let projects = self.of(readable);
        let standings = ask_each(&projects, queries::standing).await;
        let counted: Vec<Counted<'_>> = readable
            .iter()
            .zip(projects.iter().zip(&standings))
            .map(|(at, (project, standing))| Counted {
                project: *at,
                name: Some(&project.name),
                standing: standing.as_ref(),
            })
            .collect();
        Answer::ok(Kind::Text, self.counters.text(&counted))
    }

    /// Says whether the server works: as long as the history of one project can be read, it does.
    async fn health(&self) -> Result<Answer, WebMessage> {
        let projects = self.projects.all();
        let stamps = ask_each(projects, |_, store| store.stamp()).await;
        let (all, gone) = (projects.len(), stamps.iter().filter(|one| one.is_none()).count());
        match gone {
            0 => Ok(Answer::ok(Kind::Text, "ok\n".to_owned())),
            gone if gone < all => {
                let text = format!("ok, but of {all} projects {gone} cannot be read\n");
                Ok(Answer::ok(Kind::Text, text))
            }
            _ => Err(WebMessage::NoDatabase("no project can be read".to_owned())),
        }
    }

    fn of(&self, readable: &[usize]) -> Vec<Arc<Project>> {
        readable.iter().map(|at| Arc::clone(&self.projects.all()[*at])).collect()
    }
}
