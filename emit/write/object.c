/* SPDX-License-Identifier: Apache-2.0 */
#include <elf.h>
#include <stdint.h>
#include <string.h>

#include "emit/write/object.h"

struct view {
    const unsigned char *bytes;
    size_t size;
    const char *tool;
    struct dg_error *e;
};

static bool bad(const struct view *v, const char *rule, const char *value)
{
    dg_fail(v->e, DG_EXIT_UNAVAILABLE, v->tool, rule, value,
            "name another assembler with --as or --cc");
    return false;
}

static bool inside(const struct view *v, uint64_t offset, uint64_t size)
{
    return offset <= v->size && size <= v->size - offset;
}

static bool section(const struct view *v, const Elf64_Ehdr *head, size_t index, Elf64_Shdr *out)
{
    if (index >= head->e_shnum || !inside(v, head->e_shoff, 64 * (uint64_t)head->e_shnum))
        return false;
    memcpy(out, v->bytes + head->e_shoff + 64 * index, sizeof *out);
    return out->sh_type == SHT_NOBITS || inside(v, out->sh_offset, out->sh_size);
}

static const char *string_at(const struct view *v, const Elf64_Shdr *strings, uint64_t offset)
{
    if (offset >= strings->sh_size || v->bytes[strings->sh_offset + strings->sh_size - 1] != 0)
        return NULL;
    return (const char *)v->bytes + strings->sh_offset + offset;
}

static bool check_head(const struct view *v, unsigned machine, Elf64_Ehdr *head)
{
    if (v->size < sizeof *head || memcmp(v->bytes, ELFMAG, SELFMAG) != 0)
        return bad(v, "must write an ELF object", "something else");
    memcpy(head, v->bytes, sizeof *head);
    if (head->e_ident[EI_CLASS] != ELFCLASS64 || head->e_ident[EI_DATA] != ELFDATA2LSB ||
        head->e_type != ET_REL || head->e_machine != machine || head->e_shentsize != 64)
        return bad(v, "must write a relocatable 64-bit object for the kernel's architecture",
                   "an object of another kind");
    return true;
}

/* Sections that hold bytes and can be written to are data; a kernel has none. */
static bool check_sections(const struct view *v, const Elf64_Ehdr *head, Elf64_Shdr *symbols)
{
    memset(symbols, 0, sizeof *symbols);
    for (size_t i = 0; i < head->e_shnum; i++) {
        Elf64_Shdr s;
        if (!section(v, head, i, &s))
            return bad(v, "must write a whole object", "a cut one");
        if ((s.sh_flags & SHF_WRITE) != 0 && s.sh_size > 0)
            return bad(v, "must leave the kernel without data", "a writable section");
        if (s.sh_type == SHT_SYMTAB)
            *symbols = s;
    }
    return true;
}

bool dg_object_check(const void *bytes, size_t size, unsigned machine, const char *prefix,
                     const char *tool, struct dg_arena *arena, struct dg_object *out,
                     struct dg_error *e)
{
    struct view view = { bytes, size, tool, e };
    Elf64_Ehdr head;
    Elf64_Shdr table, strings;
    if (!check_head(&view, machine, &head) || !check_sections(&view, &head, &table))
        return false;
    if (table.sh_size == 0 || !section(&view, &head, table.sh_link, &strings) ||
        strings.sh_size == 0)
        return bad(&view, "must keep the symbol table", "an object without one");
    size_t count = table.sh_size / sizeof(Elf64_Sym), found = 0;
    const char **names = dg_alloc_array(arena, count, sizeof *names);
    if (names == NULL)
        return dg_fail_memory(e, tool);
    for (size_t i = 1; i < count; i++) {
        Elf64_Sym symbol;
        memcpy(&symbol, (const unsigned char *)bytes + table.sh_offset + i * sizeof symbol,
               sizeof symbol);
        if (ELF64_ST_BIND(symbol.st_info) == STB_LOCAL)
            continue;
        const char *name = string_at(&view, &strings, symbol.st_name);
        if (name == NULL || symbol.st_shndx == SHN_UNDEF)
            return bad(&view, "must leave no symbol undefined", name);
        if (strncmp(name, prefix, strlen(prefix)) != 0)
            return bad(&view, "must define no global outside the kernel's name", name);
        names[found++] = name;
    }
    *out = (struct dg_object){ names, found };
    return true;
}
