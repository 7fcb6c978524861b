//! `becalm load` on servers that others made: Python's, Go's and nginx. No assertion depends on how busy the machine is.

use std::path::Path;
use std::process::{Command, Stdio};

use becalm_testkit::{self_made_certificate, skipped};

use crate::load::{Server, loaded};
use crate::support::{env, wait_until};

/// Starts a server of others at a port that the system chose; it may be gone again, but hardly ever is.
fn free_port() -> u16 {
    std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// Starts a real server and waits until it listens.
fn start(mut command: Command, port: u16) -> Server {
    let process = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let server =
        Server { process: process.spawn().unwrap(), url: format!("http://127.0.0.1:{port}/") };
    wait_until("the server listens", || std::net::TcpStream::connect(("127.0.0.1", port)).is_ok());
    server
}

/// Loads a server, which is to answer everything.
#[track_caller]
fn answers_everything(url: &str, arguments: &[&str]) {
    let arguments = [&["--rate", "50", "--duration", "1s"], arguments].concat();
    let (document, _) = loaded(&env(), url, &arguments);
    assert_eq!(document["counts"]["errors"], 0, "{arguments:?}: {}", document["errors"]);
    assert_eq!(document["counts"]["unsent"], 0, "{arguments:?}");
}

pub(crate) fn has_python() -> bool {
    let python = Command::new("python3").arg("--version").output();
    python.is_ok_and(|output| output.status.success())
}

#[test]
fn pythons_server_is_loaded_which_closes_every_connection() {
    if !has_python() {
        return skipped(
            "pythons_server_is_loaded_which_closes_every_connection: python3 is not installed",
        );
    }
    let folder = tempfile::tempdir().unwrap();
    let port = free_port();
    let mut command = Command::new("python3");
    command.args(["-m", "http.server", "--bind", "127.0.0.1", &port.to_string()]);
    command.current_dir(folder.path());
    let server = start(command, port);
    answers_everything(&server.url, &[]);
}

/// A server that answers over HTTP/1.1 at its first port, and over TLS, with HTTP/2, at its second one.
const GO: &str = r#"package main

import (
	"net/http"
	"os"
)

func main() {
	answer := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte("ok")) })
	go http.ListenAndServeTLS("127.0.0.1:"+os.Args[2], "cert", "key", answer)
	panic(http.ListenAndServe("127.0.0.1:"+os.Args[1], answer))
}
"#;

#[test]
fn gos_server_is_loaded_with_and_without_tls_and_http2() {
    let name = "gos_server_is_loaded_with_and_without_tls_and_http2";
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("server.go"), GO).unwrap();
    let build = ["build", "-o", "server", "server.go"];
    match Command::new("go").args(build).current_dir(folder.path()).output() {
        Ok(output) => {
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        }
        Err(_) => return skipped(&format!("{name}: go is not installed")),
    }
    if let Err(why) = self_made_certificate(folder.path(), "localhost") {
        return skipped(&format!("{name}: {why}"));
    }
    let [plain, secure] = [free_port(), free_port()];
    let mut command = Command::new(folder.path().join("server"));
    command.args([plain.to_string(), secure.to_string()]).current_dir(folder.path());
    let server = start(command, plain);
    let is_secure = || std::net::TcpStream::connect(("127.0.0.1", secure)).is_ok();
    wait_until("the server listens with TLS, too", is_secure);
    answers_everything(&server.url, &["--expect-body", "ok"]);
    let authority = folder.path().join("cert");
    let trusting = ["--cacert", authority.to_str().unwrap()];
    let url = format!("https://localhost:{secure}/");
    answers_everything(&url, &trusting);
    answers_everything(&url, &[&trusting[..], &["--http2"]].concat());
}

/// nginx, where Debian and others install it: a `PATH` need not name that folder.
pub(crate) fn nginx() -> Option<&'static str> {
    ["/usr/sbin/nginx", "/usr/bin/nginx"].into_iter().find(|path| Path::new(path).exists())
}

#[test]
fn nginx_is_loaded_with_and_without_tls_and_http2() {
    let name = "nginx_is_loaded_with_and_without_tls_and_http2";
    let Some(nginx) = nginx() else {
        return skipped(&format!("{name}: nginx is not installed"));
    };
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().display();
    if let Err(why) = self_made_certificate(folder.path(), "localhost") {
        return skipped(&format!("{name}: {why}"));
    }
    let [plain, secure] = [free_port(), free_port()];
    let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        .map(|name| format!("{name}_temp_path {place}/{name};"))
        .join("\n");
    let configuration = format!(
        "daemon off;\nmaster_process off;\npid {place}/pid;\nerror_log /dev/null;\nevents {{}}\nhttp {{\naccess_log off;\n\
         {temporary}\nserver {{ listen 127.0.0.1:{plain}; listen 127.0.0.1:{secure} ssl http2;\n\
         ssl_certificate {place}/cert; ssl_certificate_key {place}/key;\n\
         location / {{ return 200 'ok'; }} }}\n}}\n"
    );
    let file = folder.path().join("nginx.conf");
    std::fs::write(&file, configuration).unwrap();
    let mut command = Command::new(nginx);
    command.arg("-p").arg(folder.path()).arg("-c").arg(file);
    let server = start(command, plain);
    let cert = folder.path().join("cert");
    let cert = cert.to_str().unwrap();
    answers_everything(&server.url, &[]);
    answers_everything(&server.url, &["--new-connections"]);
    let secure = format!("https://127.0.0.1:{secure}/");
    answers_everything(&secure, &["--insecure"]);
    answers_everything(&secure, &["--insecure", "--http2"]);
    answers_everything(&secure.replace("127.0.0.1", "localhost"), &["--cacert", cert, "--http2"]);
    // Nobody has signed it, and it is for another name.
    for arguments in [&[][..], &["--cacert", cert]] {
        let arguments = [&["--rate", "50", "--duration", "200ms"], arguments].concat();
        let (document, code) = loaded(&env(), &secure, &arguments);
        assert_eq!((code, document["errors"][0]["kind"].as_str()), (4, Some("tls")));
    }
}
