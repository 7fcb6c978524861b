//! An answer of HTTP/1.1, as far as it has come (RFC 9112, sections 4 to 6).

use std::mem::MaybeUninit;

use http::{HeaderValue, StatusCode};
use httparse::{ParserConfig, Response, Status};

use super::super::expected::Look;
use super::chunks::Chunks;
use super::wire::{Wire, names};

/// More headers than servers send.
const MOST_HEADERS: usize = 256;
/// More than servers send before a body.
const LONGEST_HEAD: usize = 256 * 1024;

/// What an answer says before its body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Head {
    pub(super) status: StatusCode,
    pub(super) location: Option<HeaderValue>,
    /// Whether its connection can carry another request.
    pub(super) stays: bool,
}

/// An answer that is being read.
#[derive(Debug)]
pub(super) struct Reading<'a> {
    is_of_head: bool,
    look: Look<'a>,
    head: Option<Head>,
    part: Part,
    /// The beginning of a head, if it came in pieces.
    held: Vec<u8>,
}

/// Which part of it comes next.
#[derive(Debug)]
enum Part {
    Head,
    Body(Framing),
    Nothing,
}

/// Where a body ends.
#[derive(Debug, Clone, Copy)]
enum Framing {
    Length(u64),
    Chunks(Chunks),
    /// With its connection.
    Close,
}

/// Why bytes are no answer.
pub(super) type Malformed = String;

impl<'a> Reading<'a> {
    /// Reads the answer to a request, and looks at its body.
    pub(super) fn of(wire: &Wire, look: Look<'a>) -> Self {
        let is_of_head = wire.is_of_head;
        Self { is_of_head, look, head: None, part: Part::Head, held: Vec::new() }
    }

    /// Takes the next bytes.
    pub(super) fn take(&mut self, bytes: &[u8]) -> Result<(), Malformed> {
        if self.held.is_empty() {
            let left = self.take_from(bytes)?;
            self.held.extend_from_slice(left);
        } else if !bytes.contains(&b'\n') {
            // No line of the head has come to its end, so there is nothing new to read in it.
            self.held.extend_from_slice(bytes);
        } else {
            let mut held = std::mem::take(&mut self.held);
            held.extend_from_slice(bytes);
            let left = self.take_from(&held)?.len();
            held.drain(..held.len() - left);
            self.held = held;
        }
        if self.held.len() > LONGEST_HEAD && matches!(self.part, Part::Head) {
            return Err(format!("its head has more than {LONGEST_HEAD} bytes"));
        }
        // Nobody asked for what comes after it.
        if let Some(head) = &mut self.head {
            head.stays &= self.held.is_empty();
        }
        Ok(())
    }

    /// Takes what it can of these bytes; returns the others.
    fn take_from<'b>(&mut self, mut bytes: &'b [u8]) -> Result<&'b [u8], Malformed> {
        while matches!(self.part, Part::Head) && !bytes.is_empty() {
            let Some((head, framing, length)) = read_head(bytes, self.is_of_head)? else {
                return Ok(bytes);
            };
            bytes = &bytes[length..];
            // One that says that another one comes.
            let is_interim = head.status.is_informational();
            if !is_interim || head.status == StatusCode::SWITCHING_PROTOCOLS {
                self.head = Some(head);
                self.part = Part::Body(framing);
            }
        }
        let look = &mut self.look;
        let Part::Body(framing) = &mut self.part else { return Ok(bytes) };
        let has_ended = match framing {
            Framing::Length(left) => {
                let come = usize::try_from(*left).unwrap_or(usize::MAX).min(bytes.len());
                let (of_body, rest) = bytes.split_at(come);
                look.take(of_body);
                (bytes, *left) = (rest, *left - come as u64);
                *left == 0
            }
            Framing::Chunks(chunks) => {
                bytes = chunks.take(bytes, &mut |data| look.take(data))?;
                chunks.has_ended()
            }
            Framing::Close => {
                look.take(bytes);
                bytes = &[];
                false
            }
        };
        if has_ended {
            self.part = Part::Nothing;
        }
        Ok(bytes)
    }

    /// Takes note that nothing more comes.
    pub(super) fn end(&mut self) {
        if matches!(self.part, Part::Body(Framing::Close)) {
            self.part = Part::Nothing;
        }
    }

    /// Returns the head of an answer that has come whole, and whether its body is the right one.
    pub(super) fn whole(&mut self) -> Option<(Head, bool)> {
        match self.part {
            Part::Nothing => self.head.take().map(|head| (head, self.look.is_right())),
            Part::Head | Part::Body(_) => None,
        }
    }
}

