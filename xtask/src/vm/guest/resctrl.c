/* A resctrl for machines whose processor divides no cache: the files of Intel's CAT and MBA, answered as the kernel
 * answers (fs/resctrl/rdtgroup.c, ctrlmondata.c), for any process and for as long as this one lives.
 *
 *     resctrl FOLDER
 *
 * A file system in user space (FUSE, without its library). It goes to the background when it is mounted. One L3 of
 * eleven ways that all four CPUs share, of which devices use the two highest; bandwidth in percent.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ROOT = FUSE_ROOT_ID, MOST = 64, TEXT = 256 };
#define ALL_CPUS 0xfu
#define ALL_WAYS 0x7ffu

struct node {
    int parent; /* 0: not there */
    char name[32];
    int is_folder;
    char text[TEXT]; /* of files that never change */
    /* Of a group: */
    unsigned cpus, ways, bandwidth;
};
static struct node nodes[MOST];

static int add(int parent, const char *name, int is_folder, const char *text) {
    for (int i = ROOT + 1; i < MOST; i++)
        if (!nodes[i].parent) {
            nodes[i] = (struct node){.parent = parent, .is_folder = is_folder};
            snprintf(nodes[i].name, sizeof nodes[i].name, "%s", name);
            snprintf(nodes[i].text, TEXT, "%s", text);
            return i;
        }
    return 0;
}

static int find(int parent, const char *name) {
    for (int i = ROOT + 1; i < MOST; i++)
        if (nodes[i].parent == parent && !strcmp(nodes[i].name, name)) return i;
    return 0;
}

static void fill(int group, unsigned cpus) {
    add(group, "schemata", 0, "");
    add(group, "cpus_list", 0, "");
    add(group, "mode", 0, "shareable\n");
    nodes[group].cpus = cpus;
    nodes[group].ways = ALL_WAYS;
    nodes[group].bandwidth = 100;
}

static void build(void) {
    nodes[ROOT] = (struct node){.parent = ROOT, .is_folder = 1};
    fill(ROOT, ALL_CPUS);
    int info = add(ROOT, "info", 1, "");
    int l3 = add(info, "L3", 1, "");
    add(l3, "cbm_mask", 0, "7ff\n");
    add(l3, "min_cbm_bits", 0, "1\n");
    add(l3, "num_closids", 0, "16\n");
    add(l3, "shareable_bits", 0, "600\n");
    int mb = add(info, "MB", 1, "");
    add(mb, "bandwidth_gran", 0, "10\n");
    add(mb, "min_bandwidth", 0, "10\n");
    add(mb, "num_closids", 0, "8\n");
}

static int is_group(int node) { return node == ROOT || (nodes[node].parent == ROOT && find(node, "schemata")); }

/* Prints CPUs as ranges. */
static void list(unsigned cpus, char *text) {
    *text = 0;
    for (int cpu = 0; cpu < 32; cpu++) {
        if (!(cpus >> cpu & 1)) continue;
        int last = cpu;
        while (last < 31 && cpus >> (last + 1) & 1) last++;
        text += sprintf(text, last > cpu ? "%s%d-%d" : "%s%d", *text ? "," : "", cpu, last);
        cpu = last;
        if (cpus >> 1 >> cpu) text += sprintf(text, ",");
    }
    strcpy(text, "\n");
}

static void show(int node, char *text) {
    const struct node *file = &nodes[node], *group = &nodes[file->parent];
    if (!strcmp(file->name, "schemata"))
        sprintf(text, "    MB:0=%3u\n    L3:0=%03x\n", group->bandwidth, group->ways);
    else if (!strcmp(file->name, "cpus_list"))
        list(group->cpus, text);
    else
        strcpy(text, file->text);
}

static int set_schemata(struct node *group, char *text) {
    unsigned ways = group->ways, bandwidth = group->bandwidth;
    if (!*text || text[strlen(text) - 1] != '\n') return -EINVAL;
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
        unsigned value;
        if (sscanf(line, " L3:0=%x", &value) == 1) {
            unsigned low = value ? value >> __builtin_ctz(value) : 0;
            if (!value || value & ~ALL_WAYS || low & (low + 1)) return -EINVAL;
            ways = value;
        } else if (sscanf(line, " MB:0=%u", &value) == 1) {
            if (value < 10 || value > 100) return -EINVAL;
            bandwidth = (value + 9) / 10 * 10;
        } else
            return -EINVAL;
    }
    group->ways = ways;
    group->bandwidth = bandwidth;
    return 0;
}

