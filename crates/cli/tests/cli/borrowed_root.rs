//! Nobody borrows root: what subjects, builds and repositories name is opened, made, renamed and removed with the rights
//! of the user who called sudo, doas or pkexec, whatever they put in its place, and whenever.

use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use becalm_testkit::{CommandOutput, TestEnv, skipped};

use crate::support::is_root;

/// What only root may read.
const SECRET: &str = "of root";

/// Makes a file and a folder of root's beside the working folder, which belongs to the user `its`, then lets that user
/// arrange something there, and calls becalm as root for that user.
const SCENE: &str = r#"
{ mount --bind passwd /etc/passwd && mount --bind group /etc/group; } || exit 77
umask 022; export PLACE=$PWD; arrange=$1; shift
chmod 755 .. "$TMPDIR"; chown -R 4242:4343 . "$XDG_STATE_HOME" "$XDG_CACHE_HOME" "$TMPDIR"; chmod 755 .
umask 077; echo 'of root' > ../secret; mkdir ../vault; echo 'of root' > ../vault/file
umask 022
setpriv --reuid 4242 --regid 4343 --clear-groups env HOME=/nowhere sh -ec "$arrange" || exit 78
"$@" > ../said 2> ../complained; echo $? > ../ended
"#;

/// How becalm is called as root.
const BY_SUDO: &[&str] = &["env", "SUDO_UID=4242", "SUDO_GID=4343", "SUDO_USER=its", "HOME=/root"];
const BY_DOAS: &[&str] = &["env", "DOAS_USER=its", "HOME=/root"];
const BY_PKEXEC: &[&str] = &["env", "PKEXEC_UID=4242", "HOME=/root"];

/// Hides where root remembers what `noise probe` found, so that the machine stays as it was.
const REMEMBERS_NOTHING: &[&str] =
    &["sh", "-c", "mount -t tmpfs none /var/lib && exec \"$@\"", "remembers-nothing"];

/// What a scene left.
struct Scene {
    env: TestEnv,
    said: String,
    complained: String,
}

impl Scene {
    fn file(&self, name: &str) -> Option<String> {
        std::fs::read_to_string(self.env.work().join(name)).ok()
    }
}

/// Plays a scene; `None`, visibly, where there can be none.
fn play(test: &str, arrange: &str, by: &[&str], arguments: &[&str]) -> Option<Scene> {
    if !is_root() {
        skipped(&format!("{test}: not root"));
        return None;
    }
    let env = TestEnv::new("unshare");
    env.write("passwd", "root:x:0:0:root:/root:/bin/bash\nits:x:4242:4343::/home/its:/bin/sh\n");
    env.write("group", "root:x:0:\nits:x:4343:\n");
    let becalm = [env!("CARGO_BIN_EXE_becalm")];
    let before = ["-m", "sh", "-c", SCENE, "scene", arrange];
    let output: CommandOutput = env.run([&before[..], by, &becalm, arguments].concat());
    match output.status.code() {
        Some(77) => {
            skipped(&format!("{test}: this sandbox does not allow a mount"));
            return None;
        }
        Some(78) => panic!("{test}: nothing could be arranged: {}", output.stderr),
        _ => {}
    }
    let read = |name: &str| std::fs::read_to_string(env.path().join(name)).unwrap_or_default();
    let (said, complained) = (read("said"), read("complained"));
    Some(Scene { env, said, complained })
}

/// Checks that nothing of root's was read, changed, made or removed.
#[track_caller]
fn check_nothing_is_borrowed(test: &str, scene: &Scene) {
    let outside = scene.env.path();
    let secret = std::fs::read_to_string(outside.join("secret")).unwrap();
    assert_eq!(secret.trim(), SECRET, "{test}: root's file was written to");
    let names = |folder: &Path| -> Vec<String> {
        let names = std::fs::read_dir(folder).unwrap();
        names.map(|one| one.unwrap().file_name().to_string_lossy().into_owned()).collect()
    };
    assert_eq!(names(&outside.join("vault")), ["file"], "{test}: root's folder was changed");
    let file = std::fs::read_to_string(outside.join("vault/file")).unwrap();
    assert_eq!(file.trim(), SECRET, "{test}: a file in root's folder was written to");
    let told = format!("{}{}", scene.said, scene.complained);
    assert!(!told.contains(SECRET), "{test}: becalm has printed what only root may read: {told}");
    for name in names(&scene.env.work()) {
        let path = scene.env.work().join(&name);
        let is_plain = path.symlink_metadata().unwrap().is_file();
        let text = if is_plain { std::fs::read(&path).unwrap() } else { Vec::new() };
        let text = String::from_utf8_lossy(&text);
        assert!(!text.contains(SECRET), "{test}: {name} has what only root may read");
        let owner = path.symlink_metadata().unwrap().uid();
        assert_eq!(owner, 4242, "{test}: {name} belongs to somebody else than the user");
    }
}

