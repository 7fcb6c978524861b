//! Enough files for connections.

use std::io;

use becalm_kernel::limit::FileLimit;

/// Files that a process has open beside its connections, with a reserve.
const OTHERS: u64 = 100;

/// Raises the limit of open files so that there may be so many connections, as far as this process may; returns how many
/// there may be then, at most as many as asked for.
pub(crate) fn permit_connections(wanted: u64) -> io::Result<u64> {
    let mut limit = FileLimit::read()?;
    let missing = (wanted + OTHERS).saturating_sub(limit.files());
    if missing > 0 {
        limit = limit.raised_by(missing);
        limit.set()?;
    }
    Ok(limit.files().saturating_sub(OTHERS).min(wanted))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_permitted_already_stays_and_no_more_is_promised_than_there_is() {
        assert_eq!(permit_connections(1).unwrap(), 1);
        let most = permit_connections(u64::MAX / 2).unwrap();
        assert!(most >= 1 && most <= FileLimit::read().unwrap().files());
    }
}