/* CPUs that a group gets leave the others; those that it loses go to the default group. */
static int set_cpus(int group, char *text) {
    unsigned cpus = 0;
    for (char *range = strtok(text, ",\n"); range; range = strtok(NULL, ",\n")) {
        unsigned first, last;
        int n = sscanf(range, "%u-%u", &first, &last);
        if (n < 1) return -EINVAL;
        for (unsigned cpu = first; cpu <= (n == 2 ? last : first); cpu++) {
            if (cpu > 31 || !(ALL_CPUS >> cpu & 1)) return -EINVAL;
            cpus |= 1u << cpu;
        }
    }
    unsigned lost = nodes[group].cpus & ~cpus;
    if (group == ROOT && lost) return -EINVAL;
    for (int i = ROOT; i < MOST; i++)
        if (nodes[i].parent) nodes[i].cpus &= ~cpus;
    nodes[group].cpus = cpus;
    nodes[ROOT].cpus |= lost;
    return 0;
}

static int set(int node, const char *bytes, size_t size) {
    char text[TEXT];
    if (size >= TEXT) return -EINVAL;
    memcpy(text, bytes, size);
    text[size] = 0;
    int group = nodes[node].parent;
    if (!is_group(group)) return -EACCES;
    if (!strcmp(nodes[node].name, "schemata")) return set_schemata(&nodes[group], text);
    if (!strcmp(nodes[node].name, "cpus_list")) return set_cpus(group, text);
    return -EACCES;
}

static void about(int node, struct fuse_attr *attr) {
    *attr = (struct fuse_attr){
        .ino = node,
        .mode = nodes[node].is_folder ? S_IFDIR | 0755 : S_IFREG | 0644,
        .nlink = 1,
        .size = nodes[node].is_folder ? 0 : 4096, /* as in sysfs; nothing is read where there seems to be nothing */
        .blksize = 4096,
    };
}

static int device;

static void answer(const struct fuse_in_header *to, int error, const void *bytes, size_t size) {
    char buffer[8192];
    struct fuse_out_header head = {.len = sizeof head + size, .error = error, .unique = to->unique};
    memcpy(buffer, &head, sizeof head);
    if (size) memcpy(buffer + sizeof head, bytes, size);
    /* Fails where whoever asked has died. */
    if (write(device, buffer, head.len) < 0) return;
}

static void entry(const struct fuse_in_header *to, int node) {
    struct fuse_entry_out out = {.nodeid = node, .generation = 1};
    about(node, &out.attr);
    answer(to, 0, &out, sizeof out);
}

static void read_folder(const struct fuse_in_header *to, int node, const struct fuse_read_in *wish) {
    char bytes[4096];
    size_t size = 0;
    for (int i = wish->offset > ROOT ? wish->offset : ROOT; i + 1 < MOST; i++) {
        const struct node *one = &nodes[i + 1];
        if (one->parent != node) continue;
        struct fuse_dirent *next = (void *)(bytes + size);
        size_t length = strlen(one->name), whole = FUSE_DIRENT_ALIGN(FUSE_NAME_OFFSET + length);
        if (size + whole > wish->size || size + whole > sizeof bytes) break;
        memset(next, 0, whole);
        *next = (struct fuse_dirent){
            .ino = i + 1, .off = i + 1, .namelen = length, .type = (one->is_folder ? S_IFDIR : S_IFREG) >> 12};
        memcpy(next->name, one->name, length);
        size += whole;
    }
    answer(to, 0, bytes, size);
}

static void make_folder(const struct fuse_in_header *to, const char *name) {
    int node;
    if (to->nodeid != ROOT) return answer(to, -EPERM, NULL, 0);
    if (find(ROOT, name)) return answer(to, -EEXIST, NULL, 0);
    if (!(node = add(ROOT, name, 1, ""))) return answer(to, -ENOSPC, NULL, 0);
    fill(node, 0);
    entry(to, node);
}

