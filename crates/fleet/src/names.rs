//! The names that becalm gives to copies of itself and to what it writes beside them: it removes nothing else.

use crate::hash;

/// How the names of copies begin.
const PREFIX: &str = "becalm-";

/// How many digits of its hash the name of a copy has.
const DIGITS: usize = 16;

/// Returns the name of a copy with this hash.
pub(crate) fn of_copy(hash: &str) -> String {
    format!("{PREFIX}{}", &hash[..DIGITS])
}

/// Says whether a copy of becalm has this name, or what has been written of one.
pub(crate) fn is_copy(name: &str) -> bool {
    if let Some(number) = name.strip_prefix(".new-") {
        // That of the script which copies becalm to a host.
        return is_number(number);
    }
    let parts = name.strip_prefix(PREFIX).and_then(|rest| rest.split_at_checked(DIGITS));
    let Some((digits, rest)) = parts else { return false };
    let writing = rest.strip_prefix('.').and_then(|rest| rest.strip_suffix(".new"));
    hash::is_hexadecimal(digits) && (rest.is_empty() || writing.is_some_and(is_number))
}

/// Says whether a text could be the number of a process.
pub(crate) fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}
