//! What goes back to a client.

use std::io::Write as _;
use std::sync::LazyLock;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use becalm_report::style_of_pages;
use becalm_report::web::web_style;
use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use http::header::{
    ACCEPT_ENCODING, ALLOW, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_SECURITY_POLICY, CONTENT_TYPE,
    HeaderName, LOCATION, REFERRER_POLICY, VARY, WWW_AUTHENTICATE, X_CONTENT_TYPE_OPTIONS,
    X_FRAME_OPTIONS,
};
use http::{HeaderMap, HeaderValue, Response, StatusCode};
use http_body_util::Full;

use super::access::digest;

/// Bytes from which on a body is worth compressing.
const WORTHWHILE: usize = 1 << 10;

/// Says whether a client takes what is compressed.
pub(super) fn takes_gzip(headers: &HeaderMap) -> bool {
    let given = headers.get(ACCEPT_ENCODING).and_then(|value| value.to_str().ok()).unwrap_or("");
    given.split(',').any(|one| {
        let (name, weight) = one.split_once(';').unwrap_or((one, ""));
        let weight = weight.trim().strip_prefix("q=").map_or(Ok(1.0), str::parse::<f64>);
        name.trim().eq_ignore_ascii_case("gzip") && weight.is_ok_and(|weight| weight > 0.0)
    })
}

/// An answer before it is one of HTTP.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) status: StatusCode,
    kind: Kind,
    body: Bytes,
    is_compressed: bool,
    more: Vec<(HeaderName, String)>,
}

/// What a body is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Page,
    /// A page that scripts of the site add to.
    Scripted,
    Script,
    /// A script with a version in its name, which never changes.
    Library,
    /// A report that has its style in itself.
    Record,
    Json,
    Picture,
    /// A picture that pages of others show.
    Badge,
    Feed,
    Text,
}

impl Kind {
    fn mime(self) -> &'static str {
        match self {
            Self::Script | Self::Library => "text/javascript; charset=utf-8",
            Self::Page | Self::Scripted | Self::Record => "text/html; charset=utf-8",
            Self::Json => "application/json",
            Self::Picture | Self::Badge => "image/svg+xml",
            Self::Feed => "application/atom+xml; charset=utf-8",
            Self::Text => "text/plain; charset=utf-8",
        }
    }

    /// Returns what a browser may load for it: nothing but the icon, no style but its own, and no script but those of the site
    /// where a page has some.
    fn policy(self) -> String {
        static OF_RECORDS: LazyLock<String> = LazyLock::new(|| hash(&style_of_pages()));
        static OF_PAGES: LazyLock<String> = LazyLock::new(|| hash(&web_style()));
        let style = if self == Self::Record { &*OF_RECORDS } else { &*OF_PAGES };
        let script = if self == Self::Scripted { " script-src 'self';" } else { "" };
        format!(
            "default-src 'none'; style-src {style};{script} img-src 'self'; form-action 'self'; base-uri 'none'; \
             frame-ancestors 'none'"
        )
    }
}

/// Returns what permits this style, and no other.
fn hash(style: &str) -> String {
    format!("'sha256-{}'", STANDARD.encode(digest(style.as_bytes())))
}

impl Answer {
    pub(super) fn new(status: StatusCode, kind: Kind, body: String) -> Self {
        Self { status, kind, body: body.into(), is_compressed: false, more: Vec::new() }
    }

    pub(super) fn ok(kind: Kind, body: String) -> Self {
        Self::new(StatusCode::OK, kind, body)
    }

    /// Sends the browser elsewhere.
    pub(super) fn see_other(to: String) -> Self {
        Self::new(StatusCode::SEE_OTHER, Kind::Text, String::new()).with(LOCATION, to)
    }

    /// Permits the scripts of the site on a page.
    pub(super) fn with_scripts(self) -> Self {
        let kind = if self.kind == Kind::Page { Kind::Scripted } else { self.kind };
        Self { kind, ..self }
    }

    /// Adds which methods an address takes.
    pub(super) fn allowing(self, methods: &str) -> Self {
        self.with(ALLOW, methods.to_owned())
    }

    /// Asks for the token: browsers have one for each project.
    pub(super) fn asking_for_token(self, project: Option<&str>) -> Self {
        let of = project.map_or(String::new(), |name| format!(" {name}"));
        let realm = format!("Basic realm=\"becalm{of}: any name, and the token as password\"");
        self.with(WWW_AUTHENTICATE, realm)
    }

    fn with(mut self, name: HeaderName, value: String) -> Self {
        self.more.push((name, value));
        self
    }

    /// Compresses what is long enough for that. Fast is good enough: the rest would take as long as to send it.
    pub(super) fn compressed(self) -> Self {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        if self.body.len() < WORTHWHILE || encoder.write_all(&self.body).is_err() {
            return self;
        }
        match encoder.finish() {
            Ok(bytes) => Self { body: bytes.into(), is_compressed: true, ..self },
            Err(_) => self,
        }
    }

    /// Returns how many bytes its body has.
    pub(super) fn bytes(&self) -> usize {
        self.body.len()
    }

    /// Makes it one of HTTP.
    pub(super) fn response(self) -> Response<Full<Bytes>> {
        let mut response = Response::new(Full::new(self.body));
        *response.status_mut() = self.status;
        let headers: &mut HeaderMap = response.headers_mut();
        let mut put = |name: HeaderName, value: &str| {
            // What is not permitted in a head is not sent.
            if let Ok(value) = HeaderValue::from_str(value) {
                headers.insert(name, value);
            }
        };
        put(CONTENT_TYPE, self.kind.mime());
        put(CONTENT_SECURITY_POLICY, &self.kind.policy());
        put(X_CONTENT_TYPE_OPTIONS, "nosniff");
        put(X_FRAME_OPTIONS, "DENY");
        // Within the site a browser has to say where a form comes from.
        put(REFERRER_POLICY, "same-origin");
        let keeping = match self.kind {
            Kind::Script => "max-age=300",
            Kind::Library => "max-age=31536000, immutable",
            _ => "no-cache",
        };
        put(CACHE_CONTROL, keeping);
        let sharing = if self.kind == Kind::Badge { "cross-origin" } else { "same-origin" };
        put(HeaderName::from_static("cross-origin-resource-policy"), sharing);
        put(HeaderName::from_static("cross-origin-opener-policy"), "same-origin");
        put(VARY, "accept-encoding");
        if self.is_compressed {
            put(CONTENT_ENCODING, "gzip");
        }
        for (name, value) in &self.more {
            put(name.clone(), value);
        }
        response
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_client_takes_is_what_it_says() {
        let takes = |given: &str| {
            takes_gzip(&HeaderMap::from_iter([(ACCEPT_ENCODING, given.parse().unwrap())]))
        };
        for yes in ["gzip", "br, GZIP;q=0.5", "deflate, gzip ;q=1.0"] {
            assert!(takes(yes), "{yes}");
        }
        for no in ["", "br", "gzip;q=0", "gzip;q=0.000, br", "gzip;q=x", "*"] {
            assert!(!takes(no), "{no}");
        }
        assert!(!takes_gzip(&HeaderMap::new()));
    }
}
