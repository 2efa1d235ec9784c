/* SPDX-License-Identifier: Apache-2.0
 *
 * Build-time program: writes files as a table of names and texts (verify/sources.h).
 * Usage: embed OUT FILE... ; a name is the file's path from its last verify/ or deepgemm/ on, as
 * the sources include each other. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static bool write_bytes(FILE *out, const char *path, size_t number)
{
    FILE *in = fopen(path, "rb");
    int c, column = 0;
    if (in == NULL)
        return false;
    fprintf(out, "static const unsigned char text_%zu[] = {\n", number);
    while ((c = fgetc(in)) != EOF)
        fprintf(out, "%d,%s", c, ++column % 24 == 0 ? "\n" : "");
    fputs("0};\n", out);
    bool ok = !ferror(in);
    fclose(in);
    return ok;
}

static const char *last_folder(const char *path, const char *folder)
{
    const char *found = NULL;
    for (const char *at = path; (at = strstr(at, folder)) != NULL; at++)
        found = at + 1;
    return found;
}

static const char *name_of(const char *path)
{
    const char *a = last_folder(path, "/verify/"), *b = last_folder(path, "/deepgemm/");
    return a == NULL && b == NULL ? path : a == NULL || (b != NULL && b > a) ? b : a;
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    FILE *out = fopen(argv[1], "w");
    size_t files = (size_t)argc - 2;
    bool ok = out != NULL;
    if (ok)
        fputs("/* Made by verify/embed.c. */\n#include \"verify/sources.h\"\n", out);
    for (size_t i = 0; ok && i < files; i++)
        ok = write_bytes(out, argv[i + 2], i);
    if (!ok)
        return 1;
    fputs("const struct dg_source dg_runner_sources[] = {\n", out);
    for (size_t i = 0; i < files; i++)
        fprintf(out, "{\"%s\", (const char *)text_%zu, sizeof text_%zu - 1},\n",
                name_of(argv[i + 2]), i, i);
    fputs("{0, 0, 0}};\n", out);
    ok = !ferror(out);
    return fclose(out) != 0 || !ok;
}
