//! The interface for programs, as `OpenAPI` describes them: made of one table, which a test compares with the addresses.

use serde_json::{Map, Value, json};

/// One address of the interface.
#[derive(Debug, Clone, Copy)]
pub(super) struct Operation {
    /// The path; `{id}` stands for a number.
    pub(super) path: &'static str,
    /// `get` or `post`.
    pub(super) method: &'static str,
    /// What it is for.
    summary: &'static str,
    /// What the address takes behind `?`: name, kind and meaning.
    takes: &'static [(&'static str, &'static str, &'static str)],
    /// The schema of the answer, as `becalm schema` calls it.
    pub(super) answer: &'static str,
}

const PAGE: (&str, &str, &str) = ("page", "integer", "Part of the list, counted from 1");
const SEARCH: (&str, &str, &str) =
    ("search", "string", "Words that the name, metric, branch or machine contains");
const BRANCH: (&str, &str, &str) = ("branch", "string", "The branch");

/// All addresses that answer with a document.
pub(super) const OPERATIONS: &[Operation] = &[
    Operation {
        path: "/api/changes",
        method: "get",
        summary: "Changes of level, the largest certain change first",
        takes: &[("state", "string", "open, acknowledged, dismissed or all"), BRANCH, PAGE],
        answer: "web-changes",
    },
    Operation {
        path: "/api/series/{id}",
        method: "get",
        summary: "A series with its points, levels and changes; the first part has the newest points",
        takes: &[("by", "string", "order or time"), PAGE],
        answer: "web-series",
    },
    Operation {
        path: "/api/benchmarks",
        method: "get",
        summary: "Series with their last values",
        takes: &[SEARCH, ("all", "string", "yes: all metrics, not only the main ones"), PAGE],
        answer: "web-benchmarks",
    },
    Operation {
        path: "/api/compare",
        method: "get",
        summary: "All benchmarks of two commits, branches or machines",
        takes: &[
            ("of", "string", "commits, branches or machines"),
            ("before", "string", "The first side; without sides, the newest two commits"),
            ("after", "string", "The second side"),
            ("show", "string", "all, different, undecided or same"),
            SEARCH,
            PAGE,
        ],
        answer: "web-compare",
    },
    Operation {
        path: "/api/machines",
        method: "get",
        summary: "Machines with their facts and their noise over time",
        takes: &[PAGE],
        answer: "web-machines",
    },
    Operation {
        path: "/api/suites",
        method: "get",
        summary: "How much of the time of the last entry each benchmark takes",
        takes: &[BRANCH, ("machine", "string", "The fingerprint of the machine"), PAGE],
        answer: "web-suites",
    },
    Operation {
        path: "/api/entries",
        method: "get",
        summary: "Entries, the newest first",
        takes: &[PAGE],
        answer: "web-entries",
    },
    Operation {
        path: "/api/entries",
        method: "post",
        summary: "Adds the record that you send, if it is new; needs a token with the right to upload",
        takes: &[
            ("commit", "string", "The commit"),
            ("commit-time", "number", "When it was made, in seconds since 1970"),
            ("commit-author", "string", "The name of its author"),
            ("commit-title", "string", "The first line of its message"),
            BRANCH,
            ("dirty", "string", "yes: the working tree had changes that no commit has"),
            ("tag", "string", "A tag; may be repeated"),
            ("measured", "number", "When the measurement began, in seconds since 1970"),
            ("origin", "string", "measurement, or history: one commit of a file of many"),
            ("record", "string", "keep, or drop: keep only its values"),
        ],
        answer: "web-upload",
    },
    Operation {
        path: "/api/entry/{id}",
        method: "get",
        summary: "An entry with its values",
        takes: &[PAGE],
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
    takes: &[],
    answer: "web-projects",
};

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
            let schema = if *name == "tag" {
                json!({"type": "array", "items": {"type": kind}})
            } else {
                json!({"type": kind})
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
    if one.method == "get" && one.answer != "record" {
        let meaning =
            "Only these fields of the answer, with commas between them: part,changes.change.kind";
        parameters.push(json!({"name": "fields", "in": "query", "description": meaning, "schema": {"type": "string"}}));
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
