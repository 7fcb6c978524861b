//! The hosts that sessions can run on.

use becalm_model::counted;
use becalm_model::wire::{HostDocument, HostStatus, HostsDocument};

use crate::moment::date;
use crate::quantity::percent;
use crate::style::{Role, Style};
use crate::table::{Align, Cell, Table};

/// Returns what `becalm hosts` prints.
pub fn hosts_text(document: &HostsDocument, style: &Style) -> String {
    let was_checked =
        document.hosts.iter().any(|host| host.status.is_some() || host.error.is_some());
    let mut titles =
        vec![("host", Align::Left), ("ssh", Align::Left), ("noise floor", Align::Left)];
    if was_checked {
        titles.extend([("root", Align::Left), ("now", Align::Left)]);
    }
    let mut table = Table::new(titles);
    for host in &document.hosts {
        let floor = host
            .noise_floor
            .map(|floor| format!("{} on {}", percent(floor.change), date(floor.at)));
        let mut row: Vec<Cell> = vec![
            host.name.as_str().into(),
            host.ssh.as_str().into(),
            floor.unwrap_or_default().into(),
        ];
        if was_checked {
            let root = host.status.as_ref().map_or("", |one| if one.root { "yes" } else { "no" });
            row.extend([root.into(), now(host)]);
        }
        table.push(row);
    }
    table.text(style)
}

fn now(host: &HostDocument) -> Cell {
    match (&host.status, &host.error) {
        (_, Some(error)) => Cell::of(Role::Slower, error.as_str()),
        (Some(status), None) => status_text(status).into(),
        (None, None) => "".into(),
    }
}

fn status_text(status: &HostStatus) -> String {
    let HostStatus { processor, cpus, load, holder, .. } = status;
    let state = match holder {
        Some(holder) => format!("in use by `{holder}`"),
        None => "free".to_owned(),
    };
    let load = load.map(|load| format!(", load {load:.1}")).unwrap_or_default();
    let processor = processor.as_deref().unwrap_or("an unknown processor");
    format!("{state}{load}; {} of {processor}", counted(*cpus, "CPU"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use becalm_model::wire::HostFloor;

    #[test]
    fn each_host_is_a_row() {
        let host = |name: &str| HostDocument {
            name: name.to_owned(),
            ssh: format!("me@{name}"),
            status: None,
            error: None,
            noise_floor: None,
        };
        let mut document =
            HostsDocument { schema: String::new(), hosts: vec![host("alpha"), host("beta")] };
        let style = Style { width: 120, colour: false, unicode: true };
        insta::assert_snapshot!(hosts_text(&document, &style), @"
        host   ssh       noise floor
        alpha  me@alpha
        beta   me@beta
        ");
        document.hosts[0].noise_floor = Some(HostFloor { change: 0.0072, at: 1_790_000_000.0 });
        document.hosts[0].status = Some(HostStatus {
            processor: Some("AMD EPYC 7B13".to_owned()),
            cpus: 1,
            load: Some(0.04),
            holder: Some("becalm compare".to_owned()),
            root: true,
        });
        document.hosts[1].error = Some("cannot connect to beta".to_owned());
        insta::assert_snapshot!(hosts_text(&document, &style), @"
        host   ssh       noise floor           root  now
        alpha  me@alpha  0.72 % on 2026-09-21  yes   in use by `becalm compare`, load 0.0; 1 CPU of AMD EPYC 7B13
        beta   me@beta                               cannot connect to beta
        ");
    }
}
