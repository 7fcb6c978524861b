# A host `bench`, which is this machine, reached by real ssh over the loopback interface, and sessions there whose connection
# is cut. The near end is tester's, the far end root's.
work=/home/tester/work
here=$work/r.json
there=/root/.local/state/becalm/sessions
store=/root/.cache/becalm
# Becalms that run and belong to no session.
others=0

# Waits until a function succeeds, for some minutes at most. The functions start no processes, which would keep the emulated
# CPU busy that the session needs.
until_it() {
    looks=0
    until "$@"; do
        usleep 100000
        looks=$((looks + 1))
        [ $looks -lt 2400 ] || give_up "$@"
    done
}

give_up() {
    echo "in vain: $*"
    cat /run/near
    ps -o pid,ppid,stat,args | grep -v '\['
    tail -n 20 /run/sshd.log
    exit 99
}

near_has_ended() {
    ! [ -e /proc/$near/exe ]
}

far_has_ended() {
    running=0
    for file in /proc/[0-9]*/comm; do
        { read -r name <$file; } 2>/dev/null
        # A server that is stopped leaves a zombie.
        [ -e "${file%comm}exe" ] || name=
        case $name in becalm*) running=$((running + 1)) ;; esac
    done
    [ $running -le $others ]
}

is_tuned() {
    [ -e /var/lib/becalm/journal ] || near_has_ended
}

# A session that continues another has that one's log beside its own.
is_measuring() {
    set -- $there/*.jsonl
    { [ -e "$1" ] && [ $# -gt $known ]; } || near_has_ended
}

# The header, and so many runs that are no warm-up.
has_measured() {
    log=$(ls -t $there/*.jsonl | head -n 1)
    [ $(grep -vc '"warmup":true' "$log") -gt "$1" ] || near_has_ended
}

make_host() {
    blockdev --flushbufs /dev/vda
    (cd / && dd if=/dev/vda bs=1M skip="$1" 2>/dev/null | cpio -idu 2>/dev/null)
    ln -s /usr/bin/ssh /usr/bin/ssh-keygen /bin
    echo 'sshd:x:74:74::/run/sshd:/bin/false' >>/etc/passwd
    settings=/home/tester/.config/becalm
    keys=/home/tester/.ssh
    mkdir -p /run/sshd /etc/ssh /root/.ssh $work $keys $settings
    ssh-keygen -q -t ed25519 -N '' -f /etc/ssh/key
    ssh-keygen -q -t ed25519 -N '' -f $keys/id_ed25519
    cp $keys/id_ed25519.pub /root/.ssh/authorized_keys
    echo "bench $(cat /etc/ssh/key.pub)" >$keys/known_hosts
    printf '%s\n' 'Host bench' 'HostName 127.0.0.1' 'HostKeyAlias bench' 'User root' 'BatchMode yes' >$keys/config
    printf '%s\n' 'ListenAddress 127.0.0.1' 'HostKey /etc/ssh/key' 'PidFile /run/sshd.pid' 'UsePAM no' 'KexAlgorithms curve25519-sha256' \
        'StrictModes no' 'PasswordAuthentication no' 'KbdInteractiveAuthentication no' 'UseDNS no' >/etc/ssh/sshd_config
    printf '#!/bin/sh\nsleep 0.02\n' >$work/a
    printf '#!/bin/sh\nsleep 0.03\n' >$work/b
    chmod 755 $work/a $work/b
    chmod 700 $keys
    chown -R tester /home/tester
    /usr/sbin/sshd -E /run/sshd.log
}

# Forgets every session, as if there had been none.
forget() {
    rm -rf $here $here.* /home/tester/.local $there $store/work
}

# Makes becalm one that is installed there, or one that has to be copied.
installed() {
    echo '[bench]' >/home/tester/.config/becalm/hosts.toml
    case $1 in
    yes) echo 'becalm = "/lab/becalm"' >>/home/tester/.config/becalm/hosts.toml ;;
    no) rm -rf $store ;;
    esac
}

# Starts becalm with these words, as the near end.
begin() {
    cd $work || exit 95
    known=$(ls $there 2>/dev/null | wc -l)
    su tester -c "exec becalm $*" >/run/near 2>&1 &
    near=$!
}

# Waits until a session has come to a phase, and so many microseconds longer.
wait_for() {
    case $1 in
    connecting) ;;
    tuning) until_it is_tuned ;;
    measuring) until_it is_measuring ;;
    restoring) until_it is_measuring && until_it has_measured "$3" ;;
    ended) until_it near_has_ended ;;
    esac
    usleep "$2"
}

clients() {
    for process in $(pidof ssh); do
        case $1$(tr '\0' ' ' </proc/$process/cmdline) in
        master*mux* | all*) echo "$process" ;;
        master* | client*mux*) ;;
        client*) echo "$process" ;;
        esac
    done
}

servers() {
    for process in $(pidof sshd sshd-session); do
        [ "$process" = "$(cat /run/sshd.pid)" ] || echo "$process"
    done
}

end() {
    [ -z "$*" ] || kill -9 "$@" 2>/dev/null
}

# Says whether there is something to cut.
has_connection() {
    case $1 in
    ssh) [ -n "$(clients all)" ] ;;
    master | client) [ -n "$(clients $1)" ] ;;
    sshd | stopped) [ -n "$(servers)" ] ;;
    esac || near_has_ended
}

# Cuts the connection, and waits until both ends have noticed, or only the near one: `early`.
cut() {
    until_it has_connection $1
    frozen=
    case $1 in
    near) end $near ;;
    ssh) end $(clients all) ;;
    master | client) end $(clients $1) ;;
    sshd) end $(servers) ;;
    link) ip link set lo down ;;
    stopped) frozen=$(servers) ;;
    suspended)
        frozen="$near $(clients all)"
        others=1
        ;;
    esac
    [ -z "$frozen" ] || kill -STOP $frozen 2>/dev/null
    [ $1 = suspended ] || until_it near_has_ended
    [ $2 = early ] || until_it far_has_ended
    others=0
    [ $1 != link ] || ip link set lo up
    # A server that is stopped does not hear that its client is gone.
    [ -z "$frozen" ] || [ $1$2 = stoppedearly ] || kill -CONT $frozen 2>/dev/null
    ended
}

# Waits for the end of the near end, and shows how it ended.
ended() {
    until_it near_has_ended
    wait $near
    code=$?
    echo "== code"
    echo $code
    echo "== said"
    cat /run/near
}

# Shows when a session comes to each phase.
phases() {
    for phase in connecting tuning measuring restoring ended; do
        wait_for $phase 0 "$1"
        read -r up idle </proc/uptime
        echo "== at $up"
    done
}

# Ends what is left of connections once the far ends have ended.
tidy() {
    until_it far_has_ended
    end $(clients all) $(servers)
}

# Shows what there is of sessions.
show() {
    for log in $here $here.partial $there/*.jsonl; do
        [ -e "$log" ] || continue
        echo "== log $log"
        cat "$log"
        echo
    done
    echo "== left"
    ls $store/work 2>/dev/null
    cat /proc/[0-9]*/comm 2>/dev/null | grep '^becalm'
    true
}
