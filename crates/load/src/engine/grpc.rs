//! Unary calls of gRPC: a message in a frame, over HTTP/2, and a status in the trailers.
//!
//! The protocol is that of <https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md>.

use becalm_model::counted;
use becalm_model::load::FailureKind;
use bytes::{BufMut as _, Bytes, BytesMut};
use http::header::{CONTENT_TYPE, HeaderName, TE};
use http::{HeaderMap, HeaderValue};

use super::failure::{Failure, shortened};

/// The status of a call that went well.
pub(super) const OK: u16 = 0;

/// The last of the statuses that gRPC defines.
pub(super) const LAST_STATUS: u16 = 16;

/// Bytes before a message: whether it is compressed, and its length.
const PREFIX: usize = 5;

/// Says whether a path names a method of a service.
pub(super) fn is_method(path: &str) -> bool {
    let named = path.strip_prefix('/').and_then(|path| path.rsplit_once('/'));
    named.is_some_and(|(service, method)| !service.is_empty() && !method.is_empty())
}

/// Puts a message into a frame.
pub(super) fn framed(message: &[u8]) -> Bytes {
    let mut framed = BytesMut::with_capacity(PREFIX + message.len());
    framed.put_u8(0);
    // Files are smaller than what this number cannot hold.
    framed.put_u32(u32::try_from(message.len()).unwrap_or(u32::MAX));
    framed.put_slice(message);
    framed.freeze()
}

/// Adds what every call has. The content type may name how messages are serialised, and is left alone.
pub(super) fn add_headers(headers: &mut HeaderMap) {
    headers.entry(CONTENT_TYPE).or_insert(HeaderValue::from_static("application/grpc"));
    headers.insert(TE, HeaderValue::from_static("trailers"));
}

/// The frames of an answer, seen in the pieces in which they come. It keeps nothing of a message.
#[derive(Debug, Default)]
pub(super) struct Frames {
    prefix: [u8; PREFIX],
    /// How much of the prefix has come.
    of_prefix: usize,
    /// How much of the message is still to come.
    left: usize,
    messages: usize,
    is_compressed: bool,
    /// A first byte that is none of gRPC.
    is_garbage: bool,
}

impl Frames {
    /// Takes the next bytes, and hands on those that belong to messages.
    pub(super) fn take(&mut self, mut bytes: &[u8], message: &mut dyn FnMut(&[u8])) {
        while !bytes.is_empty() && !self.is_garbage {
            if self.left > 0 {
                let (of_message, rest) = bytes.split_at(self.left.min(bytes.len()));
                message(of_message);
                self.left -= of_message.len();
                bytes = rest;
                continue;
            }
            let (of_prefix, rest) = bytes.split_at((PREFIX - self.of_prefix).min(bytes.len()));
            self.prefix[self.of_prefix..][..of_prefix.len()].copy_from_slice(of_prefix);
            self.of_prefix += of_prefix.len();
            bytes = rest;
            if self.of_prefix == PREFIX {
                let [flag, length @ ..] = self.prefix;
                self.is_garbage = flag > 1;
                self.is_compressed |= flag == 1;
                self.left = usize::try_from(u32::from_be_bytes(length)).unwrap_or(usize::MAX);
                self.messages += 1;
                self.of_prefix = 0;
            }
        }
    }

    /// Says whether not a byte came.
    fn is_empty(&self) -> bool {
        self.messages == 0 && self.of_prefix == 0
    }

    /// Says what is wrong with what came, after its last byte. An answer with another status than OK need not have a
    /// message.
    fn fault(&self, status: u16, headers: &HeaderMap) -> Option<String> {
        const ENCODING: HeaderName = HeaderName::from_static("grpc-encoding");
        let names_encoding =
            headers.get(ENCODING).is_some_and(|encoding| encoding.as_bytes() != b"identity");
        if self.is_garbage {
            Some("its first byte is neither 0 nor 1".to_owned())
        } else if self.left > 0 {
            Some(format!("it lacks {}", counted(self.left, "byte")))
        } else if self.of_prefix > 0 {
            Some("it ends within the five bytes before a message".to_owned())
        } else if self.is_compressed && !names_encoding {
            Some("it is compressed, and no header says how".to_owned())
        } else if self.messages == 1 || (self.messages == 0 && status != OK) {
            None
        } else {
            Some(counted(self.messages, "message"))
        }
    }

    /// Says what is wrong with a whole answer of HTTP with 200, beside the content of its message.
    ///
    /// The status is in the trailers, or in the headers of an answer that has nothing else.
    pub(super) fn failure(
        &self,
        expected: &[u16],
        headers: &HeaderMap,
        trailers: Option<&HeaderMap>,
    ) -> Option<(Option<u16>, Failure)> {
        let failed = |kind, status, words| Some((status, Failure { kind, words }));
        // One that ends without trailers after a message was cut off, whatever its headers say.
        let without_any = if self.is_empty() { headers } else { &HeaderMap::new() };
        let end = trailers.unwrap_or(without_any);
        let status = match status(end) {
            Ok(status) => status,
            Err(words) => return failed(FailureKind::GrpcStatus, None, Some(words)),
        };
        if !expected.contains(&status) {
            let words = said(end);
            return failed(FailureKind::GrpcStatus, Some(status), words);
        }
        self.fault(status, headers)
            .and_then(|words| failed(FailureKind::GrpcMessage, None, Some(words)))
    }
}

/// Reads the status; where there is none, says so.
fn status(headers: &HeaderMap) -> Result<u16, String> {
    /// Statuses of their own that servers may have. The number of different ones has a bound, as that of HTTP.
    const LARGEST: u16 = 999;
    let value = headers.get("grpc-status").ok_or("the answer has none")?;
    let text = value.to_str().unwrap_or_default();
    let number = text.parse().ok().filter(|number| *number <= LARGEST);
    number.ok_or_else(|| format!("`{}` is not one", value.as_bytes().escape_ascii()))
}