/// Reads a head; returns it with how its body ends and how long it is, or `None` if not all of it has come.
fn read_head(bytes: &[u8], is_of_head: bool) -> Result<Option<(Head, Framing, usize)>, Malformed> {
    let mut headers = [const { MaybeUninit::uninit() }; MOST_HEADERS];
    let mut response = Response::new(&mut []);
    // What clients have to take (RFC 9112, section 5.2), and what they all take.
    let mut parser = ParserConfig::default();
    parser.allow_obsolete_multiline_headers_in_responses(true);
    parser.allow_spaces_after_header_name_in_responses(true);
    let parsed = parser.parse_response_with_uninit_headers(&mut response, bytes, &mut headers);
    let Status::Complete(length) = parsed.map_err(|error| error.to_string())? else {
        return Ok(None);
    };
    let code = response.code.unwrap_or(0);
    let status = StatusCode::from_u16(code).map_err(|_| format!("its status is {code}"))?;
    let (mut promised, mut chunked, mut location) = (None::<Result<u64, Malformed>>, None, None);
    let (mut closes, mut keeps) = (false, false);
    for header in &*response.headers {
        let (name, value) = (header.name, header.value);
        // Their lengths tell nearly all others apart from them.
        match name.len() {
            8 if name.eq_ignore_ascii_case("location") => {
                location = HeaderValue::from_bytes(value).ok();
            }
            10 if name.eq_ignore_ascii_case("connection") => {
                closes |= names(value, "close");
                keeps |= names(value, "keep-alive");
            }
            14 if name.eq_ignore_ascii_case("content-length") => {
                let length = read_length(value);
                promised = Some(match promised {
                    Some(other) if other != length => Err("it has two lengths".to_owned()),
                    _ => length,
                });
            }
            17 if name.eq_ignore_ascii_case("transfer-encoding") => {
                let last = value.rsplit(|byte| *byte == b',').next().unwrap_or_default();
                chunked = Some(names(last, "chunked"));
            }
            _ => {}
        }
    }
    let has_no_body = is_of_head
        || status.is_informational()
        || matches!(status, StatusCode::NO_CONTENT | StatusCode::NOT_MODIFIED);
    let framing = match (chunked, promised) {
        _ if has_no_body => Framing::Length(0),
        (Some(true), _) => Framing::Chunks(Chunks::new()),
        (Some(false), _) | (None, None) => Framing::Close,
        // A wrong length is wrong only where it means something (RFC 9112, section 6.3).
        (None, Some(length)) => Framing::Length(length?),
    };
    // Of HTTP/1.0 a connection is kept only if its server says so, and not where the length of a body is of later versions.
    let is_kept = match response.version {
        Some(0) => keeps && !closes && chunked.is_none(),
        _ => !closes,
    };
    let is_other_protocol = status == StatusCode::SWITCHING_PROTOCOLS;
    let stays = is_kept && !is_other_protocol && !matches!(framing, Framing::Close);
    Ok(Some((Head { status, location, stays }, framing, length)))
}

/// Reads a length, which some servers repeat in a list.
fn read_length(value: &[u8]) -> Result<u64, Malformed> {
    let refused = || format!("`{}` is not a length", value.escape_ascii());
    let mut lengths = value.split(|byte| *byte == b',').map(|one| {
        let digits = std::str::from_utf8(one.trim_ascii()).ok()?;
        // A number may not have a sign here.
        let is_number = digits.bytes().all(|byte| byte.is_ascii_digit());
        digits.parse::<u64>().ok().filter(|_| is_number)
    });
    let first = lengths.next().flatten().ok_or_else(refused)?;
    if lengths.all(|other| other == Some(first)) { Ok(first) } else { Err(refused()) }
}

#[cfg(test)]
mod tests {
    use becalm_model::load::ExpectedBody;
    use bytes::Bytes;
    use http::Request;
    use proptest::prelude::*;

    use super::*;

    /// Reads an answer to a request with this method in pieces that end at these places; says its status, whether its
    /// connection stays, and whether its body is `ok`. `None` if it lacks something.
    fn read(
        method: &str,
        bytes: &[u8],
        cuts: &[usize],
        ends: bool,
    ) -> Result<Option<(u16, bool, bool)>, Malformed> {
        let request = Request::builder().method(method).body(Bytes::new()).unwrap();
        let expected = ExpectedBody::Is("ok".to_owned());
        let mut reading = Reading::of(&Wire::of(&request), Look::at(Some(&expected)));
        let mut from = 0;
        for to in cuts.iter().copied().chain([bytes.len()]) {
            reading.take(&bytes[from..to])?;
            from = to;
        }
        if ends {
            reading.end();
        }
        let whole = reading.whole();
        Ok(whole.map(|(head, is_right)| (head.status.as_u16(), head.stays, is_right)))
    }

