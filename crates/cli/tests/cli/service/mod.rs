//! The service through which users have a machine tuned: real processes, on a folder that stands for the machine. Whoever
//! dies, and whatever callers send, the machine is as it was in the end.

mod callers;
mod sessions;

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use becalm_testkit::{FakeMachine, FakeTree, TestEnv, skipped, wait_until};
use serde_json::{Value, json};

use crate::support::{env, is_root, json};

const BALANCING: &str = "/proc/sys/kernel/numa_balancing";
const JOURNAL: &str = "/var/lib/becalm/journal";
const ONLY: [&str; 2] = ["--only", "numa-balancing"];
/// Starts the program that is its name as a user who has no name and no rights, wherever the program lies.
const AS_USER: &str =
    r#"exec 9<"$0"; exec setpriv --reuid 4242 --regid 4343 --clear-groups /proc/self/fd/9 "$@""#;
/// Ends when the file `stop` appears, or its folder goes.
const UNTIL_STOP: &str = "while [ -e \"$PWD\" ] && ! [ -e stop ]; do sleep 0.02; done";

/// A service at work on a machine.
struct Bench {
    env: TestEnv,
    tree: FakeTree,
    service: Child,
    before: BTreeMap<PathBuf, String>,
}

impl Drop for Bench {
    fn drop(&mut self) {
        let _ = self.service.kill();
        let _ = self.service.wait();
    }
}

fn bench(policy: &str) -> Bench {
    let tree = FakeMachine::default()
        .tree()
        .file(BALANCING, "1\n")
        .file("/proc/sys/kernel/random/boot_id", "0000-this-boot\n")
        .file("/etc/becalm/service.toml", policy);
    let env = env();
    if is_root() {
        for folder in [tree.path(), env.path()] {
            std::fs::set_permissions(folder, PermissionsExt::from_mode(0o755)).unwrap();
        }
        chown(env.work(), Some(4242), Some(4343)).unwrap();
    }
    let before = settings(&tree);
    let service = serve(&env, &tree);
    Bench { env, tree, service, before }
}

/// Starts a service, and waits until it answers.
fn serve(env: &TestEnv, tree: &FakeTree) -> Child {
    let root = tree.path().display().to_string();
    let group = if is_root() { "4343".to_owned() } else { own_group() };
    let arguments = ["machine", "service", "run", "--root", &root, "--group", &group];
    let mut command = env.command(arguments);
    let service = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let asks = ["machine", "service", "status", "--root", &root];
    wait_until("a service that answers", || env.run(asks).status.success());
    service
}

