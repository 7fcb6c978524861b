//! The interface for programs, as `OpenAPI` describes them: made of one table, which a test compares with the addresses.

use becalm_report::web::WebMessage;
use serde_json::{Map, Value, json};

use super::upload::{DIRTY, ORIGIN, RECORD};
use super::wanted::{ALL, BY, OF, SHOWN, STATES};

/// One address of the interface.
#[derive(Debug, Clone, Copy)]
pub(super) struct Operation {
    /// The path; `{id}` stands for a number.
    pub(super) path: &'static str,
    /// `get` or `post`.
    pub(super) method: &'static str,
    /// What it is for.
    summary: &'static str,
    /// What the address takes behind `?`.
    takes: &'static [Parameter],
    /// The schema of the answer, as `becalm schema` calls it.
    pub(super) answer: &'static str,
}

/// A parameter behind `?`: its name, what it may be, and its meaning.
type Parameter = (&'static str, Kind, &'static str);

/// What a parameter may be.
#[derive(Debug, Clone, Copy)]
enum Kind {
    Text,
    /// Text that may be repeated.
    Texts,
    Number,
    /// 1 or more.
    Count,
    OneOf(&'static [&'static str]),
}

const PAGE: Parameter = ("page", Kind::Count, "Part of the list, counted from 1");
const SEARCH: Parameter =
    ("search", Kind::Text, "Words that the name, metric, branch or machine contains");
const BRANCH: Parameter = ("branch", Kind::Text, "The branch");
const FIELDS: Parameter = (
    "fields",
    Kind::Text,
    "Only these fields of the answer, with commas between them: part,changes.change.kind",
);

/// All addresses that answer with a document.
pub(super) const OPERATIONS: &[Operation] = &[
    Operation {
        path: "/api/changes",
        method: "get",
        summary: "Changes of level, the largest certain change first",
        takes: &[
            ("state", Kind::OneOf(&STATES), "What was decided about them; open by default"),
            BRANCH,
            PAGE,
            FIELDS,
        ],
        answer: "web-changes",
    },
    Operation {
        path: "/api/series/{id}",
        method: "get",
        summary: "A series with its points, levels and changes; the first part has the newest points",
        takes: &[("by", Kind::OneOf(&BY), "What the points are in order of"), PAGE, FIELDS],
        answer: "web-series",
    },
    Operation {
        path: "/api/benchmarks",
        method: "get",
        summary: "Series with their last values",
        takes: &[
            SEARCH,
            ("all", Kind::OneOf(&[ALL]), "All metrics, not only the main ones"),
            PAGE,
            FIELDS,
        ],
        answer: "web-benchmarks",
    },
    Operation {
        path: "/api/compare",
        method: "get",
        summary: "All benchmarks of two commits, branches or machines",
        takes: &[
            ("of", Kind::OneOf(&OF), "What is compared; commits by default"),
            ("before", Kind::Text, "The first side; without sides, the newest two commits"),
            ("after", Kind::Text, "The second side"),
            ("show", Kind::OneOf(&SHOWN), "Which verdicts are listed; all by default"),
            SEARCH,
            PAGE,
            FIELDS,
        ],
        answer: "web-compare",
    },
    Operation {
        path: "/api/machines",
        method: "get",
        summary: "Machines with their facts and their noise over time",
        takes: &[PAGE, FIELDS],
        answer: "web-machines",
    },
    Operation {
        path: "/api/suites",
        method: "get",
        summary: "How much of the time of the last commit each benchmark takes",
        takes: &[BRANCH, ("machine", Kind::Text, "The fingerprint of the machine"), PAGE, FIELDS],
        answer: "web-suites",
    },
    Operation {
        path: "/api/entries",
        method: "get",
        summary: "Entries, the newest first",
        takes: &[PAGE, FIELDS],
        answer: "web-entries",
    },
    Operation {
        path: "/api/entries",
        method: "post",
        summary: "Adds the record that you send, if it is new; needs a token with the right to upload",
        takes: &[
            ("commit", Kind::Text, "The commit"),
            ("commit-time", Kind::Number, "When it was made, in seconds since 1970"),
            ("commit-author", Kind::Text, "The name of its author"),
            ("commit-title", Kind::Text, "The first line of its message"),
            BRANCH,
            (
                "dirty",
                Kind::OneOf(&DIRTY),
                "Whether the working tree had changes that no commit has",
            ),
            ("tag", Kind::Texts, "A tag; may be repeated"),
            ("measured", Kind::Number, "When the measurement began, in seconds since 1970"),
            ("origin", Kind::OneOf(&ORIGIN), "A measurement, or one commit of a file of many"),
            ("record", Kind::OneOf(&RECORD), "Whether to keep the record or only its values"),
        ],
        answer: "web-upload",
    },
    Operation {
        path: "/api/entry/{id}",
        method: "get",
        summary: "An entry with its values",
        takes: &[PAGE, FIELDS],
        answer: "web-entry",
    },
    Operation {
        path: "/api/record/{id}",
        method: "get",
        summary: "The whole record of an entry, as it was added",
        takes: &[],
        answer: "record",
    },
];

