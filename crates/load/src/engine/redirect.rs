//! Redirects: which request follows an answer that sends the client elsewhere (RFC 9110, section 15.4).

use bytes::Bytes;
use http::header::{CONTENT_ENCODING, CONTENT_LANGUAGE, CONTENT_LENGTH, CONTENT_TYPE};
use http::uri::{PathAndQuery, Scheme};
use http::{HeaderValue, Method, Request, StatusCode, Uri};

use super::failure::shortened;
use super::target::{Protocol, Target};

/// What an answer asks for.
#[derive(Debug)]
pub(crate) enum Next {
    /// Nothing: it is the answer.
    Nothing,
    /// This request, to the same server.
    Request(Box<Request<Bytes>>),
    /// Something that is not done, in words: load goes where it was sent, and nowhere else.
    Refused(String),
}

/// Says what follows an answer to `asked`.
pub(crate) fn next(
    target: &Target,
    asked: &Request<Bytes>,
    status: StatusCode,
    location: Option<&HeaderValue>,
) -> Next {
    let is_redirect = matches!(status.as_u16(), 301 | 302 | 303 | 307 | 308);
    let Some(location) = location.filter(|_| is_redirect) else {
        return Next::Nothing;
    };
    let Ok(location) = location.to_str() else {
        return Next::Refused("to something that is not a URL".to_owned());
    };
    let path = match path_at(target, asked.uri(), location) {
        Ok(path) => path,
        Err(words) => return Next::Refused(words),
    };
    let mut request = asked.clone();
    *request.uri_mut() = match target.protocol {
        Protocol::Http1 => Uri::from(path),
        Protocol::Http2 => {
            let mut parts = asked.uri().clone().into_parts();
            parts.path_and_query = Some(path);
            match Uri::from_parts(parts) {
                Ok(uri) => uri,
                Err(error) => {
                    return Next::Refused(format!("to a path that has no place there: {error}"));
                }
            }
        }
    };
    let is_post = *asked.method() == Method::POST;
    let forgets = match status.as_u16() {
        303 => *asked.method() != Method::HEAD,
        301 | 302 => is_post,
        _ => false,
    };
    if forgets {
        *request.method_mut() = Method::GET;
        request.body_mut().clear();
        for name in [CONTENT_TYPE, CONTENT_LENGTH, CONTENT_ENCODING, CONTENT_LANGUAGE] {
            request.headers_mut().remove(name);
        }
    }
    Next::Request(Box::new(request))
}

/// Returns path and query of a location on the same server.
fn path_at(target: &Target, asked: &Uri, location: &str) -> Result<PathAndQuery, String> {
    let location = location.split('#').next().unwrap_or_default();
    // A query may have a secret in it.
    let shown = shortened(location.split('?').next().unwrap_or_default());
    let elsewhere = || format!("to another server: {shown}");
    let read = |text: &str| {
        let (path, query) = text.split_at(text.find('?').unwrap_or(text.len()));
        let path = without_dots(path) + query;
        path.parse().map_err(|error| format!("to {shown}: {error}"))
    };
    if let Some(rest) = location.strip_prefix("//") {
        let scheme = target.uri.scheme_str().unwrap_or("http");
        return path_at(target, asked, &format!("{scheme}://{rest}"));
    }
    // A path may have a URL in its query.
    let is_scheme = |text: &str| {
        text.starts_with(|c: char| c.is_ascii_alphabetic())
            && text.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
    };
    if location.split_once(':').is_some_and(|(scheme, _)| is_scheme(scheme)) {
        let Ok(uri) = location.parse::<Uri>() else { return Err(elsewhere()) };
        let is_same = place(&uri) == place(&target.uri) && place(&uri).is_some();
        let rest = uri.path_and_query().map_or("/", PathAndQuery::as_str);
        return if is_same { read(rest) } else { Err(elsewhere()) };
    }
    let before = asked.path();
    match location.chars().next() {
        None => read(asked.path_and_query().map_or("/", PathAndQuery::as_str)),
        Some('/') => read(location),
        Some('?') => read(&format!("{before}{location}")),
        Some(_) => {
            let folder = before.rfind('/').map_or("/", |end| &before[..=end]);
            read(&format!("{folder}{location}"))
        }
    }
}