    /// Reads an answer to a GET.
    fn got(answer: &str) -> Result<Option<(u16, bool, bool)>, Malformed> {
        read("GET", answer.as_bytes(), &[], false)
    }

    #[test]
    fn a_body_ends_where_its_head_says() {
        let whole = Ok(Some((200, true, true)));
        for answer in [
            "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
            "HTTP/1.1 200\r\ncontent-length: 2, 2\r\nConnection: keep-alive\r\n\r\nok",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\nContent-Length: 9\r\n\r\n2\r\nok\r\n0\r\n\r\n",
            "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Hints\r\nLink: a\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
            "HTTP/1.0 200 OK\r\nContent-Length: 2\r\nConnection: Keep-Alive\r\n\r\nok",
            "HTTP/1.1 200 OK\r\nX: a\r\n b\r\nContent-Length : 2\r\n\r\nok",
            "HTTP/1.1 200 OK\r\nContent-Length: x\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n",
        ] {
            assert_eq!(got(answer), whole, "{answer}");
        }
        for answer in [
            "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n",
            "HTTP/1.1 100 Continue\r\n\r\n",
            "HTTP/1.1 200 OK\r\n",
        ] {
            assert_eq!(read("GET", answer.as_bytes(), &[], true), Ok(None), "{answer}");
        }
        for answer in
            ["HTTP/1.1 200 OK\r\n\r\nok", "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\nok"]
        {
            assert_eq!(got(answer), Ok(None), "{answer}");
            assert_eq!(read("GET", answer.as_bytes(), &[], true), Ok(Some((200, false, true))));
        }
    }

    #[test]
    fn some_answers_have_no_body_whatever_their_headers_say() {
        let with_length = |status: u16| format!("HTTP/1.1 {status} X\r\nContent-Length: 2\r\n\r\n");
        for status in [204, 304] {
            assert_eq!(got(&with_length(status)), Ok(Some((status, true, false))));
        }
        let of_head = read("HEAD", with_length(200).as_bytes(), &[], false);
        assert_eq!(of_head, Ok(Some((200, true, false))));
        assert_eq!(got("HTTP/1.1 204 X\r\nContent-Length:\r\n\r\n"), Ok(Some((204, true, false))));
        assert_eq!(got("HTTP/1.1 101 X\r\n\r\n"), Ok(Some((101, false, false))));
    }

    #[test]
    fn a_connection_ends_when_its_server_says_so_or_sends_too_much() {
        for answer in [
            "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: te, Close\r\n\r\nok",
            "HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok",
            "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok!",
        ] {
            assert_eq!(got(answer), Ok(Some((200, false, true))), "{answer}");
        }
    }

    #[test]
    fn what_is_no_answer_is_refused() {
        let long = format!("HTTP/1.1 200 OK\r\nA: {}", "b".repeat(LONGEST_HEAD));
        let many = format!("HTTP/1.1 200 OK\r\n{}\r\n", "A: b\r\n".repeat(MOST_HEADERS + 1));
        for wrong in [
            "220 mail.example ESMTP\r\n",
            "HTTP/2 200\r\n\r\n",
            "HTTP/1.1 099 X\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: +1\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 1, 2\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
            &long,
            &many,
        ] {
            assert!(got(wrong).is_err(), "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn pieces_say_the_same_as_the_whole(
            which in 0_usize..4, cuts in proptest::collection::vec(0_usize..120, 0..6),
        ) {
            let answer = [
                "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nX: y\r\n\r\nok",
                "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;a\r\no\r\n1\r\nk\r\n0\r\nA: b\r\n\r\n",
                "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok and more",
            ][which].as_bytes();
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(answer.len())).collect();
            cuts.sort_unstable();
            // What is too much need not be seen when the answer is whole before it comes.
            let stays = which < 3;
            prop_assert_eq!(read("GET", answer, &cuts, false), Ok(Some((200, stays, true))));
        }

        #[test]
        fn no_bytes_make_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200), cut in 0_usize..200) {
            let _ = read("GET", &bytes, &[cut.min(bytes.len())], true);
            let answer = [b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n".as_slice(), &bytes].concat();
            let _ = read("GET", &answer, &[cut.min(answer.len())], true);
        }
    }
}