/// The only address that several projects have together.
pub(super) const PROJECTS: Operation = Operation {
    path: "/api/projects",
    method: "get",
    summary: "The projects that you may read, and how each stands",
    takes: &[FIELDS],
    answer: "web-projects",
};

/// Refuses parameters that the address does not take. `name` is its first word after `api`.
pub(super) fn refuse_unknown(
    method: &str,
    name: &str,
    query: &[(String, String)],
) -> Result<(), WebMessage> {
    let is_of = |one: &&Operation| one.method == method && one.path.split('/').nth(2) == Some(name);
    let Some(operation) = OPERATIONS.iter().chain([&PROJECTS]).find(is_of) else { return Ok(()) };
    let known: Vec<&str> = operation.takes.iter().map(|(known, ..)| *known).collect();
    match query.iter().find(|(name, _)| !known.contains(&name.as_str())) {
        None => Ok(()),
        Some((name, _)) if known.is_empty() => Err(WebMessage::BadRequest(format!(
            "there is no parameter `{name}`: this address takes none"
        ))),
        Some((name, _)) => Err(WebMessage::BadRequest(format!(
            "there is no parameter `{name}`: this address takes {}",
            known.join(", ")
        ))),
    }
}

/// Which part of a server is described.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Described<'a> {
    /// A server with one history.
    Whole,
    /// One project of several, by its name.
    Project(&'a str),
    /// All of several: the addresses of each begin with its name.
    Projects,
}

/// Writes the description, for a server of this version.
pub(super) fn openapi(version: &str, part: Described<'_>) -> String {
    let mut paths = Map::new();
    let above = if part == Described::Projects { "/{project}" } else { "" };
    for one in OPERATIONS {
        let path = paths.entry(format!("{above}{}", one.path)).or_insert_with(|| json!({}));
        path[one.method] = operation(one);
        if !above.is_empty() {
            path["parameters"] = json!([
                {"name": "project", "in": "path", "required": true, "schema": {"type": "string"}}
            ]);
        }
    }
    let mut document = json!({
        "openapi": "3.1.0",
        "info": {"title": "becalm serve", "version": version},
        "security": [{"bearer": []}, {}],
        "components": {"securitySchemes": {"bearer": {"type": "http", "scheme": "bearer"}}},
    });
    match part {
        Described::Whole => {}
        Described::Project(name) => document["servers"] = json!([{"url": format!("/{name}")}]),
        Described::Projects => {
            paths.insert(PROJECTS.path.to_owned(), json!({PROJECTS.method: operation(&PROJECTS)}));
        }
    }
    document["paths"] = paths.into();
    let mut text = serde_json::to_string_pretty(&document).expect("it is JSON");
    text.push('\n');
    text
}

fn operation(one: &Operation) -> Value {
    let mut parameters: Vec<Value> = one
        .takes
        .iter()
        .map(|(name, kind, meaning)| {
            let schema = match kind {
                Kind::Text => json!({"type": "string"}),
                Kind::Texts => json!({"type": "array", "items": {"type": "string"}}),
                Kind::Number => json!({"type": "number"}),
                Kind::Count => json!({"type": "integer", "minimum": 1}),
                Kind::OneOf(words) => json!({"type": "string", "enum": words}),
            };
            json!({"name": name, "in": "query", "description": meaning, "schema": schema})
        })
        .collect();
    if one.path.ends_with("{id}") {
        parameters.insert(
            0,
            json!({"name": "id", "in": "path", "required": true, "schema": {"type": "integer"}}),
        );
    }
    let answer = |description: &str| {
        let schema = json!({"$ref": format!("schema/{}", one.answer)});
        json!({"description": description, "content": {"application/json": {"schema": schema}}})
    };
    let error = json!({"type": "object", "properties": {"error": {"type": "string"}}, "required": ["error"]});
    let mut operation = json!({
        "summary": one.summary,
        "parameters": parameters,
        "responses": {
            "200": answer(if one.method == "post" { "The history already had it" } else { "The document" }),
            "default": {"description": "Why there is none", "content": {"application/json": {"schema": error}}},
        },
    });
    if one.method == "post" {
        operation["requestBody"] = json!({"required": true, "content": {"application/json": {"schema": {"$ref": "schema/record"}}}});
        operation["responses"]["201"] = answer("It was added");
    }
    operation
}
