//! How wide the terminal is.

use std::io::{stderr, stdin, stdout};
use std::os::fd::AsFd;

use rustix::termios::tcgetwinsize;

/// Returns the columns that `COLUMNS` or a terminal states. A terminal may know its columns and not its rows (`stty cols
/// 40`), so the columns alone count; some state 0 if they do not know.
pub(crate) fn width() -> Option<usize> {
    let named = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let named = named.filter(|columns: &usize| *columns > 0);
    named.or_else(|| columns(stdout())).or_else(|| columns(stderr())).or_else(|| columns(stdin()))
}

/// Returns the columns of a terminal; `None` if it is none, or does not know them.
fn columns(terminal: impl AsFd) -> Option<usize> {
    let columns = usize::from(tcgetwinsize(terminal).ok()?.ws_col);
    (columns > 0).then_some(columns)
}

#[cfg(test)]
mod tests {
    use rustix::pty::{OpenptFlags, openpt};
    use rustix::termios::{Winsize, tcsetwinsize};

    use super::*;

    #[test]
    fn a_terminal_may_know_its_columns_and_not_its_rows() {
        let Ok(terminal) = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY) else {
            return becalm_testkit::skipped(
                "a_terminal_may_know_its_columns_and_not_its_rows: no terminal can be made here",
            );
        };
        let check = |ws_col: u16, expected: Option<usize>| {
            let size = Winsize { ws_row: 0, ws_col, ws_xpixel: 0, ws_ypixel: 0 };
            tcsetwinsize(&terminal, size).unwrap();
            assert_eq!(columns(&terminal), expected);
        };
        check(40, Some(40));
        check(0, None);
    }
}
