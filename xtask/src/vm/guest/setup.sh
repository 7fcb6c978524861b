# Called with the folder of a fresh Debian.
set -e
root=$1
echo becalm-vm >"$root/etc/hostname"
echo '/dev/vda / ext4 errors=remount-ro 0 1' >"$root/etc/fstab"
# A fixed one, so that the first boot does not make one and start everything again.
echo 0123456789abcdef0123456789abcdef >"$root/etc/machine-id"
mkdir -p "$root/etc/systemd/system/multi-user.target.wants" "$root/lab" "$root/etc/default/grub.d"
ln -s ../lab-agent.service "$root/etc/systemd/system/multi-user.target.wants/lab-agent.service"
cat >"$root/etc/default/grub" <<'G'
GRUB_DEFAULT=0
GRUB_TIMEOUT=0
GRUB_DISTRIBUTOR=Debian
GRUB_CMDLINE_LINUX_DEFAULT="quiet"
GRUB_CMDLINE_LINUX="console=ttyS0"
G
# Something that a strict tuning leaves: a graphical target that is active.
ln -sf /lib/systemd/system/graphical.target "$root/etc/systemd/system/default.target"
chroot "$root" useradd --create-home --uid 1000 tester
# Who may become root without a password, by each program that makes root of users.
echo 'tester ALL=(ALL) NOPASSWD: ALL' >"$root/etc/sudoers.d/tester"
chmod 440 "$root/etc/sudoers.d/tester"
echo 'permit nopass tester' >"$root/etc/doas.conf"
mkdir -p "$root/etc/polkit-1/rules.d"
cat >"$root/etc/polkit-1/rules.d/10-tester.rules" <<'G'
polkit.addRule(function(action, subject) {
    if (subject.user == "tester") return polkit.Result.YES;
});
G
