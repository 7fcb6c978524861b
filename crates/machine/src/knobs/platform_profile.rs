//! The firmware's own choice between performance and quiet fans, on laptops.
//!
//! <https://docs.kernel.org/userspace-api/sysfs-platform_profile.html>

use super::{Knob, NoteKind, Planned, Profile, Situation};

const NAME: &str = "platform-profile";
const REASON: &str = "the firmware limits power to keep the machine cool and quiet";
const PROFILE: &str = "/sys/firmware/acpi/platform_profile";
const CHOICES: &str = "/sys/firmware/acpi/platform_profile_choices";

pub(super) const PLATFORM_PROFILE: Knob =
    Knob { name: NAME, summary: "platform profile `performance`", profile: Profile::Safe, plan };

fn plan(situation: &Situation<'_>) -> Planned {
    let mut planned = Planned::default();
    let Some(choices) = situation.root.read(CHOICES).value() else {
        return Planned::not_here(NAME, format!("{CHOICES} does not exist here"));
    };
    let offers = |wanted: &str| choices.split_whitespace().any(|choice| choice == wanted);
    if !offers("performance") {
        return planned.note(NAME, NoteKind::Refused, format!("{CHOICES} offers only: {choices}"));
    }
    // Profiles of several drivers that differ read as `custom`, which cannot be written back.
    if let Some(now) = situation.root.read(PROFILE).value().filter(|now| !offers(now)) {
        let text = format!("{PROFILE} is {now}, to which there is no way back");
        return planned.note(NAME, NoteKind::Refused, text);
    }
    planned.set(situation, NAME, PROFILE, "performance", REASON);
    planned
}
