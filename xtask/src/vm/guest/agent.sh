# Takes one script a line, in base64; answers `done STATUS LENGTH` and LENGTH bytes of what it wrote.
# PORT is the device that leads to the host.
mkdir -p /run/lab
exec 3<>"$PORT"
echo "ready $(cat /proc/sys/kernel/random/boot_id)" >&3
while read -r line <&3; do
    echo "$line" | base64 -d >/run/lab/script
    sh /run/lab/script >/run/lab/output 2>&1 </dev/null 3>&-
    status=$?
    echo "done $status $(wc -c </run/lab/output)" >&3
    cat /run/lab/output >&3
done
