//! Names with values, as addresses and forms have them.

/// Returns the pairs of `a=1&b=2`, without the escapes.
pub(super) fn pairs(text: &str) -> Vec<(String, String)> {
    let parts = text.split('&').filter(|part| !part.is_empty());
    parts
        .map(|part| {
            let (name, value) = part.split_once('=').unwrap_or((part, ""));
            (plain(name), plain(value))
        })
        .collect()
}

/// Returns the first value of a name.
pub(super) fn value<'a>(pairs: &'a [(String, String)], name: &str) -> Option<&'a str> {
    pairs.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
}

/// Takes the escapes out of a part of an address. What is no UTF-8 becomes the replacement character.
pub(super) fn plain(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        let digit = |at: usize| char::from(*bytes.get(at)?).to_digit(16);
        let escaped = (*byte == b'%').then(|| digit(at + 1).zip(digit(at + 2))).flatten();
        if let Some((high, low)) = escaped {
            out.push(u8::try_from(high * 16 + low).unwrap_or_default());
            at += 3;
        } else {
            out.push(if *byte == b'+' { b' ' } else { *byte });
            at += 1;
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_are_taken_out_and_broken_ones_stay() {
        let read = pairs("a=1+2&b=%C3%A4%26&c&=x&&d=%zz%4&e=%ff");
        let expected =
            [("a", "1 2"), ("b", "ä&"), ("c", ""), ("", "x"), ("d", "%zz%4"), ("e", "\u{fffd}")];
        assert_eq!(read, expected.map(|(name, value)| (name.to_owned(), value.to_owned())));
        assert_eq!(value(&read, "b"), Some("ä&"));
        assert_eq!(value(&read, "z"), None);
    }
}
