/* SPDX-License-Identifier: Apache-2.0
 *
 * Build-time program: writes a text file as a C string literal, from its first #include line on,
 * so that the argument block of generated headers has one source. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    char line[512];
    bool on = false;
    if (argc != 4)
        return 2;
    FILE *in = fopen(argv[1], "r"), *out = fopen(argv[2], "w");
    if (in == NULL || out == NULL)
        return 1;
    fprintf(out, "static const char %s[] =\n", argv[3]);
    while (fgets(line, sizeof line, in) != NULL) {
        on = on || strncmp(line, "#include", 8) == 0;
        line[strcspn(line, "\n")] = '\0';
        if (!on)
            continue;
        fputs("    \"", out);
        for (const char *c = line; *c != '\0'; c++) {
            if (*c == '"' || *c == '\\')
                fputc('\\', out);
            fputc(*c, out);
        }
        fputs("\\n\"\n", out);
    }
    fputs("    ;\n", out);
    bool failed = ferror(in) || ferror(out);
    fclose(in);
    return fclose(out) != 0 || failed;
}
