#!/bin/sh
# Asks the host to cut the power, by a byte to an I/O port that it watches (0x500), and does nothing else from then on.
echo >/run/byte
dd if=/run/byte of=/dev/port bs=1 seek=1280 conv=notrunc 2>/dev/null
while :; do
    sleep 1000
done
