//! Writers that are killed, and several at the same time.

use std::io::{BufRead as _, BufReader};
use std::process::Stdio;

use becalm_testkit::{TestEnv, postgres, skipped};

use super::{list, times};
use crate::support::env;

#[test]
fn a_killed_writer_loses_nothing_that_it_said_was_added_in_sqlite() {
    let env = env();
    let path = env.work().join("history.db");
    kill_writers(&env, path.to_str().unwrap());
    let raw = rusqlite::Connection::open(&path).unwrap();
    let check: String = raw.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(check, "ok");
}

#[test]
fn a_killed_writer_loses_nothing_that_it_said_was_added_in_postgresql() {
    match postgres() {
        Ok(server) => kill_writers(&env(), &server.database()),
        Err(why) => skipped(why),
    }
}

/// Adds 200 files again and again by a process that is killed after some of them, until all are there.
fn kill_writers(env: &TestEnv, store: &str) {
    let mut files = Vec::new();
    for at in 0..200 {
        let name = format!("{at}.json");
        env.write(&name, times("sort", &[f64::from(at) + 1.0, 2.0, 3.0]));
        files.push(name);
    }
    let mut acknowledged: Vec<String> = Vec::new();
    for kill_after in [0, 1, 7, 30, 50, 1000] {
        let mut command = env.command(["history", "add", "--store", store]);
        command.args(&files).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut writer = command.spawn().unwrap();
        let lines = BufReader::new(writer.stdout.take().unwrap()).lines();
        for (n, line) in lines.enumerate() {
            if n == kill_after {
                writer.kill().unwrap();
            }
            acknowledged.push(line.unwrap());
        }
        writer.wait().unwrap();
    }
    let listed = list(env, &["--store", store]);
    let entries = listed["entries"].as_array().unwrap();
    assert_eq!(entries.len(), 200);
    let numbers: std::collections::BTreeSet<i64> =
        entries.iter().map(|one| one["entry"].as_i64().unwrap()).collect();
    for line in &acknowledged {
        let number = line.strip_prefix("added entry ").and_then(|rest| rest.split(':').next());
        let number: i64 = number.unwrap().parse().unwrap();
        assert!(numbers.contains(&number), "{line}");
    }
    let csv = env.run(["history", "export", "--csv", "--store", store]).exits_with(0).stdout;
    assert_eq!(csv.lines().filter(|line| line.contains(",wall_time,")).count(), 200);
}

#[test]
fn writers_at_the_same_time_lose_nothing() {
    // Again and again from the beginning, for who makes the folder and the tables.
    for _ in 0..5 {
        let env = env();
        let mut writers = Vec::new();
        for writer in 0..4 {
            let mut command = env.command(["history", "add"]);
            for at in 0..5 {
                let name = format!("{writer}-{at}.json");
                env.write(&name, times("sort", &[f64::from(writer), f64::from(at)]));
                command.arg(name);
            }
            writers.push(command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap());
        }
        for writer in writers {
            let ended = writer.wait_with_output().unwrap();
            assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
        }
        assert_eq!(list(&env, &[])["entries"].as_array().unwrap().len(), 20);
    }
}
