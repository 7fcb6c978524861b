//! What was put back, on the terminal: after a session, and after a becalm that died.

use becalm_machine::SysRoot;
use becalm_machine::tune::{self, LockError, MachineLock, Recovered, Restored, Wait, journal};

use super::text::{left_lines, recovered_lines};
use crate::error::CommandError;
use crate::exit::Exit;
use crate::ui::Ui;
use becalm_model::counted;

/// Says what restoring did; what remains is listed with the commands that put it back by hand.
pub(crate) fn report(recovered: &Recovered, ui: &Ui) -> Exit {
    for line in recovered_lines(recovered) {
        ui.say(line);
    }
    say_left(recovered, ui)
}

fn say_left(recovered: &Recovered, ui: &Ui) -> Exit {
    if let Recovered::SetAside { why, .. } = recovered {
        let why = format!("nothing could be put back, because the journal cannot be used: {why}");
        ui.error(&CommandError::not_restored(why).hint(
            "the machine may still be tuned, unless it was restarted since; a restart resets \
             every setting",
        ));
        return Exit::NotRestored;
    }
    let stale = say_stale_journal(recovered, ui);
    let left = recovered.left();
    if left.is_empty() {
        return stale;
    }
    let why = format!("{} could not be put back", counted(left.len(), "setting"));
    ui.error(&CommandError { hints: left_lines(left), ..CommandError::not_restored(why) });
    ui.say("They stay in the journal; `becalm restore` tries again.");
    Exit::NotRestored
}

/// Says so if the journal could not be updated.
fn say_stale_journal(recovered: &Recovered, ui: &Ui) -> Exit {
    let Recovered::Restored(Restored { stale_journal: Some(why), .. }) = recovered else {
        return Exit::Done;
    };
    let why = format!(
        "the journal still lists settings that have been put back, and cannot be written: {why}"
    );
    ui.error(&CommandError::not_restored(why).hint(
        "the next becalm would put the same settings back again, even if something else has set \
         them since: remove the journal before that",
    ));
    Exit::NotRestored
}

/// Says what happened to what an earlier becalm left behind, and returns the exit code that this
/// alone would have.
pub(crate) fn say_leftovers(recovered: &Recovered, ui: &Ui) -> Exit {
    match recovered {
        Recovered::Nothing => return Exit::Done,
        Recovered::OtherBoot { .. } | Recovered::SetAside { .. } => {}
        Recovered::Restored(_) if recovered.left().is_empty() => {
            ui.warn(
                "an earlier becalm died before it could put the machine back; this is now done",
            );
        }
        Recovered::Restored(_) => {
            ui.warn(
                "an earlier becalm died before it could put the machine back; this is now done as \
                 far as possible",
            );
        }
    }
    report(recovered, ui)
}

/// Puts back what was left by a becalm that died together with its guardian, and returns the exit
/// code that this alone would have. For the start of every command: without root, or while another
/// becalm is at work, it only reports what it sees.
pub(crate) fn put_back_leftovers(root: &SysRoot, ui: &Ui) -> Exit {
    if !journal::exists(root) || tune::is_held(root) {
        return Exit::Done;
    }
    let no_stop = || false;
    match MachineLock::take(
        root,
        "putting back what a killed becalm has changed",
        Wait::No,
        &no_stop,
    ) {
        Ok(_lock) => match tune::recover(root, tune::Foreign::Leave) {
            Ok(recovered) => say_leftovers(&recovered, ui),
            Err(error) => {
                ui.warn(error);
                Exit::NotRestored
            }
        },
        // Somebody else was quicker.
        Err(LockError::Held(_)) => Exit::Done,
        // A restart has reset what it tells of.
        Err(LockError::Make { .. }) if journal::is_older_than_boot(root) => Exit::Done,
        Err(error @ LockError::Make { .. }) if !error.needs_root() => {
            ui.warn(format!("a becalm that died may have left this machine tuned: {error}"));
            Exit::Done
        }
        Err(LockError::Make { .. }) => {
            ui.warn(
                "a becalm that died may have left this machine tuned; `sudo becalm restore` puts \
                 it back",
            );
            Exit::Done
        }
    }
}

/// Returns how a command ended that began with `leftovers`: a setting that could not be put back,
/// then or since, takes precedence over all else.
pub(crate) fn with_leftovers(root: &SysRoot, leftovers: Exit, ended: Exit) -> Exit {
    if leftovers == Exit::NotRestored && journal::exists(root) { leftovers } else { ended }
}

#[cfg(test)]
mod tests {
    use super::*;
    use becalm_machine::tune::{JournalFile, apply};
    use becalm_model::Change;
    use becalm_testkit::FakeTree;

    const FILE: &str = "/sys/k";

    /// A machine that a becalm has left tuned that is dead, and whose setting cannot be put back.
    fn spoiled() -> FakeTree {
        let tree = FakeTree::new().file("/proc/sys/kernel/random/boot_id", "b\n").file(FILE, "1\n");
        let root = SysRoot::new(tree.path());
        let mut journal = JournalFile::start(&root, "a test", &[]).unwrap();
        apply(&root, &mut journal, &[Change::file("k", FILE, "1", "0", "why")]).unwrap();
        tree.unreadable(FILE)
    }

    #[test]
    fn what_an_earlier_becalm_left_is_the_exit_code_until_it_is_put_back() {
        let tree = spoiled();
        let root = SysRoot::new(tree.path());
        let leftovers = put_back_leftovers(&root, &Ui::new(true));
        assert_eq!(leftovers, Exit::NotRestored);
        assert_eq!(with_leftovers(&root, leftovers, Exit::Done), Exit::NotRestored);
        assert_eq!(with_leftovers(&root, Exit::Done, Exit::No), Exit::No);
        // The command itself has put it back when it ended.
        let tree = tree.without(FILE).file(FILE, "0\n");
        tune::recover(&root, tune::Foreign::Leave).unwrap();
        assert_eq!(with_leftovers(&root, leftovers, Exit::Done), Exit::Done);
        assert_eq!(put_back_leftovers(&root, &Ui::new(true)), Exit::Done);
        drop(tree);
    }
}
