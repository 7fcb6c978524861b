#!/bin/busybox sh
# First process of the guest: mounts what a Linux system has, loads modules, then does what the host
# says through the virtio port.
/bin/busybox --install -s /bin
export PATH=/lab:/bin HOME=/root
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
mkdir -p /dev/pts /dev/shm
mount -t devpts devpts /dev/pts
mount -t tmpfs tmpfs /dev/shm
mount -t tmpfs -o mode=755 tmpfs /run
mount -t tmpfs tmpfs /tmp
mount -t cgroup2 none /sys/fs/cgroup
mount -t tracefs none /sys/kernel/tracing
chmod 1777 /tmp
# As everywhere else: whoever may write there could replace every file below.
chmod 755 /
ip link set lo up
for module in $(cat /modules); do
    modprobe $module || echo "no module $module"
done

# Waits for the port, which appears a little after its module. How long, is for the host to say.
until PORT=$(ls /dev/vport*p1 2>/dev/null); do
    usleep 100000
done
. /agent