static void remove_folder(const struct fuse_in_header *to, const char *name) {
    int node = find(to->nodeid, name);
    if (!node) return answer(to, -ENOENT, NULL, 0);
    if (to->nodeid != ROOT || !is_group(node)) return answer(to, -EPERM, NULL, 0);
    nodes[ROOT].cpus |= nodes[node].cpus;
    for (int i = ROOT + 1; i < MOST; i++)
        if (nodes[i].parent == node) nodes[i].parent = 0;
    nodes[node].parent = 0;
    answer(to, 0, NULL, 0);
}

static void serve(const struct fuse_in_header *in) {
    const void *body = in + 1;
    int node = in->nodeid;
    if (node >= MOST || (node && !nodes[node].parent)) return answer(in, -ENOENT, NULL, 0);
    switch (in->opcode) {
    case FUSE_INIT: {
        const struct fuse_init_in *wish = body;
        struct fuse_init_out out = {.major = FUSE_KERNEL_VERSION,
                                    .minor = FUSE_KERNEL_MINOR_VERSION,
                                    .max_readahead = wish->max_readahead,
                                    .max_write = 4096};
        return answer(in, 0, &out, sizeof out);
    }
    case FUSE_LOOKUP: {
        int found = find(node, body);
        return found ? entry(in, found) : answer(in, -ENOENT, NULL, 0);
    }
    case FUSE_GETATTR:
    case FUSE_SETATTR: {
        struct fuse_attr_out out = {0};
        about(node, &out.attr);
        return answer(in, 0, &out, sizeof out);
    }
    case FUSE_OPEN:
    case FUSE_OPENDIR: {
        struct fuse_open_out out = {.open_flags = in->opcode == FUSE_OPEN ? FOPEN_DIRECT_IO : 0};
        return answer(in, 0, &out, sizeof out);
    }
    case FUSE_READ: {
        const struct fuse_read_in *wish = body;
        char text[TEXT];
        show(node, text);
        size_t length = strlen(text), from = wish->offset < length ? wish->offset : length;
        size_t size = length - from < wish->size ? length - from : wish->size;
        return answer(in, 0, text + from, size);
    }
    case FUSE_WRITE: {
        const struct fuse_write_in *wish = body;
        int error = set(node, (const char *)(wish + 1), wish->size);
        struct fuse_write_out out = {.size = wish->size};
        return error ? answer(in, error, NULL, 0) : answer(in, 0, &out, sizeof out);
    }
    case FUSE_READDIR: return read_folder(in, node, body);
    case FUSE_MKDIR: return make_folder(in, (const char *)body + sizeof(struct fuse_mkdir_in));
    case FUSE_RMDIR: return remove_folder(in, body);
    case FUSE_FORGET:
    case FUSE_BATCH_FORGET:
    case FUSE_INTERRUPT: return;
    case FUSE_RELEASE:
    case FUSE_RELEASEDIR:
    case FUSE_FLUSH:
    case FUSE_ACCESS: return answer(in, 0, NULL, 0);
    default: return answer(in, -ENOSYS, NULL, 0);
    }
}

int main(int argc, char **argv) {
    char options[128];
    static union {
        char bytes[64 << 10];
        struct fuse_in_header head;
    } request;
    if (argc != 2) {
        fprintf(stderr, "usage: resctrl FOLDER\n");
        return 99;
    }
    build();
    device = open("/dev/fuse", O_RDWR | O_CLOEXEC);
    snprintf(options, sizeof options, "fd=%d,rootmode=40755,user_id=0,group_id=0,allow_other", device);
    if (device < 0 || mount("resctrl", argv[1], "fuse", MS_NOSUID | MS_NODEV, options)) {
        fprintf(stderr, "resctrl: %s: %s\n", argv[1], strerror(errno));
        return 1;
    }
    if (fork()) return 0;
    setsid();
    close(0);
    close(1);
    close(2);
    for (;;) {
        ssize_t size = read(device, &request, sizeof request);
        if (size >= (ssize_t)sizeof request.head)
            serve(&request.head);
        else if (size < 0 && errno == ENODEV)
            return 0; /* unmounted */
    }
}
