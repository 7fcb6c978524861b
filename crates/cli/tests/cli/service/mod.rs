//! The service through which users have a machine tuned: real processes, on a folder that stands for the machine. Whoever
//! dies, and whatever callers send, the machine is as it was in the end.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use becalm_testkit::{CommandOutput, FakeMachine, FakeTree, TestEnv, skipped, wait_until};
use serde_json::{Value, json};

use crate::support::{env, is_root, json, limits};

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
fn hostile_callers_get_nothing_and_keep_nobody_waiting() {
    let bench = bench("isolated-cpus = 1\n");
    let version = env!("CARGO_PKG_VERSION");
    let calls: [&[u8]; 7] = [
        b"\n",
        b"hello\n",
        b"{}\n",
        b"\xff\xfe\0\0\n",
        b"{\"version\":\"0\",\"wish\":\"Status\"}\n",
        b"{\"version\":7,\"wish\":{\"Machine\":{}}}\n",
        &[b'['; 3000],
    ];
    for call in calls {
        let mut caller = bench.call();
        caller.stream.write_all(call).unwrap();
        caller.stream.shutdown(std::net::Shutdown::Write).unwrap();
        assert!(caller.is_left_alone(), "{}", String::from_utf8_lossy(call));
    }
    // One who waits in silence, with half a call, harms nobody.
    let mut silent = bench.call();
    silent.stream.write_all(format!("{{\"version\":\"{version}\"").as_bytes()).unwrap();
    assert_endless(&mut bench.call(), "a call without an end");
    bench.serves("beside a silent one");
    // With the machine in hand.
    for wrong in [
        json!("Finish"),
        json!("Stop"),
        json!("DropPageCache"),
        json!("Tracepoints"),
        json!({ "Remember": [] }),
        json!({ "Begin": { "command": "again", "wait": "No" } }),
        json!({ "Turn": { "path": "/etc/shadow" } }),
        json!("OpenGroup/../../etc"),
        json!(null),
    ] {
        let mut caller = bench.begun();
        caller.says(&wrong);
        assert!(caller.is_left_alone(), "{wrong}");
        bench.is_put_back(&wrong.to_string());
    }
    let mut caller = bench.begun();
    caller.says(&json!("OpenGroup"));
    assert!(caller.hears()["Answer"].get("Err").is_some(), "there is no group yet");
    assert_endless(&mut caller, "a request without an end");
    // Each change adds to the journal.
    let mut caller = bench.begun();
    let mut refused = std::iter::repeat_with(|| {
        caller.says(&turn(&["numa-balancing"]));
        caller.hears()["Answer"]["Err"]["NotAllowed"]["TooOften"].clone()
    });
    assert_eq!(refused.find(|refused| !refused.is_null()), Some(json!(32)));
    drop(caller);
    bench.serves("after all of it");
}

/// Checks that nobody listens to the end of 100 MB without a line's end.
#[track_caller]
fn assert_endless(caller: &mut Caller, what: &str) {
    let part = vec![b'x'; 1 << 16];
    let sent = (0..1600).take_while(|_| caller.stream.write_all(&part).is_ok()).count();
    assert!(sent < 1600, "{what}: all of it was taken");
    assert!(caller.is_left_alone(), "{what}");
}

#[test]
fn many_connections_of_one_user_shut_nobody_else_out() {
    let bench = bench("");
    if !is_root() {
        skipped("many_connections: not root, so that becalm knows no other user");
        return;
    }
    // Root's own.
    let mut all: Vec<Caller> = (0..200).map(|_| bench.call()).collect();
    let mut turned_away = 0;
    for caller in &mut all[16..] {
        turned_away += usize::from(caller.hears() == "TooMany");
    }
    assert_eq!(turned_away, 184);
    let (code, _, complained) = bench.run(&bench.hold(&ONLY, "true"));
    assert_eq!(code, Some(0), "{complained}");
    drop(all);
    bench.serves("when they have gone");
}

