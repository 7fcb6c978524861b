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

use crate::cpumask::parse_mask;
use crate::{Reading, SysRoot};

const FOLDER: &str = "/run/irqbalance";
/// irqbalance answers between two looks at the interrupts.
const PATIENCE: Duration = Duration::from_secs(5);

/// Returns the CPUs that it leaves alone, as a list.
pub(super) fn read(root: &SysRoot) -> Reading {
    match ask(root, "setup").map(|answer| banned(&answer)) {
        Ok(Some(list)) => Reading::Value(list),
        Ok(None) => Reading::Unreadable { reason: "its answer names no banned CPUs".to_owned() },
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Reading::NoPermission,
        Err(error) if error.kind() == io::ErrorKind::NotFound => Reading::Absent,
        Err(error) => Reading::Unreadable { reason: error.to_string() },
    }
}

/// Makes it leave these CPUs alone; none for what it finds itself.
pub(super) fn write(root: &SysRoot, list: &str) -> io::Result<()> {
    let list = if list.is_empty() { "NULL" } else { list };
    ask(root, &format!("settings cpus {list}")).map(|_| ())
}

/// Connects to the one that runs. One that was killed leaves its socket behind.
fn connect(root: &SysRoot) -> io::Result<UnixStream> {
    let names = root.list_dir(FOLDER).value().unwrap_or_default();
    let sockets = names.iter().filter(|name| {
        name.strip_prefix("irqbalance").is_some_and(|rest| rest.strip_suffix(".sock").is_some())
    });
    for name in sockets {
        match UnixStream::connect(root.resolve(PathBuf::from(FOLDER).join(name).as_path())) {
            Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {}
            done => return done,
        }
    }
    Err(io::ErrorKind::NotFound.into())
}

fn ask(root: &SysRoot, request: &str) -> io::Result<String> {
    let mut stream = connect(root)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    stream.write_all(request.as_bytes())?;
    let mut answer = String::new();
    // `settings` answers nothing and closes.
    stream.read_to_string(&mut answer)?;
    Ok(answer)
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
    fn a_daemon_is_asked_and_told_over_its_socket() {
        let tree = FakeTree::new().file("/run/irqbalance/note", "");
        // One that was killed, and its successor.
        drop(UnixListener::bind(tree.path().join("run/irqbalance/irqbalance5.sock")).unwrap());
        let path = tree.path().join("run/irqbalance/irqbalance77.sock");
        let daemon = UnixListener::bind(path).unwrap();
        let heard = std::thread::spawn(move || {
            let mut heard = Vec::new();
            for answer in ["SLEEP 10 BANNED 2", "", ""] {
                let (mut stream, _) = daemon.accept().unwrap();
                let mut buffer = [0; 100];
                let length = stream.read(&mut buffer).unwrap();
                heard.push(String::from_utf8_lossy(&buffer[..length]).into_owned());
                stream.write_all(answer.as_bytes()).unwrap();
            }
            heard
        });
        let root = SysRoot::new(tree.path());
        assert_eq!(read(&root), Reading::Value("1".into()));
        write(&root, "2-3").unwrap();
        write(&root, "").unwrap();
        assert_eq!(heard.join().unwrap(), ["setup", "settings cpus 2-3", "settings cpus NULL"]);
        // The daemon is gone, its socket is not.
        assert_eq!(read(&root), Reading::Absent);
        assert_eq!(read(&SysRoot::new("/nonexistent")), Reading::Absent);
    }
}
