# Prints everything that a change of the machine could leave behind, one `path:line` a line.
{
    find /sys/devices/system /sys/kernel/mm /sys/devices/virtual/workqueue /sys/bus/workqueue \
        /sys/module/*/parameters /proc/sys -type f 2>/dev/null
    ls -d /proc/irq/default_smp_affinity /proc/irq/*/smp_affinity
    find /sys/fs/resctrl -type f
    ls -d /sys/class/net/*/flags /sys/firmware/acpi/platform_profile /sys/class/block/*/queue/rq_affinity
    find /sys/fs/cgroup -name 'cpuset.cpus*' -o -name 'cpuset.mems*' -o -name cgroup.subtree_control \
        -o -name cgroup.type
} 2>/dev/null | xargs grep -H '' 2>&1
# Which CPUs every process may use. Threads of which the kernel alone says where they run
# (PF_NO_SETAFFINITY) are moved by it: the rescuer of a work queue goes to whoever needs it.
cat /proc/[0-9]*/stat 2>/dev/null | awk '{
    pid = $1
    sub(/.*\) /, "")
    if (int($7 / 67108864) % 2 == 0) print "/proc/" pid "/status"
}' | xargs grep -H -e '^Name' -e '^Cpus_allowed_list' -e '^Mems_allowed_list' 2>/dev/null
# Swap areas, in any order, with the priority of each.
awk 'NR > 1 { print "/proc/swaps " $1 ":" $NF }' /proc/swaps 2>/dev/null
# What becalm keeps on disk (but for its lock, which stays, and a journal that had not yet got its
# name), and what it may leave in systemd.
find /run/becalm /var/lib/becalm /run/systemd/system /run/systemd/transient -type f ! -name lock ! -name '*.new' \
    2>/dev/null | sed 's/^/file /; s/$/: is there/'
