//! The CPUs that irqbalance leaves alone, over its socket.
//!
//! The socket takes one request per connection: `setup` answers with what irqbalance does now, its
//! last word pair being `BANNED` and a mask; `settings cpus LIST` makes it leave the CPUs of the list
//! alone until it restarts, `settings cpus NULL` forgets that. Only root is listened to.
//! <https://github.com/Irqbalance/irqbalance>, `irqbalance.c`, `sock_handle`.

use std::io::{self, Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::time::Duration;

use becalm_kernel::clock;

use super::told::Announced;
use crate::cpumask::parse_mask;
use crate::{Reading, SysRoot};

const FOLDER: &str = "/run/irqbalance";
/// irqbalance answers between two looks at the interrupts.
const PATIENCE: Duration = Duration::from_secs(5);

/// How often it looks at the interrupts, where it does not say: its default.
const INTERVAL: Duration = Duration::from_secs(10);

/// Returns the CPUs that it leaves alone, as a list; those that it was told to where it has not yet acted
/// upon that.
pub(super) fn read(root: &SysRoot) -> Reading {
    match ask(root, "setup") {
        Ok((socket, answer)) => match banned(&answer) {
            Some(banned) => {
                let is_pending = |told: &Announced| {
                    told.is_pending(&socket, &banned, clock::monotonic_now(), interval(&answer))
                };
                let told = Announced::last(root).filter(is_pending);
                Reading::Value(told.map_or(banned, |told| told.cpus))
            }
            None => {
                Reading::Unreadable { reason: "its answer does not name banned CPUs".to_owned() }
            }
        },
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Reading::NoPermission,
        Err(error) if has_ended(&error) => Reading::Absent,
        Err(error) => Reading::Unreadable { reason: error.to_string() },
    }
}

/// Says whether nobody is there to be asked, perhaps no longer since a moment ago.
fn has_ended(error: &io::Error) -> bool {
    use io::ErrorKind::{BrokenPipe, ConnectionReset, NotFound};
    matches!(error.kind(), BrokenPipe | ConnectionReset | NotFound)
}

/// Makes it leave these CPUs alone; none for what it finds itself.
pub(super) fn write(root: &SysRoot, list: &str) -> io::Result<()> {
    let (socket, before) = ask(root, "setup")?;
    let request = if list.is_empty() { "NULL" } else { list };
    ask(root, &format!("settings cpus {request}"))?;
    if let Some(before) = banned(&before) {
        Announced { socket, at: clock::monotonic_now(), before, cpus: list.to_owned() }.note(root);
    }
    Ok(())
}

/// Connects to the one that runs, and returns the name of its socket too. One that was killed leaves its
/// socket behind.
fn connect(root: &SysRoot) -> io::Result<(String, UnixStream)> {
    let names =
        root.list_dir(FOLDER).if_there(FOLDER).map_err(io::Error::other)?.unwrap_or_default();
    let sockets = names.iter().filter(|name| {
        name.strip_prefix("irqbalance").is_some_and(|rest| rest.strip_suffix(".sock").is_some())
    });
    for name in sockets {
        match UnixStream::connect(root.resolve(PathBuf::from(FOLDER).join(name).as_path())) {
            Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {}
            done => return done.map(|stream| (name.clone(), stream)),
        }
    }
    Err(io::ErrorKind::NotFound.into())
}

/// Returns who was asked, and the answer.
fn ask(root: &SysRoot, request: &str) -> io::Result<(String, String)> {
    let (socket, mut stream) = connect(root)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    stream.write_all(request.as_bytes())?;
    let mut answer = String::new();
    // `settings` answers nothing and closes.
    stream.read_to_string(&mut answer)?;
    Ok((socket, answer))
}

/// Reads `SLEEP 10 ...` from the answer to `setup`.
fn interval(answer: &str) -> Duration {
    let mut words = answer.split_whitespace().skip_while(|word| *word != "SLEEP").skip(1);
    words.next().and_then(|word| word.parse().ok()).map_or(INTERVAL, Duration::from_secs)
}

/// Reads `... BANNED 00000000,0000000c` from the answer to `setup`.
fn banned(answer: &str) -> Option<String> {
    let mut words = answer.split_whitespace().skip_while(|word| *word != "BANNED").skip(1);
    parse_mask(words.next()?).map(|cpus| cpus.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use becalm_testkit::FakeTree;
    use std::os::unix::net::UnixListener;

    #[test]
    fn the_banned_cpus_are_read_from_the_answer() {
        let check = |answer: &str, expected: Option<&str>| {
            assert_eq!(banned(answer).as_deref(), expected, "{answer}");
        };
        check("SLEEP 10 IRQ 24 LOAD 3 DIFF 1 CLASS 2 BANNED 00000000,0000000c", Some("2-3"));
        check("SLEEP 10 BANNED 0", Some(""));
        check("SLEEP 10", None);
        check("", None);
    }

    #[test]
    fn its_interval_is_read_from_the_answer() {
        assert_eq!(interval("SLEEP 60 BANNED 0"), Duration::from_secs(60));
        assert_eq!(interval("BANNED 0"), INTERVAL);
    }

    /// Answers as irqbalance does, which acts upon what it was told only when it looks at the interrupts:
    /// here when it is told `look`. Returns what it heard.
    fn serve(daemon: &UnixListener) -> Vec<String> {
        let (mut heard, mut told, mut mask) = (Vec::new(), None, "0");
        loop {
            let (mut stream, _) = daemon.accept().unwrap();
            let mut buffer = [0; 100];
            let length = stream.read(&mut buffer).unwrap();
            let words = String::from_utf8_lossy(&buffer[..length]).into_owned();
            match words.as_str() {
                "setup" => write!(stream, "SLEEP 10 BANNED 00000000,0000000{mask}").unwrap(),
                "look" => mask = told.unwrap_or(mask),
                "end" => return heard,
                "settings cpus 2-3" => told = Some("c"),
                "settings cpus NULL" => told = Some("0"),
                other => panic!("{other}"),
            }
            if words.starts_with("settings") {
                heard.push(words);
            }
        }
    }

    #[test]
    fn a_daemon_is_asked_and_told_over_its_socket() {
        let tree = FakeTree::new().file("/run/irqbalance/note", "").file("/run/becalm/lock", "");
        // One that was killed, and its successor.
        drop(UnixListener::bind(tree.path().join("run/irqbalance/irqbalance5.sock")).unwrap());
        let path = tree.path().join("run/irqbalance/irqbalance77.sock");
        let daemon = UnixListener::bind(path).unwrap();
        let heard = std::thread::spawn(move || serve(&daemon));
        let root = SysRoot::new(tree.path());
        let reads = |list: &str| assert_eq!(read(&root), Reading::Value(list.into()));
        reads("");
        write(&root, "2-3").unwrap();
        reads("2-3");
        ask(&root, "look").unwrap();
        reads("2-3");
        // Lifted; it says so only after its next look, and who asks before that must not believe it.
        write(&root, "").unwrap();
        assert_eq!(banned(&ask(&root, "setup").unwrap().1).as_deref(), Some("2-3"));
        reads("");
        ask(&root, "look").unwrap();
        reads("");
        ask(&root, "end").unwrap();
        assert_eq!(heard.join().unwrap(), ["settings cpus 2-3", "settings cpus NULL"]);
        // The daemon is gone, its socket is not.
        assert_eq!(read(&root), Reading::Absent);
        assert_eq!(read(&SysRoot::new("/nonexistent")), Reading::Absent);
    }
}
