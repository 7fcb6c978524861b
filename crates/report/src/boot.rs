//! Boot parameters as text.

use becalm_model::wire::{BootAdvice, BootDocument, BootLoader, BootOption};

use crate::page::Page;
use crate::style::{Role, Style};
use crate::width::columns;

/// Writes the parameters with their reasons, how to give them to each boot loader, and their
/// pitfalls. Lines to be copied are never broken.
pub fn boot_text(document: &BootDocument, style: &Style) -> String {
    let mut page = Page::new(style);
    page.say_as(
        Role::Heading,
        &format!(
            "Boot parameters that reserve CPU {} and leave {} to everything else",
            document.cpus, document.housekeeping
        ),
    );
    let texts = document.parameters.iter().map(|one| columns(&one.text));
    let width = texts.max().unwrap_or(0).min(style.width / 2);
    for parameter in &document.parameters {
        page.labelled(&parameter.text, width, &parameter.reason);
    }
    if let (Some(kernel), Some(source)) = (&document.kernel, &document.options_from) {
        page.gap();
        page.say(&format!("Kernel {kernel}, configured as in {source}."));
    }
    for missing in &document.missing {
        page.item(missing);
    }
    if !document.loaders.iter().any(|loader| loader.found) {
        page.gap();
        page.say(
            "No boot loader was found here. With a boot loader that becalm knows, add them like this:",
        );
    }
    for loader in &document.loaders {
        let found = if loader.found { " (found here)" } else { "" };
        page.section(&format!("{}{found}", loader.name));
        write_loader(&mut page, loader);
    }
    for (advice, title) in [
        (BootAdvice::Sometimes, "Further parameters that sometimes help; --also NAME adds one"),
        (BootAdvice::NotNeeded, "What becalm does without a restart"),
        (BootAdvice::Against, "Not recommended"),
    ] {
        let options = document.options.iter().filter(|option| option.advice == advice);
        page.list(title, options.map(option_line));
    }
    page.section("Before you use them");
    for warning in &document.warnings {
        page.item(warning);
    }
    page.item("they take effect at the next start, and stay until they are removed");
    page.finish()
}

fn option_line(option: &BootOption) -> String {
    let since = option.kernel.as_ref();
    let since = since.map_or(String::new(), |kernel| format!(" (from Linux {kernel} on)"));
    format!(
        "{}{since}: {}. Helps: {}. Costs: {}.",
        option.text, option.does, option.helps, option.costs
    )
}

fn write_loader(page: &mut Page<'_>, loader: &BootLoader) {
    let lead = if loader.commands.is_empty() || loader.file.is_some() { "" } else { "run\n" };
    let after = if loader.file.is_some() || lead.is_empty() { "then run\n" } else { "" };
    let commands = loader.commands.join("\n");
    let manual = loader.text.starts_with("removed");
    let text = if manual {
        format!("{lead}{commands}\n{}", loader.text)
    } else if commands.is_empty() {
        loader.text.clone()
    } else {
        format!(
            "{}\n{}{commands}",
            loader.text,
            if after.is_empty() { "then run\n" } else { after }
        )
    };
    for (index, line) in text.lines().enumerate() {
        // What is to be copied stands alone and whole; the words around it are indented less.
        let is_words = index == 0 || line == "then run" || line.starts_with("removed");
        if is_words {
            page.indented(line);
        } else {
            page.drawn(&format!("    {line}\n"));
        }
    }
}