#[test]
fn the_machine_goes_round_in_the_order_of_the_calls() {
    let bench = bench("");
    let first = bench.begun();
    let queued = |name: &str, place: u64| {
        let mut caller = bench.call();
        caller.wants(name, "Forever");
        let heard = caller.hears();
        assert_eq!(heard["Queued"]["place"], place, "{name}: {heard}");
        assert_eq!(heard["Queued"]["holder"]["command"], "becalm test", "{name}");
        caller
    };
    let mut second = queued("second", 1);
    let gone = queued("gone", 2);
    let mut third = queued("third", 3);
    let names = || -> Vec<String> {
        let status = bench.status();
        let waiting = status["waiting"].as_array().unwrap();
        waiting.iter().map(|one| one["command"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(names(), ["second", "gone", "third"]);
    let mut in_haste = bench.call();
    in_haste.wants("in haste", "No");
    let heard = in_haste.hears();
    let holder = |heard: &Value| heard["Held"]["command"].clone();
    let heard = if heard.get("Queued").is_some() { in_haste.hears() } else { heard };
    assert_eq!(holder(&heard), "becalm test", "{heard}");
    drop(gone);
    assert_eq!(third.hears()["Queued"]["place"], 2);
    drop(first);
    second.hear_begun();
    assert_eq!(names(), ["third"]);
    drop(second);
    third.hear_begun();
    assert_eq!(names(), Vec::<String>::new());
}

#[test]
fn a_user_waits_for_the_machine_and_is_told_for_whom() {
    let bench = bench("");
    let first = bench.begun();
    let (code, _, complained) = bench.run(&bench.hold(&ONLY, "true"));
    assert_eq!(code, Some(4), "{complained}");
    assert!(complained.contains("being tuned by `becalm test"), "{complained}");
    let arguments = bench.hold(&[&ONLY[..], &["--wait"]].concat(), "true");
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let client = bench.user(&arguments).spawn().unwrap();
    wait_until("a place in the queue", || {
        bench.status()["waiting"].as_array().is_some_and(|waiting| waiting.len() == 1)
    });
    drop(first);
    let output = client.wait_with_output().unwrap();
    let complained = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(0), "{complained}");
    assert!(complained.contains("place 1 in the queue: `becalm test` of "), "{complained}");
    bench.is_put_back("after both");
}

#[test]
fn root_and_the_service_wait_for_each_other() {
    if !is_root() {
        skipped("root_and_the_service: not root");
        return;
    }
    let bench = bench("");
    let arguments = bench.hold(&ONLY, UNTIL_STOP);
    let mut command = bench.env.command(&arguments);
    let mut root = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    wait_until("the change", || bench.balancing() == "0");
    assert_eq!(bench.status()["holder"]["uid"], Value::Null);
    let (code, _, complained) = bench.run(&bench.hold(&ONLY, "true"));
    assert_eq!(code, Some(4), "{complained}");
    assert!(complained.contains("tuned by `becalm tune --hold -- sh`"), "{complained}");
    let mut caller = bench.call();
    caller.wants("waits", "Forever");
    assert_eq!(caller.hears()["Queued"]["place"], 1);
    bench.env.write("stop", "");
    root.wait().unwrap();
    caller.hear_begun();
    let output: CommandOutput = bench.env.run(bench.hold(&ONLY, "true"));
    let output = output.exits_with(4);
    assert!(output.stderr.contains("tuned by `waits, for user 0`"), "{}", output.stderr);
    drop(caller);
    bench.is_put_back("after both");
}

#[test]
fn the_time_of_a_user_ends_and_the_next_one_has_the_machine() {
    let bench = bench("limit = \"1s\"\n");
    let mut first = bench.begun();
    let mut next = bench.call();
    next.wants("next", "Forever");
    // Whether it comes in time or not.
    first.says(&turn(&["numa-balancing"]));
    let mut heard = first.hears();
    while heard.get("TimeUp").is_none() {
        assert!(heard.get("Answer").is_some(), "{heard}");
        heard = first.hears();
    }
    assert_eq!(heard["TimeUp"]["seconds"], 1);
    // What became of the machine comes after that, so that who sees a setting change can have heard why.
    let restored = first.hears();
    assert!(restored["PutBack"].get("Ok").is_some(), "{restored}");
    assert!(first.is_left_alone());
    next.hear_begun();
    assert!(settings(&bench.tree) == bench.before, "before the next one has it");
    drop(next);
    // The client says that its time was over, although its command ends later.
    let arguments = bench.hold(&[&ONLY[..], &["--wait"]].concat(), UNTIL_STOP);
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let client = bench.user(&arguments).spawn().unwrap();
    wait_until("the change", || bench.balancing() == "0");
    wait_until("the end of its time", || bench.status()["holder"].is_null());
    bench.env.write("stop", "");
    let output = client.wait_with_output().unwrap();
    let complained = String::from_utf8(output.stderr).unwrap();
    let is_told = ["put it back after 1 s", "1 s that the service gives a user are over"];
    assert!(is_told.iter().any(|told| complained.contains(told)), "{complained}");
    bench.is_put_back("after the limit");
}

/// Puts the place of a service on the folder `TREE` where clients look for that of this machine, and has the user call
/// becalm.
const SESSION: &str = r#"
{ mount -t tmpfs none /run && mkdir -p -m 711 /run/becalm "$TREE/run/becalm" &&
  mount --bind "$TREE/run/becalm" /run/becalm; } || exit 77
exec 9<"$0"
"$0" machine service run --root "$TREE" --group 4343 2>../service & service=$!
until "$0" machine service status >/dev/null 2>&1; do sleep 0.05; done
setpriv --reuid 4242 --regid 4343 --clear-groups /proc/self/fd/9 "$@"; code=$?
kill $service; exit $code
"#;

/// Measures as a user, on this machine, with another one tuned for it; `None`, visibly, where that cannot be.
fn session(test: &str, policy: &str, subject: &str) -> Option<(CommandOutput, Option<Value>)> {
    if !is_root() {
        skipped(&format!("{test}: not root"));
        return None;
    }
    let tree = FakeMachine::default()
        .tree()
        .file(BALANCING, "1\n")
        .file("/proc/sys/kernel/random/boot_id", "0000-this-boot\n")
        .file("/etc/becalm/service.toml", policy);
    let env = TestEnv::new("unshare").variable("TREE", &tree.path().display().to_string());
    for folder in [tree.path(), env.path()] {
        std::fs::set_permissions(folder, PermissionsExt::from_mode(0o755)).unwrap();
    }
    chown(env.work(), Some(4242), Some(4343)).unwrap();
    env.write("only.toml", "only = [\"numa-balancing\"]\n");
    let before = ["-m", "sh", "-c", SESSION, env!("CARGO_BIN_EXE_becalm")];
    let run = ["run", "--tune=./only.toml", "--affinity", "0", "--rounds", "1", "--warmup", "0"];
    let rest = ["--export-json", "saved.json", "--", "sh", "-c", subject];
    let output = env.run([&before[..], &run, &rest].concat());
    if output.status.code() == Some(77) || output.stderr.starts_with("unshare:") {
        skipped(&format!("{test}: this sandbox does not allow a mount"));
        return None;
    }
    let value = std::fs::read_to_string(tree.path().join(BALANCING.trim_start_matches('/')));
    assert_eq!(value.unwrap().trim(), "1", "{test}");
    let saved = std::fs::read_to_string(env.work().join("saved.json"));
    Some((output, saved.ok().map(|saved| json(&saved))))
}

#[test]
fn a_session_of_a_user_says_what_was_tuned_for_it() {
    let Some((output, record)) = session("a_session_of_a_user", "", "true") else { return };
    let output = output.exits_with(0);
    let record = record.unwrap();
    let tuned = &record["conditions"]["tuned"];
    assert_eq!(tuned[0]["target"], BALANCING, "{tuned}\n{}", output.stderr);
    assert!(!limits(&record).contains("put it back"), "{}", limits(&record));
}

#[test]
fn a_session_that_outlasts_its_time_goes_on_and_says_so() {
    let subject = format!("until grep -q 1 \"$TREE{BALANCING}\"; do sleep 0.02; done");
    let limit = "limit = \"2s\"\n";
    let Some((output, record)) = session("a_session_that_outlasts", limit, &subject) else {
        return;
    };
    // On a machine that is very busy it was over before it began.
    if output.stderr.contains("2 s that the service gives a user are over") {
        skipped("a_session_that_outlasts: its time was up before its first run");
        return;
    }
    let output = output.exits_with(0);
    let told = "the service of this machine put it back after 2 s";
    assert!(output.stderr.contains(told), "{}", output.stderr);
    let record = record.unwrap();
    assert!(limits(&record).contains(told), "{}", limits(&record));
    let drifted = record["conditions"]["drifted"].as_array();
    assert!(drifted.is_none_or(Vec::is_empty), "nobody else has changed anything: {drifted:?}");
}

#[test]
fn without_a_service_nothing_is_different() {
    let mut bench = bench("");
    bench.service.kill().unwrap();
    bench.service.wait().unwrap();
    let root = bench.root();
    let output = bench.env.run(["machine", "service", "status", "--root", &root]).exits_with(4);
    assert!(output.stderr.contains("no service of becalm runs"), "{}", output.stderr);
    if !is_root() {
        skipped("without_a_service: not root, so that the folder is this user's to tune");
        return;
    }
    let (code, _, complained) = bench.run(&bench.hold(&ONLY, "true"));
    assert_eq!(code, Some(4), "{complained}");
    assert!(complained.contains("tuning needs root"), "{complained}");
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
