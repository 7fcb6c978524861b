/* Runs a command and kills processes of it when the command is about to make its n-th system call
 * that changes something.
 *
 *     kill_at WHOM N COMMAND [ARGUMENT]...
 *
 * WHOM: `first`, the command itself; `others`, what it has started; `all`. With `@child` behind it, as in
 * `first@child`, the calls of the first process that the command starts count and not its own. `do:SCRIPT` kills
 * nobody of them: it is a script of the shell, which kills others, and the command waits for its end; one that fails has
 * killed nobody. N 0 kills nobody. Says `killed at N: CALL` or `ended with STATUS after N calls`, once every process
 * has ended.
 *
 * strace can do this too, but it stops the command at every call (ten seconds where this takes two)
 * or, with a filter, loses the processes that are to live on. Here a seccomp filter stops only at the
 * calls that count, and every process is followed to its end.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static const struct {
    int number;
    const char *name;
} CALLS[] = {
    {SYS_write, "write"},         {SYS_writev, "writev"},       {SYS_pwrite64, "pwrite"},
    {SYS_mkdir, "mkdir"},         {SYS_mkdirat, "mkdirat"},     {SYS_rmdir, "rmdir"},
    {SYS_unlink, "unlink"},       {SYS_unlinkat, "unlinkat"},   {SYS_rename, "rename"},
    {SYS_renameat, "renameat"},   {SYS_renameat2, "renameat2"}, {SYS_ftruncate, "ftruncate"},
    {SYS_fsync, "fsync"},         {SYS_fdatasync, "fdatasync"}, {SYS_sched_setaffinity, "affinity"},
    {SYS_sendto, "sendto"},       {SYS_sendmsg, "sendmsg"},     {SYS_flock, "flock"},         {SYS_clone, "clone"},
    {SYS_clone3, "clone3"},       {SYS_execve, "execve"},       {SYS_ioprio_set, "ioprio_set"},
    {SYS_swapon, "swapon"},       {SYS_swapoff, "swapoff"},
};
enum { N_CALLS = sizeof CALLS / sizeof *CALLS };

static void fail(const char *what) {
    fprintf(stderr, "kill_at: %s: %s\n", what, strerror(errno));
    exit(99);
}

/* Makes the calls above stop for the tracer; all others go on at full speed. */
static void filter(void) {
    struct sock_filter code[N_CALLS + 4];
    int n = 0;
    code[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    for (int i = 0; i < N_CALLS; i++) /* Jumps to the last instruction. */
        code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, CALLS[i].number, N_CALLS - i, 0);
    code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE);
    struct sock_fprog program = {.len = n, .filter = code};
    /* As root this needs no `no_new_privs`, which subjects would inherit. */
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) fail("seccomp");
}

enum { MOST = 4096 };
static pid_t others[MOST];
static int n_others;

static void remember(pid_t id) {
    for (int i = 0; i < n_others; i++)
        if (others[i] == id) return;
    if (n_others < MOST) others[n_others++] = id;
}

static void forget(pid_t id) {
    for (int i = 0; i < n_others; i++)
        if (others[i] == id) others[i--] = others[--n_others];
}

int main(int argc, char **argv) {
    if (argc < 4) {
        fprintf(stderr, "usage: kill_at first|others|all[@child]|do:SCRIPT N COMMAND...\n");
        return 99;
    }
    const char *script = strncmp(argv[1], "do:", 3) == 0 ? argv[1] + 3 : NULL;
    int kills_first = !script && strncmp(argv[1], "others", 6) != 0;
    int kills_others = !script && strncmp(argv[1], "first", 5) != 0;
    int counts_child = !script && strchr(argv[1], '@') != NULL;
    pid_t counted = 0;
    long at = atol(argv[2]), n = 0;
    const char *killed = NULL;
    int first_status = 0;

    pid_t first = fork();
    if (first < 0) fail("fork");
    if (!counts_child) counted = first;
    if (first == 0) {
        raise(SIGSTOP);
        filter();
        execvp(argv[3], argv + 3);
        fail(argv[3]);
    }
    int status;
    if (waitpid(first, &status, WUNTRACED) != first) fail("waitpid");
    long options = PTRACE_O_TRACESECCOMP | PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK |
                   PTRACE_O_TRACEVFORK | PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL;
    if (ptrace(PTRACE_SEIZE, first, 0, options)) fail("ptrace");
    kill(first, SIGCONT);

    /* The call that starts the command itself is not one of its own. */
    int has_started = 0;
    for (;;) {
        pid_t id = waitpid(-1, &status, __WALL);
        if (id < 0 && errno == EINTR) continue;
        if (id < 0) break;
        if (WIFEXITED(status) || WIFSIGNALED(status)) {
            if (id == first) first_status = status;
            forget(id);
            continue;
        }
        if (id != first) remember(id);
        if (id != first && !counted) counted = id;
        int event = status >> 16, signal = 0;
        if (event == PTRACE_EVENT_SECCOMP && id == counted && has_started && ++n == at) {
            struct __ptrace_syscall_info info = {0};
            ptrace(PTRACE_GET_SYSCALL_INFO, id, sizeof info, &info);
            const char *call = "?";
            for (int i = 0; i < N_CALLS; i++)
                if ((int)info.seccomp.nr == CALLS[i].number) call = CALLS[i].name;
            if (!script || system(script) == 0) killed = call;
            for (int i = 0; kills_others && i < n_others; i++) kill(others[i], SIGKILL);
            if (kills_first) kill(first, SIGKILL);
        } else if (event == PTRACE_EVENT_EXEC && id == first) {
            has_started = 1;
        } else if (event == 0 && WIFSTOPPED(status)) {
            signal = WSTOPSIG(status);
        }
        ptrace(PTRACE_CONT, id, 0, signal);
    }
    if (killed)
        printf("killed at %ld: %s\n", at, killed);
    else
        printf("ended with %d after %ld calls\n",
               WIFEXITED(first_status) ? WEXITSTATUS(first_status) : 128 + WTERMSIG(first_status), n);
    return 0;
}
