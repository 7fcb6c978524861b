//! How wide the terminal is.

use std::io::{stderr, stdin, stdout};

use rustix::termios::tcgetwinsize;

/// Returns the columns that `COLUMNS` or a terminal states. A terminal may know its columns and not its rows (`stty cols
/// 40`), so the columns alone count; some state 0 if they do not know.
pub(crate) fn width() -> Option<usize> {
    let named = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let sizes = || [tcgetwinsize(stdout()), tcgetwinsize(stderr()), tcgetwinsize(stdin())];
    let known = |columns: &usize| *columns > 0;
    named.filter(known).or_else(|| {
        let columns = sizes().into_iter().flatten().map(|size| usize::from(size.ws_col));
        columns.filter(known).next()
    })
}
