# The worker of `becalm timeit` for shells: times the statement that lies beside it.
#
#     worker.sh calibrate MIN_NANOSECONDS      doubles the loops until a value takes so long
#     worker.sh run LOOPS WARMUPS VALUES       times values of so many loops
#
# A shell has no monotonic clock, so a step of the system's clock falls into a value. It is read from
# EPOCHREALTIME (bash 5), in microseconds. Elsewhere `date` has to be started, which takes about a
# millisecond; the shortest of a few starts is taken off every value, and a value takes at least fifty times
# as long.
becalm_folder=${0%/*}
becalm_most=4294967296

# What the statement prints must not come between the results.
exec 3>&1 >/dev/null

if [ -n "$EPOCHREALTIME" ]; then
    # The point is a comma in some languages.
    # Read once: a second could begin between two readings.
    becalm_read='becalm_now=$EPOCHREALTIME; becalm_now=${becalm_now%[.,]*}${becalm_now#*[.,]}000'
else
    becalm_read='becalm_now=$(date +%s%N)'
    case $(date +%s%N) in
        *N* | '' | ???????????) echo "the clock cannot be read: this shell has no EPOCHREALTIME, and date has no %N" >&2; exit 1 ;;
    esac
fi

becalm_setup=$(cat "$becalm_folder/setup")
becalm_statement=$(cat "$becalm_folder/statement")
becalm_teardown=$(cat "$becalm_folder/teardown")

# Parsed once; each loop then executes what was parsed.
eval "becalm_inner() {
$becalm_setup
becalm_each=0
$becalm_read
becalm_start=\$becalm_now
while [ \"\$becalm_each\" -lt \"\$becalm_loops\" ]; do
becalm_each=\$((becalm_each + 1))
$becalm_statement
done
$becalm_read
becalm_value=\$((becalm_now - becalm_start - becalm_clock))
$becalm_teardown
}
becalm_idle() {
$becalm_read
becalm_start=\$becalm_now
$becalm_read
becalm_value=\$((becalm_now - becalm_start))
}" || exit 1

becalm_clock=1000000000
for becalm_try in 1 2 3 4 5; do
    becalm_idle
    [ "$becalm_value" -lt "$becalm_clock" ] && becalm_clock=$becalm_value
done

becalm_measure() {
    becalm_inner
    [ "$becalm_value" -ge 0 ] || becalm_value=0
}

becalm_values() {
    becalm_left=$1
    becalm_list=
    while [ "$becalm_left" -gt 0 ]; do
        becalm_measure
        becalm_list="$becalm_list${becalm_list:+, }$becalm_value"
        becalm_left=$((becalm_left - 1))
    done
}

if [ "$1" = calibrate ]; then
    becalm_least=$2
    [ "$becalm_least" -ge $((50 * becalm_clock)) ] || becalm_least=$((50 * becalm_clock))
    becalm_loops=1
    becalm_raw=
    while :; do
        becalm_measure
        # With `date` for a clock, one delay looks like enough work, and values of so few loops then take no time
        # that it can tell: a second value has to take so long too.
        if [ "$becalm_value" -ge "$becalm_least" ]; then
            becalm_longest=$becalm_value
            becalm_measure
            [ "$becalm_value" -le "$becalm_longest" ] || becalm_value=$becalm_longest
        fi
        becalm_raw="$becalm_raw${becalm_raw:+, }[$becalm_loops, $becalm_value]"
        [ "$becalm_value" -lt "$becalm_least" ] && [ "$becalm_loops" -lt "$becalm_most" ] || break
        becalm_loops=$((becalm_loops * 2))
    done
    becalm_version=${BASH_VERSION:+bash $BASH_VERSION}
    printf '{"loops": %s, "raw": [%s], "program": "", "version": "%s"}\n' \
        "$becalm_loops" "$becalm_raw" "$becalm_version" >&3
else
    becalm_loops=$2
    becalm_wanted=$4
    becalm_values "$3"
    becalm_warmups=$becalm_list
    becalm_values "$becalm_wanted"
    printf '{"loops": %s, "warmups": [%s], "values": [%s]}\n' \
        "$becalm_loops" "$becalm_warmups" "$becalm_list" >&3
fi