fn attack(name: &str, arrange: &str, arguments: &[&str]) {
    let Some(scene) = play(name, arrange, BY_SUDO, arguments) else { return };
    // What failed for another reason proves nothing.
    assert!(!scene.complained.contains("Usage: "), "{name}: {}", scene.complained);
    check_nothing_is_borrowed(name, &scene);
}

const RUN: [&str; 5] = ["run", "--rounds", "3", "--warmup", "0"];

/// A short session, with these words in front of the command.
fn run<'a>(before: &[&'a str], command: &[&'a str]) -> Vec<&'a str> {
    [&RUN, before, &["--"], command].concat()
}

#[test]
fn what_subjects_put_in_the_place_of_files_between_runs_leads_nowhere() {
    let plant_link = ["sh", "-c", "rm -rf out; ln -s ../secret out"];
    attack("output", "", &run(&["--output", "out"], &plant_link));
    let plant_parent = ["sh", "-c", "rm -rf d; ln -s ../vault d"];
    attack("output below a parent", "mkdir d", &run(&["--output", "d/new"], &plant_parent));
    let steal = ["sh", "-c", "cat > stolen$$; rm -f in; ln -s ../secret in"];
    attack("input", "echo x > in", &run(&["--input", "in"], &steal));
    for flag in ["--export-json", "--export-html", "--export-markdown"] {
        attack(flag, "", &run(&[flag, "out"], &plant_link));
        attack(flag, "mkdir d", &run(&[flag, "d/new"], &plant_parent));
    }
    let replace_log =
        ["sh", "-c", "rm -rf s.json*; ln -s ../vault/new s.json.partial; ln -s ../secret s.json"];
    attack("log", "", &run(&["--export-json", "s.json"], &replace_log));
}

#[test]
fn what_stands_there_before_is_the_users_to_open() {
    let cat = ["sh", "-c", "cat > stolen"];
    attack("input that is a link", "ln -s ../secret in", &run(&["--input", "in"], &cat));
    attack("input of root's", "", &run(&["--input", "../secret"], &cat));
    attack("output of root's", "", &run(&["--output", "../vault/new"], &["true"]));
    attack("expected output", "", &run(&["--expect-output", "../secret"], &["echo", "x"]));
    attack("a FIFO", "mkfifo in", &run(&["--input", "in"], &cat));
    attack("a device", "", &run(&["--input", "/dev/mem"], &["sh", "-c", "head -c 8 > got"]));
    for number in ["3", "4", "5", "6", "7", "8"] {
        let file = format!("/proc/self/fd/{number}");
        attack("a descriptor to read", "", &run(&["--input", &file], &cat));
        attack("a descriptor to write", "", &run(&["--output", &file], &["echo", "x"]));
    }
    attack("a profile", "", &run(&["--tune=../secret"], &["true"]));
    attack("a working folder", "", &run(&["--in-memory"], &["sh", "-c", "cat ../secret > got"]));
}

#[test]
fn what_a_repository_says_is_done_with_the_users_rights() {
    let suite = "printf '[[benchmark]]\\nname = \"b\"\\ncommand = \"tee stolen\"\\ninput = \"%s/../secret\"\\n' \"$PWD\" > becalm.toml";
    attack("a suite", suite, &["run", "--suite", "--rounds", "2", "--warmup", "0"]);
    attack(
        "a suite that is a link",
        "ln -s ../secret becalm.toml",
        &["run", "--suite", "--rounds", "2"],
    );
    attack("init", "ln -s ../vault/new becalm.toml; echo '[package]' > Cargo.toml", &["init"]);
    let history = "echo 'git init -q .' | sh; ln -s ../vault .becalm";
    let saved = "echo '{\"results\": [{\"command\": \"a\", \"times\": [1.0, 1.1, 1.2]}]}' > h.json";
    attack("a history", &format!("{history}; {saved}"), &["history", "add", "h.json"]);
    attack("a named history", saved, &["history", "add", "--store", "../vault/new", "h.json"]);
}

/// A repository of the user's with two commits, and a build that replaces the folder in which it is called by a link to
/// root's.
const REPOSITORY: &str = r#"git init -q .; git config user.email a@b; git config user.name its
echo 'echo 1' > p; chmod +x p; git add p; git commit -qm one; echo 'echo 2' > p; git commit -qam two
printf 'd=$PWD; cd /; mv "$d" "$d.away"; ln -s "$PLACE/../vault" "$d"\n' > build"#;

#[test]
fn builds_cannot_lead_root_out_of_their_folders() {
    let build = ["--build", r#"sh "$PLACE/build""#, "--", "./p"];
    let compare = ["compare", "--rounds", "4", "--warmup", "0", "--rev", "HEAD~1", "--rev", "HEAD"];
    attack("compare --build", REPOSITORY, &[&compare[..], &build].concat());
    let bisect = ["bisect", "--good", "HEAD~1", "--bad", "HEAD"];
    attack("bisect --build", REPOSITORY, &[&bisect[..], &build].concat());
    let late = r#"sh "$PLACE/build"; mkdir -p "$PLACE/.becalm"; cd "$PLACE"; mv .becalm away; ln -s ../vault .becalm"#;
    attack(
        "the state of a search",
        REPOSITORY,
        &[&bisect[..], &["--build", late, "--", "./p"]].concat(),
    );
    let link = "ln -sf /proc/1/environ a; : {link_seed}";
    attack("layouts", "", &["compare", "--build", link, "--rounds", "6", "./a", "./a"]);
}

#[test]
fn programs_that_git_starts_for_a_repository_are_the_users() {
    let arrange = format!(
        "{REPOSITORY}\nprintf '#!/bin/sh\\nid -u >> %s/who\\n' \"$PWD\" > mon; chmod +x mon; \
         git config core.fsmonitor ./mon; git branch -- '-x;id -u>>who' 2>/dev/null || true; \
         git config alias.x '!id -u >> who'; git config core.pager 'id -u >> who'"
    );
    let arguments = [
        "compare", "--rounds", "4", "--warmup", "0", "--rev", "HEAD~1", "--rev", "HEAD", "--",
        "./p",
    ];
    let Some(scene) = play("git", &arrange, BY_SUDO, &arguments) else { return };
    check_nothing_is_borrowed("git", &scene);
    let who = scene.file("who").unwrap_or_default();
    assert!(who.lines().all(|line| line == "4242"), "{who}");
}

#[test]
fn commands_that_read_or_write_one_file_do_it_as_the_user() {
    for arguments in [
        &["show", "../secret"][..],
        &["stats", "../secret"],
        &["hist", "../secret"],
        &["plot", "../secret"],
        &["diff", "../secret", "../secret"],
        &["import", "../secret"],
        &["export", "../secret"],
        &["changes", "--series", "../secret"],
        &["gate", "../secret"],
        &["plot", "../secret", "--html", "p.html"],
        &["plot", "../secret", "--svg", "p.svg"],
        &["machine", "dump", "../vault/new"],
        &["topology", "--svg=../vault/new.svg"],
        &["demo", "--output", "../vault/new.html"],
        &["check", "--root", "../vault"],
        &["noise", "ablate", "--export-json", "../vault/new", "--", "true"],
        &["noise", "trace", "--export-json", "../vault/new", "--", "true"],
        &["noise", "probe", "--duration=50ms", "--no-save", "--export-html", "../vault/new"],
        &["run", "--resume", "../secret", "--", "true"],
        &["exec", "--", "sh", "-c", "cat ../secret > got"],
        &["exec", "--cgroup", "../vault", "--", "true"],
        &[
            "tune",
            "--only",
            "aslr",
            "--hold",
            "--",
            "sh",
            "-c",
            "cat ../secret > got; touch ../vault/new",
        ],
    ] {
        attack(&arguments.join(" "), "", arguments);
    }
    let link = "ln -s ../vault/new becalm-machine.tar.gz";
    attack("a dump through a link", link, &["machine", "dump"]);
}

/// Sends the job of a user to a far end that sudo has started; `$PLACE` in it is the working folder.
fn send_job(name: &str, command: &str, store: &str, more: &str) -> Option<Scene> {
    let version = env!("CARGO_PKG_VERSION");
    let job = format!(
        r#"{{"version":"{version}","work":{{"command":{command}}},"terminal":{{"progress":false,"quiet":false,"width":80,"table_width":80,"colour":false,"unicode":false}},"store":"$PLACE/{store}","is_shared":false,"folder":"/in",{more}}}"#
    );
    let arrange = format!("cat > job <<E\n{job}\nE");
    let by = [BY_SUDO, &["sh", "-c", "exec \"$@\" < job", "sh"]].concat();
    play(name, &arrange, &by, &["far-end"])
}

#[test]
fn a_far_end_opens_files_as_the_user() {
    let item = r#""items":[{"path":"/in/a","kind":"folder"}],"outputs":["/in/x"]"#;
    let out = r#""items":[],"outputs":["/../../../../secret"]"#;
    let none = r#""items":[],"outputs":[]"#;
    for command in [r#"["check"]"#, r#"["boot-params","--cpus","0"]"#, r#"["topology"]"#] {
        for store in ["store", "../vault"] {
            for more in [item, out, none] {
                let name = format!("{command} {store} {more}");
                let Some(scene) = send_job(&name, command, store, more) else { return };
                check_nothing_is_borrowed(&name, &scene);
                let is_made = scene.env.work().join("store").exists();
                let is_expected = store == "store" && (more == item || command.contains("topo"));
                assert!(more == out || is_made == is_expected, "{name}: {}", scene.said);
                let is_root = scene.said.contains("\"root\":true");
                assert!(is_root && scene.said.contains("\"end\":"), "{name}: {}", scene.said);
            }
        }
    }
    attack("a job in a file", "", &["far-end", "--job", "../secret", "--frames", "frames"]);
    attack("frames", "", &["far-end", "--job", "none", "--frames", "../vault/new"]);
}

#[test]
fn a_far_end_lends_root_to_no_subject_and_no_other_command() {
    let none = r#""items":[],"outputs":[]"#;
    for (command, why) in [
        (
            r#"["timeit","--keep-root","--lang","sh","touch $PLACE/../vault/new"]"#,
            "--keep-root cannot be combined with --on",
        ),
        (r#"["machine","service","remove"]"#, "this command is not for another machine"),
        (r#"["guardian"]"#, "this command is not for another machine"),
    ] {
        let Some(scene) = send_job(command, command, "store", none) else { return };
        check_nothing_is_borrowed(command, &scene);
        assert!(scene.said.contains(why), "{command}: {}", scene.said);
    }
}

#[test]
fn the_environment_names_no_place_for_root() {
    let place =
        "XDG_STATE_HOME=../vault XDG_CACHE_HOME=../vault TMPDIR=../vault XDG_CONFIG_HOME=../vault";
    for arguments in [
        &run(&[], &["true"])[..],
        &["noise", "probe", "--duration", "100ms", "--source", "clock"],
        &["check"],
        &["timeit", "-p", "2", "-n", "2", "-w", "0", "--min-time", "200us", "--lang", "sh", "x=2"],
    ] {
        let by = [REMEMBERS_NOTHING, BY_SUDO, &place.split(' ').collect::<Vec<_>>()].concat();
        let name = arguments.join(" ");
        let Some(scene) = play(&name, "", &by, arguments) else { return };
        check_nothing_is_borrowed(&name, &scene);
    }
}

#[test]
fn a_subject_cannot_look_into_becalm_or_speak_to_its_steward() {
    let look = "for f in mem environ maps; do cat /proc/$PPID/$f > got-$f 2>/dev/null && echo $f; done; \
                ls /proc/$PPID/fd && echo fd; cat /proc/$PPID/fd/* 2>/dev/null; true";
    let arguments = run(&["--output", "shown", "--tune"], &["sh", "-c", look]);
    let Some(scene) = play("look", "", BY_SUDO, &arguments) else { return };
    check_nothing_is_borrowed("look", &scene);
    assert_eq!(scene.file("shown").as_deref(), Some(""), "{}", scene.complained);
}

#[test]
fn every_program_that_makes_root_of_users_is_known() {
    for (name, by) in [("sudo", BY_SUDO), ("doas", BY_DOAS), ("pkexec", BY_PKEXEC)] {
        let show = "id -u; id -g; echo $HOME $USER; grep -E 'CapEff|NoNewPrivs' /proc/self/status";
        let arguments = run(&["--output", "shown"], &["sh", "-c", show]);
        let Some(scene) = play(name, "", by, &arguments) else { return };
        check_nothing_is_borrowed(name, &scene);
        let expected = "4242\n4343\n/home/its its\nCapEff:\t0000000000000000\nNoNewPrivs:\t1\n";
        assert_eq!(scene.file("shown").as_deref(), Some(expected), "{name}: {}", scene.complained);
    }
}

#[test]
fn rights_by_the_bits_of_a_file_are_kept_where_they_are_asked_for() {
    let show = ["grep", "NoNewPrivs", "/proc/self/status"];
    let arguments = run(&["--keep-privileges", "--output", "shown"], &show);
    let Some(scene) = play("keep-privileges", "", BY_SUDO, &arguments) else { return };
    assert_eq!(scene.file("shown").as_deref(), Some("NoNewPrivs:\t0\n"));
}

#[test]
fn programs_that_root_starts_come_from_no_place_of_the_caller() {
    let plant = "mkdir p; printf '#!/bin/sh\\nid -u >> %s/who\\n' \"$PWD\" > p/systemctl; chmod +x p/systemctl; cp p/systemctl .";
    for path in ["PATH=p:/usr/bin:/bin", "PATH=:/usr/bin:/bin"] {
        for arguments in [
            &["tune", "--only", "services", "--hold", "--", "true"][..],
            &["services", "--watch", "10ms"],
            &["restore"],
        ] {
            let by: Vec<&str> = BY_SUDO.iter().copied().chain([path]).collect();
            let name = format!("{path} {}", arguments.join(" "));
            let Some(scene) = play(&name, plant, &by, arguments) else { return };
            check_nothing_is_borrowed(&name, &scene);
            let who = scene.file("who").unwrap_or_default();
            assert!(who.lines().all(|line| line == "4242"), "{name}: {who}");
        }
    }
}

#[test]
fn what_is_remembered_for_everybody_is_written_nowhere_else() {
    let plant = "mkdir -p x; ln -s ../../vault x/becalm";
    let by = [REMEMBERS_NOTHING, BY_SUDO, &["XDG_STATE_HOME=x"]].concat();
    let arguments =
        ["noise", "ablate", "--only", "aslr", "--max-time", "6s", "--iterations", "2", "compute"];
    let Some(scene) = play("remembered", plant, &by, &arguments) else { return };
    check_nothing_is_borrowed("remembered", &scene);
}

#[test]
fn a_guardian_of_a_folder_is_the_users() {
    let plant = "mkdir -p g/proc/sys/kernel/random g/var/lib/becalm; ln -s ../../vault g/sys";
    attack("guardian", plant, &["guardian", "--root", "g"]);
}

#[test]
fn a_caller_that_nobody_knows_is_refused() {
    for by in [
        &["env", "DOAS_USER=nobody-knows"][..],
        &["env", "SUDO_UID=4242"],
        &["env", "SUDO_UID=4294967295", "SUDO_GID=4343"],
        &["env", "PKEXEC_UID=its"],
    ] {
        let arguments = ["exec", "--affinity", "none", "--", "cat", "../secret"];
        let Some(scene) = play("unknown", "", by, &arguments) else { return };
        check_nothing_is_borrowed("unknown", &scene);
        assert!(scene.complained.contains("does not say which user"), "{}", scene.complained);
    }
}

#[test]
fn a_saved_session_asks_root_for_nothing() {
    let made = "true";
    let Some(first) =
        play("saved", made, BY_SUDO, &run(&["--nice", "-5", "--export-json", "s.json"], &["true"]))
    else {
        return;
    };
    let saved = first.file("s.json").unwrap();
    assert!(saved.contains("\"nice\": -5"), "{saved}");
    let again = format!("cat > s.json <<'E'\n{saved}\nE");
    let resume = ["run", "--resume", "s.json", "--rounds", "6"];
    let Some(scene) = play("resumed", &again, BY_SUDO, &resume) else { return };
    assert!(scene.complained.contains("add --nice"), "{}", scene.complained);
    let with = ["run", "--resume", "s.json", "--rounds", "6", "--nice", "-5"];
    let Some(scene) = play("resumed", &again, BY_SUDO, &with) else { return };
    assert!(!scene.complained.contains("error"), "{}", scene.complained);
}

#[test]
fn what_a_root_shell_has_open_is_not_handed_on() {
    let by = ["sh", "-c", "exec 7<../vault/file; exec \"$@\"", "sh"];
    let by: Vec<&str> = by.iter().copied().chain(BY_SUDO.iter().copied()).collect();
    let arguments = ["exec", "--affinity", "none", "--", "sh", "-c", "cat <&7 > got"];
    let Some(scene) = play("descriptors", "", &by, &arguments) else { return };
    check_nothing_is_borrowed("descriptors", &scene);
}