/// Returns a path without `.` and `..` (RFC 3986, section 5.2.4).
fn without_dots(path: &str) -> String {
    let mut kept: Vec<&str> = Vec::new();
    for part in path.split('/').skip(1) {
        match part {
            "." => {}
            ".." => drop(kept.pop()),
            other => kept.push(other),
        }
    }
    // Both stand for a folder at the end.
    if path.ends_with("/.") || path.ends_with("/..") {
        kept.push("");
    }
    format!("/{}", kept.join("/"))
}

/// Returns scheme, host and port.
fn place(uri: &Uri) -> Option<(Scheme, String, u16)> {
    let scheme = uri.scheme()?.clone();
    let usual = if scheme == Scheme::HTTPS { 443 } else { 80 };
    Some((scheme, uri.host()?.to_ascii_lowercase(), uri.port_u16().unwrap_or(usual)))
}

#[cfg(test)]
mod tests {
    use super::super::target::Way;
    use super::*;

    fn asked(method: Method, path: &str) -> Request<Bytes> {
        let mut request = Request::new(Bytes::from_static(b"body"));
        *request.method_mut() = method;
        *request.uri_mut() = path.parse().unwrap();
        request.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/plain"));
        request
    }

    fn after(asked: &Request<Bytes>, status: u16, location: &str) -> Next {
        let target = Target::new("http://127.0.0.1:80/", Way::default()).unwrap();
        let location: HeaderValue = location.parse().unwrap();
        next(&target, asked, StatusCode::from_u16(status).unwrap(), Some(&location))
    }

    #[track_caller]
    fn leads(location: &str, path: &str) {
        match after(&asked(Method::GET, "/a/b?c"), 302, location) {
            Next::Request(request) => assert_eq!(request.uri().to_string(), path, "{location}"),
            other => panic!("{location}: {other:?}"),
        }
    }

    #[test]
    fn a_location_is_on_the_same_server_however_it_is_written() {
        leads("/x?y", "/x?y");
        leads("x", "/a/x");
        leads("?q=http://other/", "/a/b?q=http://other/");
        leads("/x#part", "/x");
        leads("http://127.0.0.1/a/../b/./c", "/b/c");
        leads("http://127.0.0.1?y=2", "/?y=2");
        leads("../x?y=/../z", "/x?y=/../z");
        leads("../../x/./y/..", "/x/");
        leads("/a/../b//c", "/b//c");
        leads(".", "/a/");
        leads("http://127.0.0.1/x", "/x");
        leads("//127.0.0.1:80/x", "/x");
        leads("", "/a/b?c");
    }

    #[test]
    fn another_server_gets_no_load() {
        for location in
            ["http://127.0.0.1:81/", "https://127.0.0.1/", "//other/x", "http://other/", "mailto:x"]
        {
            let Next::Refused(words) = after(&asked(Method::GET, "/"), 301, location) else {
                panic!("{location}")
            };
            assert!(words.starts_with("to "), "{words}");
        }
        let Next::Refused(words) =
            after(&asked(Method::GET, "/"), 301, "http://other/?token=s3cret")
        else {
            panic!("it was followed")
        };
        assert_eq!(words, "to another server: http://other/");
    }

    #[test]
    fn only_some_statuses_keep_method_and_body() {
        let check = |status, method: Method, is_kept: bool| {
            let Next::Request(request) = after(&asked(method.clone(), "/"), status, "/x") else {
                panic!("{status}")
            };
            let body = request.body();
            assert_eq!(*request.method() == method && body == "body", is_kept, "{status} {method}");
            assert_eq!(request.headers().contains_key(CONTENT_TYPE), is_kept);
        };
        for (status, method, is_kept) in [
            (301, Method::POST, false),
            (302, Method::POST, false),
            (303, Method::PUT, false),
            (301, Method::PUT, true),
            (307, Method::POST, true),
            (308, Method::POST, true),
        ] {
            check(status, method, is_kept);
        }
    }

    #[test]
    fn other_statuses_and_redirects_without_a_place_are_answers() {
        assert!(matches!(after(&asked(Method::GET, "/"), 200, "/x"), Next::Nothing));
        assert!(matches!(after(&asked(Method::GET, "/"), 304, "/x"), Next::Nothing));
    }
}
