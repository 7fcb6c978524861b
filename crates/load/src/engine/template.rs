//! What a request is, and which answer is the right one.

use becalm_model::load::{ExpectedBody, is_secret_header};
use bytes::Bytes;
use http::header::{CONNECTION, HOST, USER_AGENT};
use http::uri::{Authority, PathAndQuery};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, StatusCode, Uri};

use super::filled::{Filled, Writing};
use super::grpc;
use super::headers::{follows_from_others, state_length, take_host};
use super::target::{Protocol, Target};
use super::wanted::{RequestError, Wanted};
use crate::values::Values;

/// What every request is, and which answer is the right one.
#[derive(Debug, Clone)]
pub struct Template {
    method: Method,
    /// The host that requests of HTTP/2 name in place of that of the target.
    host: Option<Authority>,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
    expected: Expected,
    expected_body: Option<ExpectedBody>,
    /// What differs from request to request; nothing if they are all the same.
    filled: Option<Box<FilledParts>>,
}

/// Which statuses are those of a right answer.
#[derive(Debug, Clone)]
enum Expected {
    /// Of HTTP; without any those from 200 to 399.
    Http(Vec<StatusCode>),
    /// Of gRPC, in an answer of HTTP with 200.
    Grpc(Vec<u16>),
}

impl Expected {
    fn of(statuses: Vec<u16>, is_grpc: bool) -> Result<Self, RequestError> {
        if !is_grpc {
            let status =
                |status| StatusCode::from_u16(status).map_err(|_| RequestError::Status(status));
            return Ok(Self::Http(statuses.into_iter().map(status).collect::<Result<_, _>>()?));
        }
        match statuses.iter().find(|status| **status > grpc::LAST_STATUS) {
            Some(status) => Err(RequestError::GrpcStatus(*status)),
            None if statuses.is_empty() => Ok(Self::Grpc(vec![grpc::OK])),
            None => Ok(Self::Grpc(statuses)),
        }
    }
}

/// The parts of a request that have values in them.
#[derive(Debug, Clone, Default)]
struct FilledParts {
    path: Option<Filled>,
    headers: Vec<(HeaderName, Filled)>,
    body: Option<Filled>,
}

impl FilledParts {
    fn is_empty(&self) -> bool {
        self.path.is_none() && self.headers.is_empty() && self.body.is_none()
    }
}

impl Template {
    /// Makes requests for a target.
    pub fn new(target: &Target, wanted: Wanted) -> Result<Self, RequestError> {
        Self::with_values(target, wanted, &Values::default())
    }

    /// Makes requests for a target, in which names in braces stand for values.
    pub(crate) fn with_values(
        target: &Target,
        wanted: Wanted,
        values: &Values,
    ) -> Result<Self, RequestError> {
        let Wanted { method, headers: named, body, is_grpc, expected, path, expected_body } =
            wanted;
        let mut filled = FilledParts::default();
        let mut headers = HeaderMap::new();
        for (name, value) in named {
            // A secret is in no error.
            let is_secret = is_secret_header(&name);
            let refused = |value: &str| {
                let shown = if is_secret { "(not shown)" } else { value };
                RequestError::Header(format!("{name}: {shown}"))
            };
            let named = name.parse::<HeaderName>().map_err(|_| refused(&value))?;
            if follows_from_others(&named, &value, target.protocol) {
                continue;
            }
            let read = |text: &str| {
                let mut read = text.parse::<HeaderValue>().map_err(|_| refused(text))?;
                read.set_sensitive(is_secret);
                Ok(read)
            };
            match Filled::of(&value, values) {
                None => {
                    headers.append(named, read(&value)?);
                }
                Some(text) => {
                    // Whatever will be sent is seen now.
                    for number in 0..values.rows().max(1) {
                        read(&text.fill(values, number, Writing::Plain))?;
                    }
                    filled.headers.push((named, text));
                }
            }
        }
        let is_http1 = target.protocol == Protocol::Http1;
        let authority = target.uri.authority().map_or("", Authority::as_str);
        let is_named = |name: &HeaderName| {
            headers.contains_key(name) || filled.headers.iter().any(|(one, _)| one == name)
        };
        let (names_host, names_agent) = (is_named(&HOST), is_named(&USER_AGENT));
        if let Ok(host) = HeaderValue::from_str(authority)
            && is_http1
            && !names_host
        {
            headers.insert(HOST, host);
        }
        if !names_agent {
            headers.insert(USER_AGENT, HeaderValue::from_static("becalm"));
        }
        let host = if is_http1 { None } else { take_host(&mut headers)? };
        if !is_http1 && filled.headers.iter().any(|(name, _)| *name == HOST) {
            return Err(RequestError::VaryingHost);
        }
        if is_grpc {
            grpc::add_headers(&mut headers);
        }
        let path = match path {
            Some(path) if path.starts_with('/') => path,
            Some(path) => return Err(RequestError::Path(path)),
            None => match target.uri.path_and_query().map_or("/", PathAndQuery::as_str) {
                // A URL may have a query and no path.
                query if query.starts_with('?') => format!("/{query}"),
                whole => whole.to_owned(),
            },
        };
        if is_grpc && !grpc::is_method(&path) {
            return Err(RequestError::GrpcMethod(path));
        }
        filled.path = Filled::of(&path, values);
        // Values are escaped, so that all paths are right if one is.
        let first = filled.path.as_ref().map(|text| text.fill(values, 0, Writing::Escaped));
        let uri = uri_at(target, host.as_ref(), first.as_deref().unwrap_or(&path))
            .ok_or_else(|| RequestError::Path(path.clone()))?;
        // Values would change lengths that a message has in it.
        let text = std::str::from_utf8(&body).ok().filter(|_| !is_grpc);
        filled.body = text.and_then(|text| Filled::of(text, values));
        let method = match method.as_str() {
            "" => Method::GET,
            given => given.parse().map_err(|_| RequestError::Method(method.clone()))?,
        };
        let body = if is_grpc { grpc::framed(&body) } else { body };
        state_length(&method, &body, &mut headers);
        Ok(Self {
            method,
            host,
            uri,
            headers,
            body,
            expected: Expected::of(expected, is_grpc)?,
            expected_body,
            filled: (!filled.is_empty()).then(|| Box::new(filled)),
        })
    }

