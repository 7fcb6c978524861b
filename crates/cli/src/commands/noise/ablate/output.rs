//! What happens to a finished experiment: text, JSON, HTML and a profile.

use becalm_model::ablate::AblateDocument;
use becalm_model::wire::json_text;
use becalm_report::{WORDS, ablate_html, ablate_list_text, ablate_text};
use becalm_session::files;

use super::Args;
use crate::error::CommandError;
use crate::exit::Exit;
use crate::ui::Ui;

/// Prints and saves an experiment, and says how the command ended.
pub(super) fn give(
    document: &AblateDocument,
    ended: Result<(), CommandError>,
    args: &Args,
    ui: &Ui,
) -> Result<Exit, CommandError> {
    let document = &document.with_words(&WORDS);
    if let Some(path) = &args.export_json {
        files::write_atomically(path, &json_text(document))?;
    }
    if let Some(path) = &args.export_html {
        files::write_atomically(path, &ablate_html(document))?;
    }
    let mut exit = Exit::Done;
    if let Some(path) = &args.write_profile {
        if let Some(recommendation) = &document.recommendation {
            files::write_atomically(path, &recommendation.profile)?;
        } else {
            if !args.list {
                ui.warn(format!("nothing is recommended, so {} is not written", path.display()));
            }
            exit = Exit::Inconclusive;
        }
    }
    if args.json {
        ui.print_json(document)?;
    } else if args.list {
        ui.print(&ablate_list_text(document, ui.style()))?;
    } else {
        ui.print(&ablate_text(document, ui.style(), ui.table_width()))?;
    }
    match ended {
        Err(CommandError { exit: exit @ Exit::Signal(_), .. }) => {
            ui.say("Stopped; the machine is as it was.");
            return Ok(exit);
        }
        ended => ended?,
    }
    if let Some(recommendation) = document.recommendation.as_ref().filter(|_| !args.json) {
        ui.say(format!(
            "To measure with these: becalm run {} -- COMMAND",
            shell_words::join(&recommendation.flags)
        ));
        if args.write_profile.is_none() && recommendation.profile.contains("only = ") {
            ui.say("--write-profile FILE saves the machine's settings among them.");
        }
    }
    Ok(exit)
}
