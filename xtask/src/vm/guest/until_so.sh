#!/bin/sh
# Waits until a command succeeds, for some minutes at most: for less than the host waits for a script.
n=0
until eval "$1" >/dev/null 2>&1; do
    sleep 0.05
    n=$((n + 1))
    [ $n -lt 4800 ] || { echo "until_so: in vain: $1"; exit 99; }
done
