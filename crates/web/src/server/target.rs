//! Which address is what, who may ask for it, and how.

use becalm_model::history::{ChangeId, EntryId, SeriesId};
use becalm_model::wire::schema_names;
use becalm_report::web::web_scripts;
use becalm_series::Right;
use http::Method;

/// Returns the names of the documents of the interface for programs: a record, and what pages and uploads answer with.
fn schemas() -> impl Iterator<Item = &'static str> {
    schema_names().filter(|name| *name == "record" || name.starts_with("web-"))
}

/// What a request is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Target {
    /// The list of them, on a server with several.
    Projects,
    Changes,
    Series(SeriesId),
    Benchmarks,
    Entries,
    Entry(EntryId),
    Record(EntryId),
    Compare,
    Machines,
    Suites,
    Decision(ChangeId),
    Upload,
    OpenApi,
    /// The name of the document that it is of.
    Schema(&'static str),
    /// Which of the scripts of the site.
    Script(usize),
    Icon,
    Feed,
    Badge,
    Health,
    Metrics,
}

/// In which form something is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    Page,
    Json,
}

impl Form {
    /// Returns the one of a path.
    pub(super) fn of(path: &[String]) -> Self {
        if path.first().is_some_and(|first| first == "api") { Self::Json } else { Self::Page }
    }
}

impl Target {
    /// Returns its name among the counters.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Projects => "projects",
            Self::Changes => "changes",
            Self::Series(_) => "series",
            Self::Benchmarks => "benchmarks",
            Self::Entries => "entries",
            Self::Entry(_) => "entry",
            Self::Record(_) => "record",
            Self::Compare => "compare",
            Self::Machines => "machines",
            Self::Suites => "suites",
            Self::Decision(_) => "decision",
            Self::Upload => "upload",
            Self::OpenApi => "openapi",
            Self::Schema(_) => "schema",
            Self::Script(_) => "script",
            Self::Icon => "icon",
            Self::Feed => "feed",
            Self::Badge => "badge",
            Self::Health => "health",
            Self::Metrics => "metrics",
        }
    }
}

/// What addresses of a server begin with: no project can be called so.
const FIRST: [&str; 17] = [
    "api",
    "badge.svg",
    "benchmarks",
    "changes",
    "compare",
    "entries",
    "entry",
    "favicon.ico",
    "feed.atom",
    "health",
    "icon.svg",
    "machines",
    "metrics",
    "projects",
    "record",
    "series",
    "suites",
];

/// Says whether the address of a page begins with this, whatever projects there are.
pub(super) fn is_reserved(first: &str) -> bool {
    FIRST.contains(&first) || web_scripts().iter().any(|(name, _)| name == first)
}

/// Finds what a path is for that is not of one of several projects.
pub(super) fn top_target(path: &[String], form: Form) -> Option<Target> {
    let words: Vec<&str> = path.iter().map(String::as_str).collect();
    match words[..] {
        [] | [""] | ["api", "projects"] => Some(Target::Projects),
        _ => target(path, form, &Method::GET).filter(|target| {
            matches!(
                target,
                Target::Health
                    | Target::Metrics
                    | Target::OpenApi
                    | Target::Schema(_)
                    | Target::Icon
            )
        }),
    }
}

impl Target {
    /// Says whether a project has it, where there are several: the rest is of all.
    pub(super) fn is_of_project(self) -> bool {
        !matches!(self, Self::Health | Self::Metrics)
    }

    /// Returns what somebody must have the right to; nothing where everybody may ask.
    pub(super) fn needs(self) -> Option<Right> {
        match self {
            Self::Health => None,
            Self::Decision(_) => Some(Right::Manage),
            Self::Upload => Some(Right::Upload),
            _ => Some(Right::Read),
        }
    }

    /// Says whether its address takes this method.
    pub(super) fn takes(self, form: Form, method: &Method) -> bool {
        self.methods(form).split(", ").any(|one| one == method.as_str())
    }

    /// Returns the methods that its address takes.
    pub(super) fn methods(self, form: Form) -> &'static str {
        match self {
            Self::Decision(_) => "POST",
            Self::Upload => "GET, HEAD, POST",
            Self::Entries if form == Form::Json => "GET, HEAD, POST",
            _ => "GET, HEAD",
        }
    }
}