/// Returns what the server says about a status: percent-encoded UTF-8, of which as much is kept as fits a line.
fn said(headers: &HeaderMap) -> Option<String> {
    let mut encoded = headers.get("grpc-message")?.as_bytes().iter().copied();
    let mut bytes = Vec::new();
    while let Some(byte) = encoded.next() {
        let digits: Vec<u8> = encoded.clone().take(2).collect();
        let escaped = std::str::from_utf8(&digits).ok().filter(|two| two.len() == 2);
        match escaped.and_then(|two| u8::from_str_radix(two, 16).ok()).filter(|_| byte == b'%') {
            Some(escaped) => {
                bytes.push(escaped);
                encoded.nth(1);
            }
            // What is not an escape is text, as gRPC asks for.
            None => bytes.push(byte),
        }
    }
    let text = String::from_utf8_lossy(&bytes).replace(char::is_control, " ");
    let text = text.trim();
    (!text.is_empty()).then(|| shortened(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        let pair = |(name, value): &(&'static str, &'static str)| {
            (HeaderName::from_static(name), HeaderValue::from_static(value))
        };
        pairs.iter().map(pair).collect()
    }

    /// Takes a body in pieces of this size; returns its messages one after the other, and the frames.
    fn taken(body: &[u8], size: usize) -> (Vec<u8>, Frames) {
        let (mut frames, mut messages) = (Frames::default(), Vec::new());
        for piece in body.chunks(size) {
            frames.take(piece, &mut |bytes| messages.extend_from_slice(bytes));
        }
        (messages, frames)
    }

    #[test]
    fn a_message_is_found_in_its_frame_however_it_is_cut() {
        for message in [&b""[..], b"a", b"\0\0\0\0\x05hello", &[7; 300]] {
            for size in [1, 2, 5, 6, 1000] {
                let (found, frames) = taken(&framed(message), size);
                assert_eq!(found, message);
                assert_eq!(frames.fault(OK, &HeaderMap::new()), None);
            }
        }
    }

    #[test]
    fn what_is_not_one_whole_message_is_said() {
        let fault = |body: &[u8], status, head: &[_]| {
            let by_size = [1, 1000].map(|size| taken(body, size).1.fault(status, &headers(head)));
            assert_eq!(by_size[0], by_size[1]);
            by_size[0].clone().unwrap_or_default()
        };
        let two = [framed(b"a"), framed(b"b")].concat();
        assert_eq!(fault(&two, OK, &[]), "2 messages");
        assert_eq!((fault(b"", OK, &[]).as_str(), fault(b"", 5, &[]).as_str()), ("0 messages", ""));
        assert_eq!(fault(b"\0\0\0\0\x05hell", OK, &[]), "it lacks 1 byte");
        assert!(fault(b"\0\0", OK, &[]).contains("five bytes"));
        assert!(fault(b"<html></html>", OK, &[]).contains("neither 0 nor 1"));
        let compressed = b"\x01\0\0\0\x01x";
        assert!(fault(compressed, OK, &[]).contains("no header says how"));
        assert!(fault(compressed, OK, &[("grpc-encoding", "identity")]).contains("no header"));
        assert_eq!(fault(compressed, OK, &[("grpc-encoding", "gzip")]), "");
        // A length that no body has.
        assert!(fault(b"\0\xff\xff\xff\xff", OK, &[]).contains("lacks 4294967295 bytes"));
    }

    #[test]
    fn the_status_is_in_the_trailers_or_in_the_headers_of_an_answer_without_any() {
        let (_, one) = taken(&framed(b"x"), 100);
        let nothing = Frames::default();
        let head = headers(&[("grpc-status", "5"), ("grpc-message", "no%20such%0Athing %zz %")]);
        let tail = headers(&[("grpc-status", "0")]);
        let kind = |found: Option<(Option<u16>, Failure)>| {
            found.map(|(status, failure)| (failure.kind, status))
        };
        let none = HeaderMap::new();
        assert_eq!(one.failure(&[0], &none, Some(&tail)), None);
        assert_eq!(nothing.failure(&[5], &head, None), None);
        let (status, failure) = nothing.failure(&[0], &head, None).unwrap();
        assert_eq!((status, failure.words.as_deref()), (Some(5), Some("no such thing %zz %")));
        let early = headers(&[("grpc-status", "0")]);
        assert_eq!(kind(one.failure(&[0], &early, None)), Some((FailureKind::GrpcStatus, None)));
        // Where there are trailers, the headers do not count.
        assert_eq!(one.failure(&[0], &head, Some(&tail)), None);
        assert_eq!(kind(one.failure(&[0], &none, None)), Some((FailureKind::GrpcStatus, None)));
        for text in ["", "x", "1000", "-1", "70000"] {
            let tail = headers(&[("grpc-status", text)]);
            let found = kind(one.failure(&[0], &none, Some(&tail)));
            assert_eq!(found, Some((FailureKind::GrpcStatus, None)), "{text}");
        }
        let found = kind(nothing.failure(&[0], &none, Some(&tail)));
        assert_eq!(found, Some((FailureKind::GrpcMessage, None)));
    }

    #[test]
    fn what_a_server_says_has_a_bound() {
        assert_eq!(said(&HeaderMap::new()), None);
        let mut long = HeaderMap::new();
        long.insert("grpc-message", "%C3%BC".repeat(1000).parse().unwrap());
        let text = said(&long).unwrap();
        assert!(text.starts_with('ü') && text.chars().count() == 203, "{text}");
    }
}
