//! What irqbalance was told last, until it has acted upon it.
//!
//! It says what is banned by its last look at the interrupts, and looks every ten seconds. Whoever asks in
//! between hears of a ban that was lifted already, would save it as the old value, and would put it back
//! for good. So what it was told is noted beside the lock, where the next becalm finds it.

use std::time::Duration;

use crate::SysRoot;

const NOTE: &str = "/run/becalm/irqbalance";
/// How much longer than its interval it may take: it looks at everything else first.
const SLACK: Duration = Duration::from_secs(5);

/// A telling.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Announced {
    /// Name of the socket, which has the id of the process.
    pub(super) socket: String,
    /// When, by the monotonic clock.
    pub(super) at: Duration,
    /// The CPUs that it said were banned then.
    pub(super) before: String,
    /// The CPUs that it was told to ban.
    pub(super) cpus: String,
}

impl Announced {
    /// Returns the last telling on this machine since it was started.
    pub(super) fn last(root: &SysRoot) -> Option<Self> {
        let text = root.read(NOTE).value()?;
        let mut words = text.split(' ').map(str::to_owned);
        let (socket, seconds) = (words.next()?, words.next()?);
        let at = Duration::from_secs(seconds.parse().ok()?);
        Some(Self { socket, at, before: listed(&words.next()?)?, cpus: listed(&words.next()?)? })
    }

    /// Keeps it for the next becalm. Where that is not possible, as on a full /run, the next one believes
    /// what irqbalance says.
    pub(super) fn note(&self, root: &SysRoot) {
        let Self { socket, at, before, cpus } = self;
        let _ = root.put_file(NOTE, &format!("{socket} {} [{before}] [{cpus}]\n", at.as_secs()));
    }

    /// Says whether the process behind `socket`, which says at `now` that `banned` are banned and looks
    /// every so often, has not acted upon it yet.
    pub(super) fn is_pending(
        &self,
        socket: &str,
        banned: &str,
        now: Duration,
        interval: Duration,
    ) -> bool {
        self.socket == socket && self.before == banned && now <= self.at + interval + SLACK
    }
}

/// Reads `[2-3]`, which may be empty.
fn listed(word: &str) -> Option<String> {
    Some(word.strip_prefix('[')?.strip_suffix(']')?.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use becalm_testkit::FakeTree;

    fn told() -> Announced {
        let [socket, before, cpus] = ["irqbalance7.sock", "2-3", ""].map(str::to_owned);
        Announced { socket, at: Duration::from_secs(100), before, cpus }
    }

    #[test]
    fn it_counts_until_it_was_acted_upon() {
        let check = |socket: &str, banned: &str, now: u64, expected: bool| {
            let (now, interval) = (Duration::from_secs(now), Duration::from_secs(10));
            assert_eq!(
                told().is_pending(socket, banned, now, interval),
                expected,
                "{socket} {now:?}"
            );
        };
        check("irqbalance7.sock", "2-3", 100, true);
        check("irqbalance7.sock", "2-3", 114, true);
        check("irqbalance7.sock", "", 101, false);
        // Somebody else has banned them since; another process has been told nothing.
        check("irqbalance7.sock", "2-3", 116, false);
        check("irqbalance8.sock", "2-3", 101, false);
    }

    #[test]
    fn the_next_becalm_reads_it() {
        let tree = FakeTree::new().file("/run/becalm/lock", "");
        let root = SysRoot::new(tree.path());
        assert_eq!(Announced::last(&root), None);
        told().note(&root);
        assert_eq!(Announced::last(&root), Some(told()));
        let tree = tree.file(NOTE, "rubbish\n");
        assert_eq!(Announced::last(&root), None);
        drop(tree);
    }
}
