//! A server that answers like GitHub and GitLab, as far as becalm asks, and keeps every request.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

/// A request as it came.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    pub(crate) method: String,
    pub(crate) path: String,
    /// Names in lower case.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Value,
}

impl Request {
    pub(crate) fn header(&self, name: &str) -> &str {
        let found = self.headers.iter().find(|(known, _)| known == name);
        found.map_or("", |(_, value)| value.as_str())
    }

    /// Method and path in one.
    pub(crate) fn line(&self) -> String {
        format!("{} {}", self.method, self.path)
    }
}

/// What the server knows.
#[derive(Debug, Default)]
struct State {
    requests: Vec<Request>,
    /// Comments or notes: number and body.
    comments: Vec<Value>,
    /// Answers that are given in place of the real ones, the first first: a beginning of `METHOD PATH`, a status,
    /// further headers.
    refusals: Vec<(String, u16, String)>,
    head: String,
    /// The repository that requests are from; `o/r` if nobody says.
    repository: Option<String>,
}

/// A running server; its thread ends with the test program.
#[derive(Debug, Clone)]
pub(crate) struct FakeApi {
    state: Arc<Mutex<State>>,
    address: String,
}

impl FakeApi {
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("loopback can be had");
        let address = format!("http://{}", listener.local_addr().unwrap());
        let state = Arc::new(Mutex::new(State::default()));
        let shared = Arc::clone(&state);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let _ = answer(stream, &shared);
            }
        });
        Self { state, address }
    }

    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    /// Takes the requests since the last time.
    pub(crate) fn requests(&self) -> Vec<Request> {
        std::mem::take(&mut self.state.lock().unwrap().requests)
    }

    pub(crate) fn lines(&self) -> Vec<String> {
        self.requests().iter().map(Request::line).collect()
    }

    /// Bodies of all comments.
    pub(crate) fn comments(&self) -> Vec<String> {
        let state = self.state.lock().unwrap();
        state.comments.iter().map(|one| one["body"].as_str().unwrap().to_owned()).collect()
    }

    /// Adds a comment of somebody else.
    pub(crate) fn add_comment(&self, body: &str) {
        let mut state = self.state.lock().unwrap();
        let id = state.comments.len() + 1;
        state.comments.push(json!({"id": id, "body": body, "user": {"type": "User"},
            "author_association": "NONE", "author": {"id": 1}}));
    }

    /// Sets the commit at which every request stands.
    pub(crate) fn set_head(&self, head: &str) {
        head.clone_into(&mut self.state.lock().unwrap().head);
    }

    /// Sets the repository that every request is from.
    pub(crate) fn set_repository(&self, name: &str) {
        self.state.lock().unwrap().repository = Some(name.to_owned());
    }

    /// Refuses the next request that begins so.
    pub(crate) fn refuse(&self, line: &str, status: u16, headers: &str) {
        let refusal = (line.to_owned(), status, headers.to_owned());
        self.state.lock().unwrap().refusals.push(refusal);
    }
}

fn answer(mut stream: TcpStream, state: &Mutex<State>) -> std::io::Result<()> {
    let request = read(&mut stream)?;
    let mut state = state.lock().unwrap();
    state.requests.push(request.clone());
    let line = request.line();
    let refusal = state.refusals.iter().position(|(begins, ..)| line.starts_with(begins.as_str()));
    let (status, headers, body) = if let Some(at) = refusal {
        let (_, status, headers) = state.refusals.remove(at);
        (status, headers, json!({"message": "Resource not accessible by integration"}))
    } else {
        let (status, body) = real(&mut state, &request);
        (status, String::new(), body)
    };
    let text = body.to_string();
    write!(
        stream,
        "HTTP/1.1 {status} Told\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n{headers}\r\n{text}",
        text.len()
    )
}

fn read(stream: &mut TcpStream) -> std::io::Result<Request> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line)?;
    let mut words = line.split_whitespace().map(str::to_owned);
    let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        headers.push((name.to_lowercase(), value.trim().to_owned()));
    }
    let length = headers.iter().find(|(name, _)| name == "content-length");
    let length: usize = length.and_then(|(_, value)| value.parse().ok()).unwrap_or(0);
    let mut bytes = vec![0; length];
    reader.read_exact(&mut bytes)?;
    let body = serde_json::from_slice(&bytes).unwrap_or(Value::Null);
    Ok(Request { method, path, headers, body })
}

/// What the services answer.
fn real(state: &mut State, request: &Request) -> (u16, Value) {
    let (path, query) = request.path.split_once('?').unwrap_or((&request.path, ""));
    let last = path.rsplit('/').next().unwrap_or_default();
    match (request.method.as_str(), last) {
        ("GET", "comments" | "notes") => {
            let page = query.split('&').find_map(|part| part.strip_prefix("page="));
            let page: usize = page.and_then(|page| page.parse().ok()).unwrap_or(1);
            let shown: Vec<Value> =
                state.comments.iter().skip((page - 1) * 100).take(100).cloned().collect();
            (200, shown.into())
        }
        ("POST", "comments" | "notes") => {
            let id = state.comments.len() + 1;
            let comment = json!({"id": id, "body": request.body["body"], "user": {"type": "Bot"},
                "author_association": "NONE", "author": {"id": 42}});
            state.comments.push(comment.clone());
            (201, comment)
        }
        ("PATCH" | "PUT", id) => {
            let found = state.comments.iter_mut().find(|one| one["id"].as_u64() == id.parse().ok());
            let Some(comment) = found else { return (404, json!({"message": "Not Found"})) };
            comment["body"] = request.body["body"].clone();
            (200, comment.clone())
        }
        ("GET", "user") => (200, json!({"id": 42})),
        ("GET", _) if path.contains("/pulls/") => {
            let repository = state.repository.as_deref().unwrap_or("o/r");
            (200, json!({"head": {"sha": state.head, "repo": {"full_name": repository}}}))
        }
        ("GET", _) if path.contains("/merge_requests/") => (200, json!({"sha": state.head})),
        ("POST", "hook") => (200, json!("ok")),
        ("POST", _) if path.contains("/statuses/") => (201, json!({"id": 1})),
        _ => (404, json!({"message": "Not Found"})),
    }
}