    /// Makes each request ask for the end of its connection.
    #[must_use]
    pub fn closing(mut self) -> Self {
        self.headers.insert(CONNECTION, HeaderValue::from_static("close"));
        self
    }

    /// Says whether all its requests are the same.
    pub(crate) fn is_constant(&self) -> bool {
        self.filled.is_none()
    }

    /// Makes the request of this number.
    pub(crate) fn request(&self, target: &Target, values: &Values, number: u64) -> Request<Bytes> {
        let mut request = Request::new(self.body.clone());
        request.method_mut().clone_from(&self.method);
        request.uri_mut().clone_from(&self.uri);
        request.headers_mut().clone_from(&self.headers);
        let Some(filled) = &self.filled else { return request };
        if let Some(text) = &filled.path
            && let path = text.fill(values, number, Writing::Escaped)
            && let Some(uri) = uri_at(target, self.host.as_ref(), &path)
        {
            *request.uri_mut() = uri;
        }
        for (name, text) in &filled.headers {
            if let Ok(value) = text.fill(values, number, Writing::Plain).try_into() {
                request.headers_mut().append(name, value);
            }
        }
        if let Some(text) = &filled.body {
            *request.body_mut() = text.fill(values, number, Writing::Plain).into();
            let body = request.body().clone();
            state_length(&self.method, &body, request.headers_mut());
        }
        request
    }

    /// Returns the body of a right answer, if it matters.
    pub(crate) fn expected_body(&self) -> Option<&ExpectedBody> {
        self.expected_body.as_ref()
    }

    pub(crate) fn expects(&self, status: StatusCode) -> bool {
        match &self.expected {
            Expected::Http(all) if all.is_empty() => status.is_success() || status.is_redirection(),
            Expected::Http(all) => all.contains(&status),
            Expected::Grpc(_) => status == StatusCode::OK,
        }
    }

    /// Returns which statuses of gRPC a right answer has; nothing if it is no call of gRPC.
    pub(crate) fn expected_grpc(&self) -> Option<&[u16]> {
        match &self.expected {
            Expected::Http(_) => None,
            Expected::Grpc(all) => Some(all),
        }
    }
}

/// Returns what a request names as its place: a path, or with HTTP/2, which has scheme and host in fields of its own, a URL
/// of which h2 takes them. `None` for what is not a path.
fn uri_at(target: &Target, host: Option<&Authority>, path: &str) -> Option<Uri> {
    let path: PathAndQuery = path.parse().ok()?;
    match target.protocol {
        Protocol::Http1 => Some(Uri::from(path)),
        Protocol::Http2 => {
            let mut parts = target.uri.clone().into_parts();
            parts.path_and_query = Some(path);
            parts.authority = host.cloned().or(parts.authority);
            Uri::from_parts(parts).ok()
        }
    }
}

#[cfg(test)]
mod tests {
    use http::header::{CONTENT_LENGTH, TE, TRANSFER_ENCODING};

    use super::super::target::Way;
    use super::*;

