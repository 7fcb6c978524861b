//! What becomes of a finished experiment: text, JSON, HTML and a profile.

use becalm_lab::ablate::{Names, document, effects};
use becalm_machine::{MitigationEffects, SysRoot};
use becalm_model::wire::{AblateDocument, AblateSubject, MachineDocument, json_text};
use becalm_report::{ablate_html, ablate_list_text, ablate_text};

use super::Args;
use super::conduct::{Conducted, Interruption};
use crate::error::CommandError;
use crate::exit::Exit;
use crate::files;
use crate::ui::Ui;

/// Name of a profile that was not asked to be written.
const UNWRITTEN: &str = "quiet.toml";

/// Prints and saves an experiment, and says how the command ended.
pub(super) fn give(
    conducted: Conducted,
    args: &Args,
    started_at: f64,
    ui: &Ui,
) -> Result<Exit, CommandError> {
    let mut document = written(&conducted, args, started_at);
    if !args.no_save && !args.list && conducted.interrupted.is_none() {
        save(&SysRoot::new(&args.root), &mut document, ui);
    }
    if let Some(path) = &args.export_json {
        files::write_atomically(path, &json(&document))?;
    }
    if let Some(path) = &args.export_html {
        files::write_atomically(path, &ablate_html(&document))?;
    }
    let mut exit = Exit::Done;
    if let Some(path) = &args.write_profile {
        if let Some(recommendation) = &document.recommendation {
            files::write_atomically(path, &recommendation.profile)?;
        } else {
            if !args.list {
                ui.warn(format!("nothing is recommended: {} is not written", path.display()));
            }
            exit = Exit::Inconclusive;
        }
    }
    if args.json {
        ui.print(&json(&document))?;
    } else if args.list {
        ui.print(&ablate_list_text(&document, ui.style()))?;
    } else {
        ui.print(&ablate_text(&document, ui.style(), ui.table_width()))?;
    }
    match conducted.interrupted {
        Some(Interruption::Signal(signal)) => {
            ui.say("Stopped; everything is as it was.");
            Ok(Exit::Signal(signal))
        }
        Some(Interruption::Failure(error)) => Err(error),
        None => {
            if let Some(recommendation) = document.recommendation.filter(|_| !args.json) {
                ui.say(format!(
                    "To measure so: becalm run {} -- COMMAND",
                    shell_words::join(&recommendation.flags)
                ));
                if args.write_profile.is_none() && recommendation.profile.contains("only = ") {
                    ui.say("--write-profile FILE saves the settings of the machine among them.");
                }
            }
            Ok(exit)
        }
    }
}

/// Saves what the mitigations did. That it cannot be saved is worth a warning, and no more.
fn save(root: &SysRoot, document: &mut AblateDocument, ui: &Ui) {
    let effects = effects(document);
    if effects.is_empty() {
        return;
    }
    match MitigationEffects::add(root, effects) {
        Ok(place) => document.saved = Some(place.display().to_string()),
        Err(error) => ui.warn(format!("what helps here cannot be saved: {error}")),
    }
}

fn written(conducted: &Conducted, args: &Args, started_at: f64) -> AblateDocument {
    let subject = conducted.subject.name();
    let profile = match &args.write_profile {
        Some(path) => path.display().to_string(),
        None => UNWRITTEN.to_owned(),
    };
    let names = Names { subject: &subject, counters: &conducted.counters, profile: &profile };
    let Conducted { experiment, here, not_tried, .. } = conducted;
    AblateDocument {
        becalm: env!("CARGO_PKG_VERSION").to_owned(),
        started_at,
        duration: conducted.duration.as_secs_f64(),
        arguments: std::env::args_os()
            .skip(1)
            .map(|word| word.to_string_lossy().into_owned())
            .collect(),
        subject: AblateSubject {
            name: subject.clone(),
            command: conducted.subject.words(&[]),
            iterations: conducted.subject.iterations(),
            hogs: conducted.hogs,
        },
        uncounted_runs: conducted.uncounted,
        limits: conducted.limits.clone(),
        interrupted: conducted.interrupted.as_ref().map(|interruption| match interruption {
            Interruption::Signal(signal) => format!("stopped by signal {signal}"),
            Interruption::Failure(error) => error.message.clone(),
        }),
        machine: MachineDocument {
            facts: conducted.machine.facts.clone(),
            unreadable: conducted.machine.unreadable.clone(),
        },
        ..document(experiment, here, not_tried, &names)
    }
}

fn json(document: &AblateDocument) -> String {
    json_text(document)
}
