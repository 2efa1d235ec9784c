/* SPDX-License-Identifier: Apache-2.0
 * Trees: writing while somebody asks, reading the words back. */
#include "microbench/host/tree.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"

enum { PATH = 1024 };
static const char head[] = "deepgemm-machine/1\n", words_name[] = "machine";

/* ---- what is kept of a file ---- */

/* Files that hold more than is asked: lines that begin so. */
enum { STARTS = 6 };
static const struct { const char *path, *starts[STARTS]; } kept[] = {
    {"/proc/cpuinfo", {"processor", "vendor_id", "model name", "microcode", "CPU implementer",
                       "CPU part"}},
    {"/proc/meminfo", {"MemAvailable", "MemFree"}},
    {"/proc/self/status", {"VmSize"}},
};

static bool starts_with(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

static void keep_line(char *to, size_t *used, const char *line, size_t length)
{
    memmove(to + *used, line, length);
    *used += length;
    to[(*used)++] = '\n';
}

/* In place. */
static size_t keep_starts(char *text, const char *const *starts)
{
    size_t used = 0;
    for (const char *line = text; *line != '\0';) {
        size_t length = strcspn(line, "\n");
        bool end = line[length] == '\0';
        const char *next = line + length + !end;
        for (size_t i = 0; i < STARTS && starts[i] != NULL; i++)
            if (starts_with(line, starts[i]) && !end) {
                keep_line(text, &used, line, length);
                break;
            }
        line = next;
    }
    return used;
}

/* Times of CPUs, and the sums of interrupts and switches: not when the machine was started. */
static size_t keep_stat(char *text)
{
    size_t used = 0;
    for (const char *line = text; *line != '\0';) {
        size_t length = strcspn(line, "\n");
        const char *next = line + length + (line[length] == '\n');
        if (starts_with(line, "intr "))
            length = 5 + strcspn(line + 5, " \n");
        if (*next != '\0' || line[length] == '\n')
            if (starts_with(line, "intr ") || starts_with(line, "cpu") ||
                starts_with(line, "ctxt "))
                keep_line(text, &used, line, length);
        line = next;
    }
    return used;
}

/* "/user.slice/user-1000.slice" becomes "/g1/g2": names of groups tell who runs what. */
static void rename_groups(const char *path, size_t length, char *out, size_t size)
{
    size_t used = 0;
    unsigned depth = 0;
    out[0] = '\0';
    for (size_t i = 0; i < length; i++)
        if (path[i] == '/' && i + 1 < length && path[i + 1] != '/' && used < size)
            used += dg_format(out + used, size - used, "/g%u", ++depth);
    if (depth == 0)
        dg_format(out, size, "/");
}

/* The process's groups: hierarchies without a controller are not asked for. */
static size_t keep_groups(const char *text, char *out, size_t size)
{
    size_t used = 0;
    for (const char *line = text; *line != '\0';) {
        size_t length = strcspn(line, "\n");
        const char *names = memchr(line, ':', length), *path = NULL;
        char groups[PATH], before[PATH] = "";
        if (names != NULL)
            path = memchr(names + 1, ':', length - (size_t)(names + 1 - line));
        if (path != NULL && !starts_with(names, ":name=") && used < size) {
            size_t part = (size_t)(path - line);
            memcpy(before, line, part < PATH ? part : PATH - 1);
            rename_groups(path + 1, length - part - 1, groups, sizeof groups);
            used += dg_format(out + used, size - used, "%s:%s\n", before, groups);
        }
        line += length + (line[length] == '\n');
    }
    return used < size ? used : size - 1;
}

/* The place of a group's file in the tree, with its groups renamed. */
static void group_path(const char *path, char *out, size_t size)
{
    static const char root[] = "/sys/fs/cgroup";
    static const char *const controllers[] = {"/memory/", "/cpu/", "/cpu,cpuacct/"};
    char groups[PATH] = "", before[64] = "";
    size_t skip = sizeof root - 1;
    for (size_t i = 0; i < sizeof controllers / sizeof *controllers; i++)
        if (starts_with(path + sizeof root - 1, controllers[i]))
            skip = sizeof root - 1 + strlen(controllers[i]) - 1;
    const char *file = strrchr(path, '/');
    if (file > path + skip)
        rename_groups(path + skip, (size_t)(file - path) - skip, groups, sizeof groups);
    memcpy(before, path, skip);
    dg_format(out, size, "%s%s%s", before, groups, file);
}

/* ---- writing ---- */

static bool put_file(struct dg_tree_writer *w, const char *path, const char *text, size_t length)
{
    char full[PATH];
    if (dg_format(full, sizeof full, "%s%s", w->folder, path) >= sizeof full)
        return dg_fail(w->error, DG_EXIT_UNAVAILABLE, path, "the path is too long", "",
                       "choose a folder with a shorter name");
    if (access(full, F_OK) == 0)
        return true;                             /* asked and kept before */
    char *slash = strrchr(full, '/');
    *slash = '\0';
    if (!dg_folder_make(full, w->error))
        return false;
    *slash = '/';
    FILE *file = fopen(full, "w");
    bool ok = file != NULL && fwrite(text, 1, length, file) == length;
    ok = file != NULL && fclose(file) == 0 && ok;
    w->files += ok;
    return ok || dg_fail(w->error, DG_EXIT_UNAVAILABLE, full, "cannot be written",
                         dg_errno_name(errno), "choose a folder on a disk with room");
}

static void keep(struct dg_tree_writer *w, const char *path, const char *text, size_t length)
{
    char place[PATH], *copy = malloc(2 * length + 64);
    dg_format(place, sizeof place, "%s", path);
    if (copy == NULL || w->failed) {
        w->failed = true;
        free(copy);
        return;
    }
    memcpy(copy, text, length + 1);
    if (strcmp(path, "/proc/stat") == 0)
        length = keep_stat(copy);
    else if (strcmp(path, "/proc/self/cgroup") == 0)
        length = keep_groups(text, copy, 2 * length + 64);
    else if (starts_with(path, "/sys/fs/cgroup/"))
        group_path(path, place, sizeof place);
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        if (strcmp(path, kept[i].path) == 0)
            length = keep_starts(copy, kept[i].starts);
    w->failed = !put_file(w, place, copy, length);
    free(copy);
}

/* Folders are not kept: their files make them. */
static long writer_read_folder(struct dg_host *host, const char *path, char *out, size_t size)
{
    struct dg_host *inner = ((struct dg_tree_writer *)(void *)host)->inner;
    return inner->read_folder(inner, path, out, size);
}

static long writer_read_file(struct dg_host *host, const char *path, char *out, size_t size)
{
    struct dg_tree_writer *w = (struct dg_tree_writer *)(void *)host;
    enum { WHOLE = 1 << 20 };                    /* a caller may ask for a part only */
    long n = w->inner->read_file(w->inner, path, out, size);
    char *all = n < 0 ? NULL : malloc(WHOLE);
    long length = all != NULL ? w->inner->read_file(w->inner, path, all, WHOLE) : -1;
    if (length >= 0)
        keep(w, path, all, (size_t)length);
    free(all);
    return n;
}

static bool writer_cpuid(struct dg_host *host, uint32_t leaf, uint32_t subleaf, uint32_t out[4])
{
    struct dg_tree_writer *w = (struct dg_tree_writer *)(void *)host;
    char line[96];
    if (!w->inner->cpuid(w->inner, leaf, subleaf, out))
        return false;
    dg_format(line, sizeof line, "cpuid %08x %x %08x %08x %08x %08x\n", leaf, subleaf, out[0],
             out[1], out[2], out[3]);
    if (strstr(dg_str_text(&w->words), line) == NULL)
        dg_str_add(&w->words, line);
    return true;
}

/* Every CPU that is online, so that all of them are asked for. */
static bool writer_affinity(struct dg_host *host, struct dg_cpus *out)
{
    char text[4096];
    if (host->read_file(host, "/sys/devices/system/cpu/online", text, sizeof text) > 0 &&
        dg_cpus_parse(text, out) && dg_cpus_count(out) > 0)
        return true;
    struct dg_tree_writer *w = (struct dg_tree_writer *)(void *)host;
    return w->inner->get_affinity(w->inner, out);
}

static void add_words(struct dg_tree_writer *w)
{
    char line[4200], list[4096];
    struct dg_cpus cpus;
    dg_str_add(&w->words, head);
    dg_format(line, sizeof line, "architecture %s\n", w->inner->machine);
    dg_str_add(&w->words, line);
    if (w->inner->get_affinity(w->inner, &cpus)) {
        dg_cpus_format(&cpus, list, sizeof list);
        dg_format(line, sizeof line, "affinity %s\n", list);
        dg_str_add(&w->words, line);
    }
    dg_format(line, sizeof line, "xcr0 %llx\nhwcap 0 %llx\nhwcap 1 %llx\nctr %llx\n",
             (unsigned long long)w->inner->xcr0(w->inner),
             (unsigned long long)w->inner->hwcap(w->inner, 0),
             (unsigned long long)w->inner->hwcap(w->inner, 1),
             (unsigned long long)w->inner->cache_type(w->inner));
    dg_str_add(&w->words, line);
}

bool dg_tree_create(struct dg_tree_writer *w, struct dg_host *inner, const char *folder,
                    struct dg_arena *arena, struct dg_error *e)
{
    char names[256];
    *w = (struct dg_tree_writer){.host = *inner, .inner = inner, .folder = folder, .error = e};
    if (!dg_folder_make(folder, e))
        return false;
    if (inner->read_folder(inner, folder, names, sizeof names) > 0)
        return dg_fail(e, DG_EXIT_USAGE, folder, "must be empty or not exist",
                       "it holds files", "give another folder");
    w->host.read_file = writer_read_file;
    w->host.read_folder = writer_read_folder;
    w->host.cpuid = writer_cpuid;
    w->host.get_affinity = writer_affinity;
    dg_str_init(&w->words, arena);
    add_words(w);
    return true;
}

bool dg_tree_finish(struct dg_tree_writer *w)
{
    const char *text = dg_str_text(&w->words);
    if (w->failed)
        return false;
    if (w->words.failed)
        return dg_fail_memory(w->error, "");
    char path[sizeof words_name + 1];
    dg_format(path, sizeof path, "/%s", words_name);
    return put_file(w, path, text, strlen(text));
}

/* ---- reading ---- */

struct cpuid_row { uint32_t leaf, subleaf, out[4]; };
struct words {
    struct cpuid_row *cpuid;
    size_t count;
    uint64_t xcr0, hwcap[2], cache_type;
    struct dg_cpus affinity;
    char machine[16];
    bool has_affinity;
};

static bool told_cpuid(struct dg_host *host, uint32_t leaf, uint32_t subleaf, uint32_t out[4])
{
    const struct words *w = host->self;
    memset(out, 0, 4 * sizeof *out);
    for (size_t i = 0; i < w->count; i++)
        if (w->cpuid[i].leaf == leaf && w->cpuid[i].subleaf == subleaf)
            memcpy(out, w->cpuid[i].out, sizeof w->cpuid[i].out);
    return w->count > 0;
}

static uint64_t told_xcr0(struct dg_host *host)
{
    return ((const struct words *)host->self)->xcr0;
}

static uint64_t told_hwcap(struct dg_host *host, unsigned word)
{
    return ((const struct words *)host->self)->hwcap[word & 1];
}

static uint64_t told_cache_type(struct dg_host *host)
{
    return ((const struct words *)host->self)->cache_type;
}

static bool told_affinity(struct dg_host *host, struct dg_cpus *out)
{
    const struct words *w = host->self;
    *out = w->affinity;
    return w->has_affinity;
}

/* The C library asks CPUID of its own: what it says is about this machine. */
static long told_sysconf(struct dg_host *host, int name)
{
    (void)host, (void)name;
    return -1;
}

static bool take_line(struct words *w, const char *line, struct dg_arena *arena, size_t room)
{
    unsigned long long value;
    unsigned word;
    struct cpuid_row row;
    if (sscanf(line, "cpuid %x %x %x %x %x %x", &row.leaf, &row.subleaf, &row.out[0], &row.out[1],
               &row.out[2], &row.out[3]) == 6) {
        if (w->cpuid == NULL)
            w->cpuid = dg_alloc_array(arena, room, sizeof *w->cpuid);
        if (w->cpuid == NULL)
            return false;
        w->cpuid[w->count++] = row;
        return true;
    }
    if (sscanf(line, "hwcap %u %llx", &word, &value) == 2 && word < 2) {
        w->hwcap[word] = value;
        return true;
    }
    if (sscanf(line, "xcr0 %llx", &value) == 1) {
        w->xcr0 = value;
        return true;
    }
    if (sscanf(line, "ctr %llx", &value) == 1) {
        w->cache_type = value;
        return true;
    }
    if (starts_with(line, "affinity "))
        return w->has_affinity = dg_cpus_parse(line + 9, &w->affinity);
    return sscanf(line, "architecture %15s", w->machine) == 1;
}

static bool take_words(struct words *w, char *text, const char *path, struct dg_arena *arena,
                       struct dg_error *e)
{
    size_t room = strlen(text) / 16 + 1;
    unsigned number = 2;
    if (!starts_with(text, head))
        return dg_fail(e, DG_EXIT_INPUT, path, "must begin with deepgemm-machine/1", "",
                       "give a folder that deepgemm-probe record wrote");
    for (char *line = text + sizeof head - 1; *line != '\0'; number++) {
        char *end = line + strcspn(line, "\n");
        bool last = *end == '\0';
        *end = '\0';
        if (!take_line(w, line, arena, room)) {
            char where[PATH];
            dg_format(where, sizeof where, "%s:%u", path, number);
            return dg_fail(e, DG_EXIT_INPUT, where, "is no line of a machine file", line,
                           "record the machine again");
        }
        line = end + !last;
    }
    return w->machine[0] != '\0' ||
           dg_fail(e, DG_EXIT_INPUT, path, "names no architecture", "", "record it again");
}

bool dg_tree_words(struct dg_host *host, const char *folder, struct dg_arena *arena,
                   struct dg_error *e)
{
    enum { MOST = 1 << 20 };
    char path[PATH];
    *e = (struct dg_error){0};
    dg_format(path, sizeof path, "%s/%s", folder, words_name);
    if (access(path, F_OK) != 0)
        return false;
    struct words *w = dg_alloc(arena, sizeof *w);
    char *text = w != NULL ? dg_file_read(path, MOST, arena, NULL, e) : NULL;
    if (text == NULL || !take_words(w, text, path, arena, e))
        return false;
    host->self = w;
    host->machine = w->machine;
    host->cpuid = told_cpuid;
    host->xcr0 = told_xcr0;
    host->hwcap = told_hwcap;
    host->cache_type = told_cache_type;
    host->get_affinity = told_affinity;
    host->sysconf = told_sysconf;
    return true;
}
