//! The output of `becalm services`: who used the CPU.

use becalm_model::wire::ServicesDocument;

use crate::page::Page;
use crate::quantity::NBSP;
use crate::style::Style;
use crate::table::{Align, Table};

/// Lists the `top` programs that used the CPU most, and how much nobody accounts for.
pub fn services_text(document: &ServicesDocument, top: usize, style: &Style) -> String {
    let mut page = Page::new(style);
    let mut table = Table::new([
        ("program", Align::Left),
        ("CPU time", Align::Right),
        ("share", Align::Right),
        ("wake-ups", Align::Right),
        ("service", Align::Left),
    ])
    .ending_in_text();
    let seconds = document.seconds.max(f64::MIN_POSITIVE);
    for one in document.programs.iter().take(top) {
        let time = one.own + one.children;
        let of_others = if one.children > one.own { " (mostly what it started)" } else { "" };
        table.push([
            one.command.as_str().into(),
            format!("{time:.2}{NBSP}s").into(),
            format!("{:.1}{NBSP}%", 100.0 * time / seconds).into(),
            format!("{:.1}/s", one.wakeups as f64 / seconds).into(),
            format!("{}{of_others}", one.service).into(),
        ]);
    }
    page.table(&table);
    page.gap();
    let more = document.programs.len().saturating_sub(top);
    if more > 0 {
        page.say(&format!("{more} further programs used less (see --top)."));
    }
    if let (Some(busy), Some(unexplained)) = (document.busy, document.unexplained) {
        page.say(&format!(
            "All CPUs together were busy for {busy:.2}{NBSP}s in {seconds:.1}{NBSP}s, of which {unexplained:.2}{NBSP}s \
             cannot be attributed to a program that still runs. A share is of the time of one CPU."
        ));
    }
    page.finish()
}

#[cfg(test)]
mod tests {
    use becalm_model::wire::ProgramDocument;

    use super::*;

    fn document() -> ServicesDocument {
        let program = |command: &str, service: &str, own, children| ProgramDocument {
            command: command.to_owned(),
            service: service.to_owned(),
            own,
            children,
            wakeups: 125,
        };
        ServicesDocument {
            schema: String::new(),
            seconds: 10.0,
            busy: Some(3.0),
            unexplained: Some(0.25),
            programs: vec![
                program("make", "session-1.scope", 0.1, 2.0),
                program("rcu_preempt", "kernel", 0.01, 0.0),
                program("cron", "cron.service", 0.0, 0.0),
            ],
        }
    }

    #[test]
    fn programs_are_listed_on_any_terminal() {
        insta::assert_snapshot!(services_text(&document(), 2, &Style::PLAIN));
        insta::assert_snapshot!(services_text(
            &document(),
            2,
            &Style { width: 40, ..Style::PLAIN }
        ));
    }
}
