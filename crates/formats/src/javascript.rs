//! JavaScript object literals, as people write them by hand.

/// Makes JSON of a literal: bare names and names in single quotes get double quotes, a comma before a
/// closing bracket and comments go. Lines keep their numbers. What is no literal stays as it is, for the
/// reader of JSON to refuse.
pub(crate) fn to_json(text: &str) -> String {
    let mut json = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(next) = rest.chars().next() {
        match next {
            '"' | '\'' | '`' => rest = string(rest, next, &mut json),
            '/' if rest.starts_with("//") => {
                rest = &rest[rest.find('\n').unwrap_or(rest.len())..];
            }
            ',' => {
                let behind = rest[1..].trim_start();
                if !behind.starts_with(['}', ']']) {
                    json.push(',');
                }
                rest = &rest[1..];
            }
            _ if next.is_alphabetic() || next == '_' || next == '$' => {
                let is_name = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
                let end = rest.find(|c| !is_name(c)).unwrap_or(rest.len());
                let (name, behind) = rest.split_at(end);
                // Only what stands before a colon is a name: `true` and `null` are values.
                if behind.trim_start().starts_with(':') {
                    json.push('"');
                    json.push_str(name);
                    json.push('"');
                } else {
                    json.push_str(name);
                }
                rest = behind;
            }
            _ if next.is_ascii_digit() => {
                // Digits and the exponent behind them are no name.
                let is_number = |c: char| c.is_ascii_alphanumeric() || c == '.';
                let end = rest.find(|c| !is_number(c)).unwrap_or(rest.len());
                json.push_str(&rest[..end]);
                rest = &rest[end..];
            }
            other => {
                json.push(other);
                rest = &rest[other.len_utf8()..];
            }
        }
    }
    json
}

/// Writes a string with double quotes and returns what stands behind it.
fn string<'a>(text: &'a str, quote: char, json: &mut String) -> &'a str {
    json.push('"');
    let mut rest = &text[quote.len_utf8()..];
    while let Some(next) = rest.chars().next() {
        rest = &rest[next.len_utf8()..];
        match next {
            '\\' => {
                let escaped = rest.chars().next();
                match escaped {
                    Some(same @ ('\'' | '`')) => json.push(same),
                    Some(other) => json.extend(['\\', other]),
                    None => json.push('\\'),
                }
                rest = &rest[escaped.map_or(0, char::len_utf8)..];
            }
            _ if next == quote => {
                json.push('"');
                return rest;
            }
            '"' => json.push_str("\\\""),
            other => json.push(other),
        }
    }
    rest
}

#[cfg(test)]
mod tests {
    use super::to_json;

    #[test]
    fn literals_become_json() {
        assert_eq!(
            to_json("{ a: 'it\\'s \"x\"', // no\n 'b': [1e3, null, true,], $c: -2, }"),
            "{ \"a\": \"it's \\\"x\\\"\", \n \"b\": [1e3, null, true], \"$c\": -2 }"
        );
        assert_eq!(to_json("'ä\\"), "\"ä\\");
    }
}
