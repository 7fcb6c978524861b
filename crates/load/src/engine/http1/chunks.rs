//! The chunked transfer coding, in which a body of unknown length comes (RFC 9112, section 7.1).

/// A body in chunks, as far as it has come. Extensions of chunks and trailers are read over.
#[derive(Debug, Clone, Copy)]
pub(super) struct Chunks {
    at: At,
    /// Bytes of the extensions of this chunk, or of the trailers, so far: nobody needs them.
    beside: usize,
}

/// Which byte comes next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum At {
    Size { size: u64, digits: u8 },
    Extension { size: u64 },
    EndOfSize { size: u64 },
    Data { left: u64 },
    EndOfData,
    LastOfData,
    Trailer,
    InTrailer,
    EndOfTrailer,
    Last,
    Ended,
}

/// As many as the size of a chunk may have.
const MOST_DIGITS: u8 = 16;
const MOST_BESIDE: usize = 64 * 1024;

impl Chunks {
    pub(super) fn new() -> Self {
        Self { at: At::Size { size: 0, digits: 0 }, beside: 0 }
    }

    pub(super) fn has_ended(&self) -> bool {
        self.at == At::Ended
    }

    /// Takes the next bytes, hands on what is data, and returns those after the end.
    ///
    /// # Errors
    ///
    /// What is wrong with them.
    pub(super) fn take<'b>(
        &mut self,
        mut bytes: &'b [u8],
        data: &mut impl FnMut(&[u8]),
    ) -> Result<&'b [u8], &'static str> {
        while !self.has_ended() {
            if let At::Data { left } = self.at {
                let come = usize::try_from(left).unwrap_or(usize::MAX).min(bytes.len());
                let (of_chunk, rest) = bytes.split_at(come);
                data(of_chunk);
                bytes = rest;
                let left = left - come as u64;
                self.at = if left == 0 { At::EndOfData } else { At::Data { left } };
            }
            let Some((&byte, rest)) = bytes.split_first() else { break };
            self.at = self.after(byte)?;
            bytes = rest;
        }
        Ok(bytes)
    }

    fn after(&mut self, byte: u8) -> Result<At, &'static str> {
        let digit = char::from(byte).to_digit(16);
        Ok(match (self.at, byte) {
            (At::Size { size, digits }, _) if digit.is_some() => {
                if digits == MOST_DIGITS {
                    return Err("the size of a chunk is too large");
                }
                At::Size { size: size << 4 | u64::from(digit.unwrap_or(0)), digits: digits + 1 }
            }
            (At::Size { digits: 0, .. }, _) => return Err("a chunk has no size"),
            (At::Size { size, .. } | At::Extension { size }, b'\r') => At::EndOfSize { size },
            (At::Size { size, .. }, b';' | b' ' | b'\t') => At::Extension { size },
            (At::Extension { size }, other) if other != b'\n' => {
                self.beside(At::Extension { size })?
            }
            (At::EndOfSize { size: 0 } | At::EndOfTrailer, b'\n') => At::Trailer,
            (At::EndOfSize { size }, b'\n') => At::Data { left: size },
            (At::EndOfData, b'\r') => {
                self.beside = 0;
                At::LastOfData
            }
            (At::LastOfData, b'\n') => At::Size { size: 0, digits: 0 },
            (At::Trailer, b'\r') => At::Last,
            (At::Last, b'\n') => At::Ended,
            (At::InTrailer, b'\r') => At::EndOfTrailer,
            (At::Trailer | At::InTrailer, other) if other != b'\n' => self.beside(At::InTrailer)?,
            _ => return Err("a chunk does not end where it is to"),
        })
    }

    /// Counts a byte that nobody needs.
    fn beside(&mut self, at: At) -> Result<At, &'static str> {
        self.beside += 1;
        if self.beside > MOST_BESIDE { Err("extensions and trailers are too long") } else { Ok(at) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Takes a body in pieces of this size; returns its data, and the bytes after it once it has ended.
    fn taken(body: &[u8], size: usize) -> Result<(String, Option<String>), &'static str> {
        let (mut chunks, mut data) = (Chunks::new(), Vec::new());
        let mut after = Vec::new();
        for piece in body.chunks(size) {
            let rest = chunks.take(piece, &mut |bytes| data.extend_from_slice(bytes))?;
            after.extend_from_slice(rest);
        }
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        Ok((text(data), chunks.has_ended().then(|| text(after))))
    }

    #[test]
    fn data_is_the_same_in_whatever_pieces_it_comes() {
        for (body, data, after) in [
            ("3\r\nabc\r\nA;a=\"b\"\r\n0123456789\r\n0\r\n\r\n", "abc0123456789", ""),
            ("02 ;x\r\n\r\n\r\n00\r\nX-A: b\r\nC: d\r\n\r\nHTTP", "\r\n", "HTTP"),
            ("0\r\n\r\n", "", ""),
        ] {
            for size in [1, 2, 3, 7, 100] {
                let (taken, rest) = taken(body.as_bytes(), size).unwrap();
                assert_eq!((taken.as_str(), rest.as_deref()), (data, Some(after)), "{size}");
            }
        }
        let extended =
            format!("1;{}\r\na\r\n", "b".repeat(MOST_BESIDE / 2)).repeat(3) + "0\r\n\r\n";
        assert_eq!(taken(extended.as_bytes(), 1000).unwrap().0, "aaa");
        for cut_off in ["", "3", "3\r\n", "3\r\nab", "3\r\nabc\r\n0\r\n", "0\r\nA: b\r\n\r"] {
            assert_eq!(taken(cut_off.as_bytes(), 2).unwrap().1, None, "{cut_off:?}");
        }
    }

    #[test]
    fn what_are_no_chunks_is_refused() {
        let long = format!("0\r\nA: {}", "b".repeat(MOST_BESIDE));
        let extended = format!("1;{}", "b".repeat(MOST_BESIDE + 1));
        for wrong in [
            "\r\n",
            "x",
            "-1\r\n",
            "3\nabc",
            "3\r\nabcd",
            "3\r\nabc\n",
            "3;\n",
            "0\r\nA\n",
            "00000000000000001\r\n",
            &long,
            &extended,
        ] {
            assert!(taken(wrong.as_bytes(), 5).is_err(), "{wrong:?}");
        }
    }
}
