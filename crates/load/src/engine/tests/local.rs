//! Servers at sockets of the file system.

use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::thread;

use tokio::net::UnixSocket;

use super::*;

/// A listener with a queue of one connection, which is taken.
struct Full {
    listener: UnixListener,
    _first: UnixStream,
}

impl Full {
    fn at(path: &Path) -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build().unwrap();
        let _inside = runtime.enter();
        let socket = UnixSocket::new_stream().unwrap();
        socket.bind(path).unwrap();
        let listener = socket.listen(0).unwrap().into_std().unwrap();
        listener.set_nonblocking(false).unwrap();
        Self { listener, _first: UnixStream::connect(path).unwrap() }
    }
}

fn target_at(path: &Path) -> Target {
    let way = Way { unix_socket: Some(path.to_owned()), ..Way::default() };
    Target::new("http://localhost/", way).unwrap()
}

#[test]
fn a_server_that_takes_no_connection_costs_the_time_limit_and_no_more() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("socket");
    let _full = Full::at(&path);
    let time_limit = Duration::from_secs(1);
    let plan = Plan { time_limit, ..plan(target_at(&path), few()) };
    assert!(plan.target.is_taken());
    let (target, requests) = (plan.target.clone(), plan.requests.clone());
    let asked = ask(target, requests, Duration::from_millis(200), &Interrupt::new().unwrap());
    assert!(
        matches!(&asked, Err(Unanswered::Failed(failed)) if failed.kind == FailureKind::TimedOut),
        "{asked:?}"
    );
    all_fail(plan, FailureKind::TimedOut, None);
}

#[test]
fn a_server_that_takes_connections_late_is_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("socket");
    let mut full = Some(Full::at(&path));
    let plan = plan(target_at(&path), few());
    let loaded =
        load(plan, &Interrupt::new().unwrap(), &mut |_| {
            let Some(Full { listener, _first }) = full.take() else { return };
            thread::spawn(move || {
                for mut stream in listener.incoming().flatten() {
                    thread::spawn(move || {
                        while read_request(&mut stream) && stream.write_all(OK).is_ok() {}
                    });
                }
            });
        });
    let counts = accounted(loaded.unwrap()).total.counts;
    assert_eq!((counts.answered, counts.errors), (20, 0));
}

#[test]
fn a_socket_that_nobody_listens_at_is_not_taken() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("socket");
    assert!(!target_at(&path).is_taken());
    drop(UnixListener::bind(&path).unwrap());
    assert!(!target_at(&path).is_taken());
    let taken = UnixListener::bind(folder.path().join("other")).unwrap();
    assert!(target_at(&folder.path().join("other")).is_taken());
    drop(taken);
}
