//! Who has the machine through its service, and who waits.

use std::fmt::Write as _;

use becalm_model::counted;
use becalm_model::wire::{MachineHolderDocument, MachineServiceDocument, MachineWaiterDocument};

/// Returns what `becalm machine service status` prints.
pub fn machine_service_text(status: &MachineServiceDocument) -> String {
    let MachineServiceDocument { holder, waiting, profiles, isolated_cpus, limit, .. } = status;
    let mut text = match holder {
        None => "Nobody has the machine.\n".to_owned(),
        Some(holder) => format!("{}\n", of_holder(holder)),
    };
    for (waiter, place) in waiting.iter().zip(1..) {
        let MachineWaiterDocument { uid, user, pid, command, waited } = waiter;
        let user = named(*uid, user.as_deref());
        let _ = writeln!(
            text,
            "{place}. {user} has waited for {waited} s with `{command}` (process {pid})."
        );
    }
    let profiles = match profiles.as_slice() {
        [] => "no profile".to_owned(),
        [one] => format!("the profile {one}"),
        several => format!("the profiles {}", several.join(", ")),
    };
    let cpus = match isolated_cpus {
        0 => "no CPU".to_owned(),
        most => format!("at most {}", counted(*most, "CPU")),
    };
    let _ =
        writeln!(text, "A user may use {profiles}, and reserve {cpus}, for {limit} s at a time.");
    text
}

fn of_holder(holder: &MachineHolderDocument) -> String {
    let MachineHolderDocument { uid, user, pid, command, held, left } = holder;
    let who = uid.map_or_else(|| "Root".to_owned(), |uid| named(uid, user.as_deref()));
    let mut text = format!("{who} has the machine with `{command}` (process {pid})");
    if let Some(held) = held {
        let _ = write!(text, ", for {held} s now");
    }
    match left {
        Some(left) => text + &format!(", for at most {left} s more."),
        None => text + ".",
    }
}

fn named(uid: u32, user: Option<&str>) -> String {
    user.map_or_else(|| format!("User {uid}"), |name| format!("{name} (user {uid})"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holder_and_queue_are_named() {
        let mut status = MachineServiceDocument {
            schema: String::new(),
            holder: None,
            waiting: Vec::new(),
            profiles: vec!["safe".to_owned()],
            isolated_cpus: 0,
            limit: 3600,
        };
        let may = "A user may use the profile safe, and reserve no CPU, for 3600 s at a time.\n";
        assert_eq!(machine_service_text(&status), format!("Nobody has the machine.\n{may}"));
        let command = "becalm run".to_owned();
        status.waiting = vec![MachineWaiterDocument {
            uid: 1001,
            user: None,
            pid: 8,
            command: command.clone(),
            waited: 5,
        }];
        let mut holder = MachineHolderDocument {
            uid: Some(1000),
            user: Some("ada".to_owned()),
            pid: 7,
            command,
            held: Some(60),
            left: Some(3540),
        };
        status.holder = Some(holder.clone());
        assert_eq!(
            machine_service_text(&status),
            format!(
                "ada (user 1000) has the machine with `becalm run` (process 7), for 60 s now, for at most 3540 s more.\n1. User 1001 has waited for 5 s with `becalm run` (process 8).\n{may}"
            )
        );
        (holder.uid, holder.held, holder.left) = (None, None, None);
        assert_eq!(of_holder(&holder), "Root has the machine with `becalm run` (process 7).");
    }
}
