/* SPDX-License-Identifier: Apache-2.0 */
#include "verify/locate.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "emit/write/manifest.h"

static bool ends_with(const char *text, const char *end)
{
    size_t a = strlen(text), b = strlen(end);
    return a > b && strcmp(text + a - b, end) == 0;
}

/* A folder may hold other JSON files (a profile, a report): manifests name their schema. */
static bool is_manifest(const char *path)
{
    struct dg_arena arena;
    struct dg_error ignored;
    size_t size;
    dg_arena_init(&arena);
    const char *text = dg_file_read(path, 16u << 20, &arena, &size, &ignored);
    bool found = text != NULL && strstr(text, "\"deepgemm-manifest/") != NULL;
    dg_arena_free(&arena);
    return found;
}

/* NAME.json beside NAME.o is the manifest of a kernel also when nothing in it can be read: passing
 * over it would let a kernel pass unchecked. */
static bool has_object(const char *manifest)
{
    char path[4096];
    size_t stem = strlen(manifest) - strlen(".json");
    if (stem + sizeof ".o" > sizeof path)
        return false;
    memcpy(path, manifest, stem);
    memcpy(path + stem, ".o", sizeof ".o");
    return access(path, F_OK) == 0;
}

static bool add(struct dg_manifest_list *list, struct dg_arena *arena, const char *path)
{
    if ((list->count & (list->count - 1)) == 0) {
        const char **wider = dg_alloc_array(arena, list->count == 0 ? 1 : 2 * list->count,
                                            sizeof *wider);
        if (wider == NULL)
            return false;
        for (size_t i = 0; i < list->count; i++)
            wider[i] = list->paths[i];
        list->paths = wider;
    }
    return (list->paths[list->count++] = dg_strdup(arena, path)) != NULL;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static char *join(struct dg_arena *arena, const char *folder, const char *name)
{
    size_t size = strlen(folder) + strlen(name) + 2;
    char *path = dg_alloc(arena, size);
    if (path != NULL)
        dg_format(path, size, "%s/%s", folder, name);
    return path;
}

static bool add_folder(const char *path, struct dg_arena *arena, struct dg_manifest_list *out,
                       struct dg_error *e)
{
    DIR *folder = opendir(path);
    if (folder == NULL)
        return dg_fail(e, DG_EXIT_INPUT, path, "cannot be read", strerror(errno),
                       "give a folder that can be read");
    bool ok = true;
    for (struct dirent *entry; ok && (entry = readdir(folder)) != NULL;) {
        if (!ends_with(entry->d_name, ".json"))
            continue;
        char *full = join(arena, path, entry->d_name);
        ok = full != NULL &&
             ((!is_manifest(full) && !has_object(full)) || add(out, arena, full));
    }
    closedir(folder);
    if (!ok)
        return dg_fail_memory(e, path);
    if (out->count == 0)
        return dg_fail(e, DG_EXIT_INPUT, path, "has no kernel (no NAME.json of deepgemm-gen)", NULL,
                       "give the folder that deepgemm-gen -o wrote to");
    qsort(out->paths, out->count, sizeof *out->paths, by_name);
    return true;
}

/* The other files of a kernel, which people name as well. */
static bool is_other_file(const char *path)
{
    return ends_with(path, ".s") || ends_with(path, ".h") || ends_with(path, ".a");
}

static bool not_verified(const char *path, struct dg_error *e)
{
    const char *slash = strrchr(path, '/'), *name = slash == NULL ? path : slash + 1;
    char todo[sizeof e->todo], stem[128];
    dg_format(stem, sizeof stem, "%s", name + (ends_with(name, ".a") && name[0] == 'l' ? 3 : 0));
    char *end = strrchr(stem, '.');
    if (end != NULL)                     /* a very long name was cut */
        *end = '\0';
    dg_format(todo, sizeof todo, "give %s.json or %s.o in the same folder; a source that was "
              "edited counts once it is assembled to %s.o", stem, stem, stem);
    return dg_fail(e, DG_EXIT_INPUT, path, "is not what is verified: that is the object",
                   strrchr(name, '.'), todo);
}

bool dg_locate_manifests(const char *path, struct dg_arena *arena, struct dg_manifest_list *out,
                         struct dg_error *e)
{
    struct stat status;
    *out = (struct dg_manifest_list){0};
    if (stat(path, &status) != 0)
        return dg_fail(e, DG_EXIT_INPUT, path, "cannot be read", strerror(errno),
                       "give the folder that deepgemm-gen -o wrote to, a NAME.json or a NAME.o");
    if (S_ISDIR(status.st_mode))
        return add_folder(path, arena, out, e);
    char *manifest = dg_strdup(arena, path);
    if (manifest == NULL)
        return dg_fail_memory(e, path);
    if (ends_with(path, ".o")) {
        size_t size = strlen(path) + 8;
        manifest = dg_alloc(arena, size);
        if (manifest == NULL)
            return dg_fail_memory(e, path);
        memcpy(manifest, path, strlen(path) - 2);
        memcpy(manifest + strlen(path) - 2, ".json", sizeof ".json");
        if (stat(manifest, &status) != 0)
            return dg_fail(e, DG_EXIT_INPUT, manifest, "the manifest of an object stands beside it",
                           strerror(errno), "generate the kernel again, or give its NAME.json");
    } else if (is_other_file(path)) {
        return not_verified(path, e);
    } else if (!ends_with(path, ".json")) {
        return dg_fail(e, DG_EXIT_INPUT, path, "is not a folder, a NAME.json or a NAME.o", NULL,
                       "give one of these");
    }
    if (!add(out, arena, manifest))
        return dg_fail_memory(e, path);
    return true;
}
