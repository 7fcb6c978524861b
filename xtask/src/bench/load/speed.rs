//! How much a generator can do with one CPU, while nginx has another.

use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use becalm_calibrate::decisions::Table;
use becalm_kernel::affinity;

use super::peers::Asked;
use super::{Args, generators, output, shown};
use crate::install;
use crate::workspace::run;

/// Rates without TLS over HTTP/1.1, and with TLS over HTTP/2, in requests in a second, and connections for them.
const LOADS: [(bool, u32, u32); 5] = [
    (false, 20_000, 64),
    (false, 40_000, 64),
    (false, 60_000, 64),
    (true, 10_000, 8),
    (true, 20_000, 8),
];

/// Asks every generator that is there for these rates.
pub(super) fn table(becalm: &Path, args: &Args) -> Result<String> {
    let allowed = affinity::affinity(affinity::CALLER)?.cpus().collect::<Vec<_>>();
    let (Some(first), Some(last), true) = (allowed.first(), allowed.last(), allowed.len() > 1)
    else {
        return Ok(
            "High rates from one CPU: skipped, there is no second one for the server.\n".to_owned()
        );
    };
    let Some(nginx) = install::find("nginx") else {
        return Ok("High rates from one CPU: skipped, nginx is not installed.\n".to_owned());
    };
    let folder = tempfile::tempdir()?;
    let server = Server::start(&nginx, folder.path(), &first.to_string())?;
    let titles = [
        "generator",
        "speaks",
        "asked/s",
        "kept/s",
        "p50 ms",
        "p99 ms",
        "CPU us/request",
        "MB",
        "says",
    ];
    let mut table = Table::new(&titles);
    for (is_http2, rate, connections) in LOADS {
        for (generator, program) in generators(becalm, args) {
            let more = match (is_http2, generator.http2) {
                (false, _) => "",
                (true, Some(more)) => more,
                (true, None) => continue,
            };
            let url = server.url(is_http2);
            let (seconds, connections) = (args.seconds, Some(connections));
            let asked = Asked { url, seconds, rate, connections, more };
            let arguments =
                format!("-c {last} \"{}\" {}", program.display(), (generator.arguments)(&asked));
            let (text, used) = output(Path::new("taskset"), &arguments)?;
            let said = (generator.read)(&text);
            let requests = said.rate.map(|rate| rate * f64::from(args.seconds));
            let each = requests.filter(|n| *n > 0.0).map(|n| used.cpu_time() / n);
            table.rows.push(vec![
                generator.name.to_owned(),
                if is_http2 { "HTTP/2, TLS" } else { "HTTP/1.1" }.to_owned(),
                rate.to_string(),
                shown(said.rate, 1.0, 0),
                shown(said.p50, 1e3, 2),
                shown(said.p99, 1e3, 2),
                shown(each, 1e6, 1),
                shown(Some(used.max_rss as f64), 1e-6, 0),
                said.remark,
            ]);
        }
    }
    Ok(format!("nginx on CPU {first}, the generator on CPU {last}.\n\n{}", table.markdown()))
}

/// nginx with one worker, without and with TLS; it ends with this.
struct Server {
    process: Child,
    plain: u16,
    secret: u16,
}

impl Server {
    fn start(nginx: &Path, folder: &Path, cpu: &str) -> Result<Self> {
        let free =
            || Ok::<_, std::io::Error>(TcpListener::bind("127.0.0.1:0")?.local_addr()?.port());
        let (plain, secret) = (free()?, free()?);
        let certify = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout key.pem -out cert.pem \
             -days 30 -subj /CN=localhost";
        let mut openssl = Command::new("openssl");
        run(openssl.args(certify.split_whitespace()).current_dir(folder).stderr(Stdio::null()))?;
        let configuration = format!(
            "daemon off; pid nginx.pid; error_log stderr; worker_processes 1; events {{ worker_connections 4096; }}
http {{ access_log off; keepalive_requests 1000000000; ssl_certificate cert.pem; ssl_certificate_key key.pem;
server {{ listen 127.0.0.1:{plain}; listen 127.0.0.1:{secret} ssl http2; location / {{ return 200 ok; }} }} }}"
        );
        let file = folder.join("nginx.conf");
        std::fs::write(&file, configuration)?;
        let mut command = Command::new("taskset");
        command
            .args(["-c", cpu])
            .arg(nginx)
            .args(["-e", "stderr", "-p"])
            .arg(folder)
            .arg("-c")
            .arg(file);
        let process =
            command.stdin(Stdio::null()).stderr(Stdio::null()).spawn().context("taskset")?;
        let mut server = Self { process, plain, secret };
        for _ in 0..500 {
            if std::net::TcpStream::connect(("127.0.0.1", secret)).is_ok() {
                return Ok(server);
            }
            if let Some(status) = server.process.try_wait()? {
                bail!("nginx does not start: {status}");
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        bail!("nginx does not listen at port {secret}");
    }

    fn url(&self, is_secret: bool) -> String {
        let Self { plain, secret, .. } = self;
        if is_secret {
            format!("https://127.0.0.1:{secret}/")
        } else {
            format!("http://127.0.0.1:{plain}/")
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // The master takes its worker with it; killed, it would leave it behind.
        let _ = Command::new("kill").args(["-QUIT", &self.process.id().to_string()]).status();
        let _ = self.process.wait();
    }
}