fn own_group() -> String {
    let output = Command::new("id").arg("-g").output().unwrap();
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// The files of a machine that becalm could change; what becalm writes has no line's end.
fn settings(tree: &FakeTree) -> BTreeMap<PathBuf, String> {
    let (proc, sys) = (tree.path().join("proc"), tree.path().join("sys"));
    let mut all = tree.files(|path| path.starts_with(&proc) || path.starts_with(&sys));
    for value in all.values_mut() {
        *value = value.trim_end().to_owned();
    }
    all
}

impl Bench {
    fn root(&self) -> String {
        self.tree.path().display().to_string()
    }

    fn path(&self, path: &str) -> PathBuf {
        self.tree.path().join(path.trim_start_matches('/'))
    }

    fn balancing(&self) -> String {
        std::fs::read_to_string(self.path(BALANCING)).unwrap().trim().to_owned()
    }

    /// becalm as a user who is not root.
    fn user(&self, arguments: &[&str]) -> Command {
        let mut command = if is_root() {
            let mut command = self.env.command(arguments);
            let becalm = command.get_program().to_owned();
            let mut by = Command::new("sh");
            by.args(["-c", AS_USER]).arg(becalm).args(arguments);
            by.current_dir(self.env.work()).env_clear();
            by.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
            by.stdin(Stdio::null());
            std::mem::swap(&mut command, &mut by);
            command
        } else {
            self.env.command(arguments)
        };
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Arguments of `tune --hold` for a script.
    fn hold(&self, flags: &[&str], script: &str) -> Vec<String> {
        let root = self.root();
        let before = ["tune", "--root", &root, "--hold"];
        let words = [&before[..], flags, &["--", "sh", "-c", script]].concat();
        words.into_iter().map(str::to_owned).collect()
    }

    fn run(&self, arguments: &[String]) -> (Option<i32>, String, String) {
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let output = self.user(&arguments).output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (output.status.code(), text(output.stdout), text(output.stderr))
    }

    fn status(&self) -> Value {
        let root = self.root();
        let asks = ["machine", "service", "status", "--json", "--root", &root];
        json(&self.env.run(asks).exits_with(0).stdout)
    }

    /// The process that works for a caller.
    fn steward(&self) -> Option<u32> {
        let service = self.service.id();
        let list = format!("/proc/{service}/task/{service}/children");
        std::fs::read_to_string(list).ok()?.split_whitespace().next()?.parse().ok()
    }

    /// The guardian that the journal names.
    fn guardian(&self) -> u32 {
        let journal = std::fs::read_to_string(self.path(JOURNAL)).unwrap();
        let line = journal.lines().find(|line| line.contains("guardian")).expect("a guardian");
        u32::try_from(json(line)["guardian"]["pid"].as_u64().unwrap()).unwrap()
    }

    fn call(&self) -> Caller {
        let stream = UnixStream::connect(self.path("/run/becalm/service.sock")).unwrap();
        let patience = Some(Duration::from_secs(120));
        stream.set_read_timeout(patience).unwrap();
        stream.set_write_timeout(patience).unwrap();
        Caller { reader: BufReader::new(stream.try_clone().unwrap()), stream }
    }

    /// A caller who has the machine.
    fn begun(&self) -> Caller {
        let mut caller = self.call();
        caller.wants("becalm test", "Forever");
        caller.hear_begun();
        caller
    }

    /// Waits until nobody has the machine and checks that it is as it was.
    #[track_caller]
    fn is_put_back(&self, what: &str) {
        wait_until(&format!("{what}: the journal's end"), || !self.path(JOURNAL).exists());
        let now = settings(&self.tree);
        let differs: Vec<_> =
            now.iter().filter(|(path, value)| self.before.get(*path) != Some(value)).collect();
        assert!(differs.is_empty() && now.len() == self.before.len(), "{what}: {differs:?}");
    }

    /// Checks that the service still serves.
    #[track_caller]
    fn serves(&self, what: &str) {
        let mut caller = self.begun();
        caller.says(&turn(&["numa-balancing"]));
        assert!(caller.hears()["Answer"]["Ok"].is_array(), "{what}");
        assert_eq!(self.balancing(), "0", "{what}");
        caller.says(&json!("Finish"));
        assert!(caller.hears()["Answer"]["Ok"].is_object(), "{what}");
        self.is_put_back(what);
    }
}

/// Somebody who speaks the language of becalm, or any other.
struct Caller {
    stream: UnixStream,
    reader: BufReader<UnixStream>,
}

impl Caller {
    fn says(&mut self, what: &Value) {
        let _ = writeln!(self.stream, "{what}");
    }

    fn wants(&mut self, command: &str, wait: impl Into<Value>) {
        let wish = json!({ "Machine": { "command": command, "wait": wait.into() } });
        self.says(&json!({ "version": env!("CARGO_PKG_VERSION"), "wish": wish }));
    }

    /// The next line, or null at the end.
    fn hears(&mut self) -> Value {
        let mut line = String::new();
        match self.reader.read_line(&mut line) {
            Ok(0) | Err(_) => Value::Null,
            Ok(_) => json(&line),
        }
    }

    #[track_caller]
    fn hear_begun(&mut self) {
        loop {
            let heard = self.hears();
            if heard.get("Queued").is_none() {
                assert!(heard["Begun"].get("Ok").is_some(), "{heard}");
                return;
            }
        }
    }

    /// Says whether the other end is closed, after whatever it has said.
    fn is_left_alone(&mut self) -> bool {
        let mut rest = Vec::new();
        // A connection that is reset is closed too.
        match self.reader.read_to_end(&mut rest) {
            Ok(_) => true,
            Err(error) => error.kind() == std::io::ErrorKind::ConnectionReset,
        }
    }
}

fn turn(only: &[&str]) -> Value {
    json!({ "Turn": { "cpus": "1", "housekeeping": "0", "request": {
        "profile": "Safe", "only": only, "skip": [], "also": [], "frequency": "Keep", "smt": "Idle", "units": [],
    } } })
}

fn isolate(cpus: &str) -> Value {
    json!({ "Isolate": { "cpus": cpus, "partition": "Isolated", "without": [] } })
}

fn kill(pid: u32) {
    let _ = Command::new("kill").args(["-KILL", &pid.to_string()]).status();
}

#[test]
fn a_user_has_the_machine_tuned_while_a_command_runs() {
    let bench = bench("");
    let value = bench.path(BALANCING).display().to_string();
    let (code, said, complained) = bench.run(&bench.hold(&ONLY, &format!("cat {value}")));
    assert_eq!((code, said.trim()), (Some(0), "0"), "{complained}");
    assert!(complained.contains("Tuned: 1 setting changed."), "{complained}");
    bench.is_put_back("after the command");
    wait_until("a machine that nobody has", || bench.status()["holder"].is_null());
    assert_eq!(bench.status()["profiles"], json!(["safe"]));
}

#[test]
fn what_is_not_allowed_is_refused_and_nothing_is_changed() {
    let bench = bench("isolated-cpus = 1\n");
    for (flags, why) in [
        (&["--profile", "strict"][..], "must lie within one of its profiles (safe)"),
        (&["--also", "aslr"], "must lie within one of its profiles (safe)"),
        (&["--stop", "cron"], "must lie within one of its profiles (safe)"),
        (&["--frequency", "base"], "must lie within one of its profiles (safe)"),
    ] {
        let (code, _, complained) = bench.run(&bench.hold(flags, "true"));
        assert_eq!(code, Some(4), "{flags:?}: {complained}");
        assert!(complained.contains(why), "{flags:?}: {complained}");
        bench.is_put_back(why);
    }
    let root = bench.root();
    let words = ["tune", "--root", &root, "--only", "numa-balancing"];
    let (code, _, complained) = bench.run(&words.map(str::to_owned));
    assert_eq!(code, Some(4), "{complained}");
    assert!(complained.contains("only while a command runs (--hold)"), "{complained}");
    bench.is_put_back("kept");
    let (code, _, complained) =
        bench.run(&bench.hold(&[&ONLY[..], &["--latency", "5"]].concat(), "true"));
    assert_eq!(code, Some(0), "{complained}");
    assert!(complained.contains("cannot hold /dev/cpu_dma_latency"), "{complained}");
    let mut caller = bench.begun();
    caller.says(&isolate("1-2"));
    let refused = &caller.hears()["Answer"]["Ok"]["taken"]["Err"];
    assert_eq!(refused["NotAllowed"], json!({ "cpus": "1-2", "most": 1 }));
    caller.says(&isolate("1"));
    let refused = &caller.hears()["Answer"]["Ok"]["taken"]["Err"];
    assert!(refused.get("NotHere").is_some(), "this machine has no control groups: {refused}");
    let mut elsewhere = turn(&["numa-balancing"]);
    elsewhere["Turn"]["cpus"] = json!("1,77");
    caller.says(&elsewhere);
    assert_eq!(caller.hears()["Answer"]["Err"]["NotAllowed"]["Cpus"], "1,77");
    drop(caller);
    bench.is_put_back("by hand");
}

#[test]
fn an_administrator_allows_more() {
    let bench = bench("profiles = [\"safe\", \"strict\"]\n");
    let flags = ["--profile", "strict", "--only", "numa-balancing,swappiness"];
    let (code, _, complained) = bench.run(&bench.hold(&flags, "true"));
    assert_eq!(code, Some(0), "{complained}");
    bench.is_put_back("strict");
}

#[test]
fn whoever_is_killed_the_machine_is_put_back() {
    let mut bench = bench("isolated-cpus = 1\n");
    let requests =
        [turn(&["numa-balancing"]), isolate("1"), json!("OpenGroup"), turn(&["governor"])];
    for victim in ["caller", "steward", "service", "steward and service"] {
        for made in 0..=requests.len() {
            let what = format!("{victim} after {made} requests");
            let mut caller = bench.begun();
            for request in &requests[..made] {
                caller.says(request);
                assert!(caller.hears().get("Answer").is_some(), "{what}");
            }
            // The one after these is under way.
            requests.get(made).into_iter().for_each(|request| caller.says(request));
            let steward = bench.steward().expect("who has begun has a steward");
            match victim {
                "caller" => drop(caller),
                "steward" => kill(steward),
                _ => {
                    if victim != "service" {
                        kill(steward);
                    }
                    kill(bench.service.id());
                    bench.service.wait().unwrap();
                    assert!(caller.is_left_alone(), "{what}");
                }
            }
            bench.is_put_back(&what);
            if victim.contains("service") {
                bench.service = serve(&bench.env, &bench.tree);
            }
        }
    }
    bench.serves("after all of it");
}

#[test]
fn what_a_steward_and_its_guardian_leave_the_next_one_puts_back() {
    let bench = bench("");
    let mut caller = bench.begun();
    caller.says(&turn(&["numa-balancing"]));
    assert!(caller.hears().get("Answer").is_some());
    kill(bench.guardian());
    kill(bench.steward().unwrap());
    assert!(caller.is_left_alone());
    assert_eq!(bench.balancing(), "0", "nobody is left who knows");
    let mut next = bench.begun();
    assert_eq!(bench.balancing(), "1");
    next.says(&json!("Finish"));
    assert!(next.is_left_alone());
    bench.is_put_back("by the next one");
}

#[test]
fn a_client_that_is_killed_gives_the_machine_back() {
    let bench = bench("");
    let arguments = bench.hold(&ONLY, UNTIL_STOP);
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let mut client = bench.user(&arguments).spawn().unwrap();
    wait_until("the change", || bench.balancing() == "0");
    let holder = &bench.status()["holder"];
    assert_eq!(holder["pid"].as_u64(), Some(u64::from(client.id())));
    assert_eq!(holder["command"], "becalm tune --hold -- sh");
    if is_root() {
        assert_eq!(holder["uid"], 4242);
    }
    kill(client.id());
    client.wait().unwrap();
    bench.env.write("stop", "");
    bench.is_put_back("the client was killed");
}

#[test]
fn a_policy_that_makes_no_sense_serves_nobody() {
    let tree = FakeTree::new().file("/etc/becalm/service.toml", "profiles = [\"all\"]\n");
    let root = tree.path().display().to_string();
    let words = ["machine", "service", "run", "--group", "0", "--root", &root];
    let output = env().run(words).exits_with(4);
    let why = "/etc/becalm/profiles/all.toml does not exist here";
    assert!(output.stderr.contains(why), "{}", output.stderr);
}

#[test]
fn the_units_are_written_and_removed() {
    let tree = FakeTree::new().file("/etc/systemd/system/other.service", "");
    let root = tree.path().display().to_string();
    let env = env();
    let output = env.run(["machine", "service", "install", "--group", "0", "--root", &root]);
    if output.stderr.contains("root must not trust") {
        skipped("the_units_are_written: this becalm lies where others than root may write");
        return;
    }
    let output = output.exits_with(0);
    let read = |name: &str| std::fs::read_to_string(tree.path().join(name)).unwrap();
    let program = env!("CARGO_BIN_EXE_becalm");
    let program = std::fs::canonicalize(program).unwrap().display().to_string();
    let text = [
        output.stderr.as_str(),
        &read("etc/systemd/system/becalm.socket"),
        &read("etc/systemd/system/becalm.service"),
        &read("etc/becalm/service.toml"),
    ]
    .join("\n");
    insta::assert_snapshot!(text.replace(&program, "[BECALM]"));
    // What an administrator has written stays.
    std::fs::write(tree.path().join("etc/becalm/service.toml"), "limit = \"2h\"\n").unwrap();
    let again = env.run(["machine", "service", "install", "--group", "0", "--root", &root]);
    assert!(!again.exits_with(0).stderr.contains("service.toml\n"));
    let _ = env.run(["machine", "service", "remove", "--root", &root]).exits_with(0);
    assert_eq!(read("etc/becalm/service.toml"), "limit = \"2h\"\n");
    let left = std::fs::read_dir(tree.path().join("etc/systemd/system")).unwrap().count();
    assert_eq!(left, 1, "the one of somebody else");
}