    fn template(target: &str, wanted: Wanted) -> Result<Template, RequestError> {
        let target = Target::new(target, Way::default()).unwrap();
        Template::with_values(&target, wanted, &values())
    }

    fn values() -> Values {
        Values::of_csv("id,bad\n7,\"a\nb\"\nx/y,c\n").unwrap()
    }

    fn request(template: &Template, number: u64) -> Request<Bytes> {
        let target = Target::new("http://127.0.0.1:81/", Way::default()).unwrap();
        template.request(&target, &values(), number)
    }

    #[test]
    fn values_are_in_path_headers_and_body() {
        let wanted = Wanted {
            headers: vec![("X-Id".to_owned(), "<{id}>".to_owned())],
            body: b"{\"n\": {counter}, \"id\": \"{id}\"}".as_slice().into(),
            path: Some("/item/{id}?n={counter}".to_owned()),
            ..Wanted::default()
        };
        let template = template("http://127.0.0.1:81/a", wanted).unwrap();
        let second = request(&template, 1);
        assert_eq!(second.uri().to_string(), "/item/x%2Fy?n=2");
        assert_eq!(second.headers()["x-id"], "<x/y>");
        let body = format!("{:?}", second.body());
        assert!(body.contains(r#"{\"n\": 2, \"id\": \"x/y\"}"#), "{body}");
    }

    #[test]
    fn a_body_that_is_filled_in_with_nothing_has_no_length() {
        let values = Values::of_csv("id,note\n1,\n2,x\n").unwrap();
        let target = Target::new("http://127.0.0.1:81/", Way::default()).unwrap();
        let wanted = Wanted {
            method: "DELETE".to_owned(),
            body: b"{note}".as_slice().into(),
            ..Wanted::default()
        };
        let template = Template::with_values(&target, wanted, &values).unwrap();
        let length = |number| {
            let request = template.request(&target, &values, number);
            request.headers().get(CONTENT_LENGTH).cloned()
        };
        assert_eq!((length(0), length(1)), (None, Some("1".parse().unwrap())));
    }

    #[test]
    fn a_secret_is_in_no_error_and_in_no_debug_output() {
        let of = |value: &str| Wanted {
            headers: vec![("Authorization".to_owned(), value.to_owned())],
            ..Wanted::default()
        };
        let error = template("http://127.0.0.1/", of("Bearer s3\u{7}cret")).unwrap_err();
        assert!(!error.to_string().contains("cret"), "{error}");
        let good = template("http://127.0.0.1/", of("Bearer s3cret")).unwrap();
        assert!(!format!("{good:?}").contains("s3cret"));
        assert_eq!(request(&good, 0).headers()["authorization"], "Bearer s3cret");
    }

    #[test]
    fn a_request_has_path_host_headers_and_body() {
        let headers = [("X-A", "b"), ("content-length", "99")];
        let headers = headers.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
        let wanted = Wanted {
            method: "POST".to_owned(),
            headers,
            body: b"xy".as_slice().into(),
            ..Wanted::default()
        };
        let template = template("http://127.0.0.1:81/a?b", wanted).unwrap().closing();
        let request = request(&template, 0);
        assert_eq!((request.method(), request.uri().to_string()), (&Method::POST, "/a?b".into()));
        assert_eq!(request.headers()[HOST], "127.0.0.1:81");
        assert_eq!(
            (&request.headers()["x-a"], &request.headers()[CONNECTION]),
            (&HeaderValue::from_static("b"), &HeaderValue::from_static("close"))
        );
        assert_eq!(request.headers()[CONTENT_LENGTH], "2");
    }

    #[test]
    fn a_url_without_a_path_names_the_first_one() {
        for (url, path) in [("http://127.0.0.1:81?x=1", "/?x=1"), ("http://127.0.0.1:81", "/")] {
            let template = template(url, Wanted::default()).unwrap();
            assert_eq!(request(&template, 0).uri().to_string(), path);
        }
    }

    #[test]
    fn the_host_of_a_user_is_that_of_http2_too() {
        let way = Way { protocol: Protocol::Http2, ..Way::default() };
        let target = Target::new("http://127.0.0.1:81/a", way).unwrap();
        let wanted = |host: &str| Wanted {
            headers: vec![("Host".to_owned(), host.to_owned())],
            ..Wanted::default()
        };
        let template = Template::new(&target, wanted("other:8")).unwrap();
        let request = template.request(&target, &values(), 0);
        assert_eq!(request.uri().to_string(), "http://other:8/a");
        assert!(!request.headers().contains_key(HOST));
        assert_eq!(
            Template::new(&target, wanted("a b")).unwrap_err(),
            RequestError::Header("Host: a b".to_owned())
        );
        let varying = Template::with_values(&target, wanted("{id}"), &values());
        assert_eq!(varying.unwrap_err(), RequestError::VaryingHost);
    }

    #[test]
    fn what_follows_from_body_and_protocol_is_no_header_of_a_user() {
        let given = [
            ("Transfer-Encoding", "chunked"),
            ("Connection", "close"),
            ("Te", "gzip"),
            ("X-A", "b"),
        ];
        let headers = given.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
        for protocol in [Protocol::Http1, Protocol::Http2] {
            let target =
                Target::new("http://127.0.0.1:81/", Way { protocol, ..Way::default() }).unwrap();
            let of = |method: &str| {
                let wanted = Wanted {
                    method: method.to_owned(),
                    headers: headers.clone(),
                    ..Wanted::default()
                };
                let template = Template::new(&target, wanted).unwrap();
                template.request(&target, &values(), 0).headers().clone()
            };
            let sent = of("PUT");
            assert!(sent.contains_key("x-a") && !sent.contains_key(TRANSFER_ENCODING));
            let is_http1 = protocol == Protocol::Http1;
            assert_eq!([CONNECTION, TE].map(|name| sent.contains_key(name)), [is_http1; 2]);
            assert_eq!(sent[CONTENT_LENGTH], "0");
            assert!(!of("DELETE").contains_key(CONTENT_LENGTH));
        }
    }

    #[test]
    fn what_is_none_of_http_is_refused() {
        let refused = |wanted| template("http://127.0.0.1/", wanted).unwrap_err();
        let method = Wanted { method: "GE T".to_owned(), ..Wanted::default() };
        assert_eq!(refused(method), RequestError::Method("GE T".to_owned()));
        let header = ("a b".to_owned(), "c".to_owned());
        let header = Wanted { headers: vec![header], ..Wanted::default() };
        assert_eq!(refused(header), RequestError::Header("a b: c".to_owned()));
        let header = ("X".to_owned(), "{bad}".to_owned());
        let header = Wanted { headers: vec![header], ..Wanted::default() };
        assert_eq!(refused(header), RequestError::Header("X: a\nb".to_owned()));
        for path in ["a", "/a b"] {
            let wanted = Wanted { path: Some(path.to_owned()), ..Wanted::default() };
            assert_eq!(refused(wanted), RequestError::Path(path.to_owned()));
        }
        let status = Wanted { expected: vec![42], ..Wanted::default() };
        assert_eq!(refused(status), RequestError::Status(42));
        let status = Wanted { expected: vec![17], ..call("/a.B/C") };
        assert_eq!(refused(status), RequestError::GrpcStatus(17));
        for path in ["/", "/a.B", "/a.B/", "//C"] {
            assert_eq!(refused(call(path)), RequestError::GrpcMethod(path.to_owned()));
        }
    }

    fn call(path: &str) -> Wanted {
        Wanted {
            method: "POST".to_owned(),
            is_grpc: true,
            path: Some(path.to_owned()),
            ..Wanted::default()
        }
    }

    #[test]
    fn a_call_of_grpc_has_a_frame_and_what_grpc_asks_of_its_headers_and_no_values_in_its_message() {
        let wanted = Wanted { body: b"{counter}".as_slice().into(), ..call("/a.B/C") };
        let plain = template("http://127.0.0.1:81/", wanted).unwrap();
        let request = request(&plain, 3);
        assert_eq!(request.uri().path(), "/a.B/C");
        let header = |name: &str| request.headers()[name].to_str().unwrap();
        assert_eq!((header("content-type"), header("te")), ("application/grpc", "trailers"));
        let body = format!("{:?}", request.body());
        assert!(body.contains(r"\0\0\0\0\t{counter}"), "{body}");
        assert!(plain.expects(StatusCode::OK) && !plain.expects(StatusCode::NO_CONTENT));
        assert_eq!(plain.expected_grpc(), Some(&[0][..]));
        let headers = vec![("Content-Type".to_owned(), "application/grpc+proto".to_owned())];
        let own = template("http://127.0.0.1:81/", Wanted { headers, ..call("/a.B/C") }).unwrap();
        assert_eq!(self::request(&own, 0).headers()["content-type"], "application/grpc+proto");
    }

    #[test]
    fn a_right_answer_is_a_success_unless_others_are_expected() {
        let template = |expected| {
            template("http://127.0.0.1/", Wanted { expected, ..Wanted::default() }).unwrap()
        };
        let (usual, given) = (template(Vec::new()), template(vec![404]));
        assert!(usual.expects(StatusCode::OK) && usual.expects(StatusCode::FOUND));
        assert!(!usual.expects(StatusCode::NOT_FOUND));
        assert!(given.expects(StatusCode::NOT_FOUND) && !given.expects(StatusCode::OK));
    }
}
