# Records every switch on two CPUs while a subject is measured on them alone, and prints who ran there
# between the subject's first and last moment: `subject NAME N` or `foreign NAME N`.
trace=/sys/kernel/tracing
cd /tmp
# What makes the kernel patch its code for all CPUs, as a tracepoint or a counter does, is done while nothing runs on
# them: QEMU is not good at it.
echo 0 >$trace/tracing_on
echo 16384 >$trace/buffer_size_kb
echo >$trace/trace
echo 1 >$trace/events/sched/sched_switch/enable
# Something that would like to run there.
for i in 1 2 3 4; do
    sh -c 'while :; do :; done' &
    busy="$busy $!"
done
echo 1 >$trace/tracing_on
# The subject marks its beginning and end in the trace, and says where it may run. It starts no process,
# which would have the name of another for a moment.
cat >subject.sh <<'S'
echo "subject begins" >/sys/kernel/tracing/trace_marker
while read -r name value; do
    [ "$name" = Cpus_allowed_list: ] && echo "$value" >/tmp/cpus
done </proc/self/status
n=0
while [ $n -lt 60000 ]; do n=$((n + 1)); done
echo "subject ends" >/sys/kernel/tracing/trace_marker
S
becalm run --isolate --counters none --threads 2 --rounds 1 --warmup 0 -- sh /tmp/subject.sh >said 2>&1
status=$?
echo 0 >$trace/tracing_on
kill $busy
wait $busy
echo 0 >$trace/events/sched/sched_switch/enable
cat $trace/trace >switches
echo 1408 >$trace/buffer_size_kb
cat said
echo "cpus $(cat cpus)"
# User threads only: a kernel thread of a CPU belongs to that CPU.
awk -v cpus="$(cat cpus)" '
    BEGIN {
        split(cpus, ranges, ",")
        for (i in ranges) {
            n = split(ranges[i], ends, "-")
            for (cpu = ends[1]; cpu <= ends[n]; cpu++) mine[cpu + 0] = 1
        }
    }
    /subject begins/ { inside = 1 }
    /subject ends/ { inside = 0 }
    inside && /sched_switch:/ {
        match($0, /\[[0-9]+\]/)
        if (!(substr($0, RSTART + 1, RLENGTH - 2) + 0 in mine)) next
        match($0, /next_comm=[^=]* next_pid=[0-9]+/)
        ran[substr($0, RSTART, RLENGTH)]++
    }
    END { for (who in ran) print ran[who], who }
' switches >ran
while read -r n who; do
    pid=${who##*next_pid=}
    name=${who#next_comm=}
    name=${name% next_pid=*}
    # Kernel threads have no command line, and are still there but for some workers; pid 0 is the idle CPU.
    if [ "$pid" = 0 ] || [ "${name#kworker/}" != "$name" ] ||
        { [ -e /proc/$pid/cmdline ] && [ -z "$(cat /proc/$pid/cmdline)" ]; }; then
        echo "kernel $name $n"
    elif [ "$name" = sh ] && ! echo "$busy " | grep -q " $pid "; then
        echo "subject $name $n"
    else
        echo "foreign $name $n"
    fi
done <ran
rm -f subject.sh said cpus switches ran
exit $status
