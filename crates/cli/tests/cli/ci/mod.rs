//! `becalm ci`, end to end: a repository, a job's environment, and a server in the place of the service.

mod commits;
mod posted;
mod templates;

use becalm_testkit::{CommandOutput, TestEnv};
use serde_json::{Value, json};

use crate::fake_api::FakeApi;
use crate::support::{T, env, git, has_git, with};

const TOKEN: &str = "s3cret-t0ken";

const BUILD: &str = "cp program app && chmod +x app";

/// A repository on the branch of a change, which is one commit ahead of the main one.
struct Project {
    env: TestEnv,
    api: FakeApi,
    base: String,
    head: String,
}

/// Makes a project in which a change sets what the program prints, or only adds a text.
fn project(test: &str, change: Option<u32>) -> Option<Project> {
    if !has_git(test) {
        return None;
    }
    let env = env();
    git(&env, &["init", "-q"]);
    env.write(".gitignore", "app\n*.json\n*.xml\n*.txt\nsummary\noutputs\n.*\n");
    env.write("program", "#!/bin/sh\necho t: 1000\n");
    git(&env, &["add", "-f", "program", ".gitignore"]);
    git(&env, &["commit", "-q", "-m", "first"]);
    git(&env, &["checkout", "-q", "-b", "change"]);
    match change {
        Some(number) => env.write("program", format!("#!/bin/sh\necho t: {number}\n")),
        None => env.write("README.md", "text\n"),
    };
    git(&env, &["add", "-A"]);
    git(&env, &["commit", "-q", "-m", "a change for @everybody <b>"]);
    let (base, head) = (git(&env, &["rev-parse", "main"]), git(&env, &["rev-parse", "HEAD"]));
    let api = FakeApi::start();
    api.set_head(&head);
    Some(Project { env, api, base, head })
}

impl Project {
    /// The same as a job of GitHub, for an event.
    fn github(self, name: &str, event: &Value) -> Self {
        let event = self.env.write("event.json", event.to_string());
        let api = self.api.address().to_owned();
        let work = self.env.work();
        let below = |name: &str| work.join(name).display().to_string();
        let (summary, outputs) = (below("summary"), below("outputs"));
        let env = self
            .env
            .variable("GITHUB_ACTIONS", "true")
            .variable("GITHUB_REPOSITORY", "o/r")
            .variable("GITHUB_API_URL", &api)
            .variable("GITHUB_EVENT_NAME", name)
            .variable("GITHUB_EVENT_PATH", &event.display().to_string())
            .variable("GITHUB_RUN_ID", "99")
            .variable("GITHUB_TOKEN", TOKEN)
            .variable("GITHUB_STEP_SUMMARY", &summary)
            .variable("GITHUB_OUTPUT", &outputs);
        Self { env, ..self }
    }

    fn pull_request(self, from: &str) -> Self {
        let event = json!({"pull_request": {"number": 7, "base": {"sha": self.base},
            "head": {"sha": self.head, "repo": {"full_name": from}}}});
        self.github("pull_request", &event)
    }

    fn ci(&self, more: &[&str]) -> CommandOutput {
        let first = ["--rounds", "6", "--metric", T, "--build", BUILD];
        let output = self.env.run(with("ci", &[&first, more, &["--", "./app"]].concat()));
        self.keeps_its_secrets(output)
    }

    fn post(&self, file: &str) -> CommandOutput {
        let output = self.env.run(["ci", "--post", file]);
        self.keeps_its_secrets(output)
    }

    #[track_caller]
    fn keeps_its_secrets(&self, output: CommandOutput) -> CommandOutput {
        let mut seen = format!("{}{}", output.stdout, output.stderr);
        for entry in std::fs::read_dir(self.env.work()).unwrap().flatten() {
            if let Ok(text) = std::fs::read_to_string(entry.path()) {
                seen.push_str(&text);
            }
        }
        for comment in self.api.comments() {
            seen.push_str(&comment);
        }
        assert!(!seen.contains(TOKEN) && !seen.contains("/hook"), "{seen}");
        output
    }
}