/// Finds what a path is for. Below `api` there is what has a document.
pub(super) fn target(path: &[String], form: Form, method: &Method) -> Option<Target> {
    let words: Vec<&str> = path.iter().map(String::as_str).collect();
    let number = |text: &str| {
        let is_plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        text.parse::<i64>().ok().filter(|_| is_plain)
    };
    let script = |name: &str| web_scripts().iter().position(|(known, _)| known == name);
    let of_both = |words: &[&str]| match words {
        ["changes"] => Some(Target::Changes),
        ["benchmarks"] => Some(Target::Benchmarks),
        ["entries"] => Some(Target::Entries),
        ["compare"] => Some(Target::Compare),
        ["machines"] => Some(Target::Machines),
        ["suites"] => Some(Target::Suites),
        ["series", id] => number(id).map(|id| Target::Series(SeriesId(id))),
        ["entry", id] => number(id).map(|id| Target::Entry(EntryId(id))),
        ["record", id] => number(id).map(|id| Target::Record(EntryId(id))),
        _ => None,
    };
    match form {
        Form::Json if words[1..] == ["entries"] && method == Method::POST => Some(Target::Upload),
        Form::Json => match words[1..] {
            ["openapi.json"] => Some(Target::OpenApi),
            ["schema", name] => schemas().find(|known| *known == name).map(Target::Schema),
            ref words => of_both(words),
        },
        Form::Page => match words[..] {
            [] | [""] => Some(Target::Changes),
            ["changes", id] => id.parse().ok().map(Target::Decision),
            [name] if script(name).is_some() => script(name).map(Target::Script),
            ["icon.svg" | "favicon.ico"] => Some(Target::Icon),
            ["feed.atom"] => Some(Target::Feed),
            ["badge.svg"] => Some(Target::Badge),
            ["health"] => Some(Target::Health),
            ["metrics"] => Some(Target::Metrics),
            _ => of_both(&words),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::super::openapi::{OPERATIONS, PROJECTS};
    use super::super::query::plain;
    use super::*;

    #[test]
    fn an_address_is_one_thing_or_nothing() {
        let of = |path: &str| {
            let path: Vec<String> = path.split('/').skip(1).map(plain).collect();
            let form = if path[0] == "api" { Form::Json } else { Form::Page };
            target(&path, form, &Method::GET)
        };
        assert_eq!(of("/"), Some(Target::Changes));
        assert_eq!(of("/series/12"), Some(Target::Series(SeriesId(12))));
        assert_eq!(of("/api/series/12"), Some(Target::Series(SeriesId(12))));
        assert_eq!(of("/changes/3%40120"), of("/changes/3@120"));
        assert!(of("/changes/3@120").is_some());
        // Every address of the description is there, and what is there is described.
        for one in OPERATIONS {
            let path = one.path.replace("{id}", "1");
            let path: Vec<String> = path.split('/').skip(1).map(plain).collect();
            let method = if one.method == "post" { Method::POST } else { Method::GET };
            let target = target(&path, Form::Json, &method).unwrap();
            assert_eq!(target.name(), if one.method == "post" { "upload" } else { &path[1] });
            assert!(schemas().any(|name| name == one.answer), "{}", one.path);
        }
        for name in schemas().filter(|name| *name != PROJECTS.answer) {
            assert!(OPERATIONS.iter().any(|one| one.answer == name), "{name}");
        }
        for nothing in [
            "/api",
            "/api/",
            "/api/style.css",
            "/api/changes/3@120",
            "/series",
            "/series/",
            "/series/-1",
            "/series/+1",
            "/series/1e3",
            "/series/99999999999999999999",
            "/entry/1/2",
            "/../etc/passwd",
            "/record/%2e%2e",
            "/changes/",
            "//",
        ] {
            assert_eq!(of(nothing), None, "{nothing}");
        }
    }

    #[test]
    fn above_projects_there_is_what_is_of_all_and_no_project_has_its_name() {
        let of = |path: &str| {
            let path: Vec<String> = path.split('/').skip(1).map(plain).collect();
            top_target(&path, Form::of(&path))
        };
        assert_eq!((of("/"), of(PROJECTS.path)), (Some(Target::Projects), Some(Target::Projects)));
        for path in
            ["/health", "/metrics", "/icon.svg", "/api/openapi.json", "/api/schema/web-projects"]
        {
            assert!(of(path).is_some(), "{path}");
        }
        for nothing in [
            "/changes",
            "/api/changes",
            "/feed.atom",
            "/badge.svg",
            "/series/1",
            "/api",
            "/x",
            "//",
        ] {
            assert_eq!(of(nothing), None, "{nothing}");
        }
        // What an address begins with is reserved, whichever it is.
        let of_project = ["changes", "benchmarks", "entries", "compare", "machines", "suites"];
        let others = [
            "series/1",
            "entry/1",
            "record/1",
            "changes/1@2",
            "api/changes",
            "feed.atom",
            "badge.svg",
        ];
        let of_all = ["health", "metrics", "icon.svg", "favicon.ico"];
        let scripts = web_scripts().map(|(name, _)| name);
        let scripts = scripts.iter().map(String::as_str);
        for path in of_project.into_iter().chain(others).chain(of_all).chain(scripts) {
            let words: Vec<String> = path.split('/').map(str::to_owned).collect();
            assert!(target(&words, Form::of(&words), &Method::GET).is_some(), "{path}");
            assert!(is_reserved(&words[0]), "{path}");
        }
    }
}
