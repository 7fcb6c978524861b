//! The firmware's own choice between performance and quiet fans, on laptops.
//!
//! <https://docs.kernel.org/userspace-api/sysfs-platform_profile.html>

use super::{Knob, Planner, Profile};

const PROFILE: &str = "/sys/firmware/acpi/platform_profile";
const CHOICES: &str = "/sys/firmware/acpi/platform_profile_choices";

pub(super) const PLATFORM_PROFILE: Knob = Knob {
    name: "platform-profile",
    summary: "platform profile `performance`",
    reason: "the firmware limits power to keep the machine cool and quiet",
    profile: Profile::Safe,
    plan,
};

fn plan(planner: &mut Planner<'_>) {
    let situation = planner.situation;
    let Some(choices) = situation.root.read(CHOICES).value() else {
        return planner.not_here(format!("{CHOICES} does not exist here"));
    };
    let offers = |wanted: &str| choices.split_whitespace().any(|choice| choice == wanted);
    if !offers("performance") {
        return planner.refuse(format!("{CHOICES} offers only: {choices}"));
    }
    // Profiles of several drivers that differ read as `custom`, which cannot be written back.
    if let Some(now) = situation.root.read(PROFILE).value().filter(|now| !offers(now)) {
        let text = format!("{PROFILE} is {now}, and there is no way back to that");
        return planner.refuse(text);
    }
    planner.set(PROFILE, "performance");
}
