#!/bin/busybox sh
# The initramfs of the Debian guest: finds the disk and hands over.
/bin/busybox --install -s /bin
export PATH=/bin
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
for module in $(cat /modules); do
    modprobe $module
done
until mount -t ext4 /dev/vda /mnt; do
    usleep 100000
done
mount --move /dev /mnt/dev
umount /proc /sys
exec switch_root /mnt /sbin/init
