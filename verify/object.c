/* SPDX-License-Identifier: Apache-2.0 */
#include "verify/object.h"

#include <elf.h>
#include <string.h>

#include "base/error.h"

struct object {
    const unsigned char *bytes;
    size_t size;
    const Elf64_Ehdr *header;
    const Elf64_Shdr *sections;
    char *fault;
    size_t fault_size;
};

static bool bad(const struct object *o, const char *what, const char *name)
{
    dg_format(o->fault, o->fault_size, "%s%s%s", what, name[0] != '\0' ? ": " : "", name);
    return false;
}

static bool within(const struct object *o, uint64_t offset, uint64_t size)
{
    return offset <= o->size && size <= o->size - offset;
}

/* A terminated text in a string table; "" when the table is broken. */
static const char *text_at(const struct object *o, const Elf64_Shdr *table, uint64_t at)
{
    if (table->sh_type != SHT_STRTAB || !within(o, table->sh_offset, table->sh_size)
        || at >= table->sh_size
        || memchr(o->bytes + table->sh_offset + at, 0, table->sh_size - at) == NULL)
        return "";
    return (const char *)o->bytes + table->sh_offset + at;
}

static bool open_object(struct object *o)
{
    const Elf64_Ehdr *h = (const void *)o->bytes;
    if (o->size < sizeof *h || memcmp(h->e_ident, ELFMAG, SELFMAG) != 0
        || h->e_ident[EI_CLASS] != ELFCLASS64 || h->e_ident[EI_DATA] != ELFDATA2LSB
        || h->e_type != ET_REL || h->e_shentsize != sizeof(Elf64_Shdr) || h->e_shoff % 8 != 0
        || !within(o, h->e_shoff, (uint64_t)h->e_shnum * sizeof(Elf64_Shdr)))
        return bad(o, "is not a relocatable ELF object of 64 bits, little endian", "");
    o->header = h;
    o->sections = (const void *)(o->bytes + h->e_shoff);
    return true;
}

/* SVC, HVC and SMC; every instruction is a word of its own there, so no other bytes look so. On
 * x86-64 they might: system calls are watched for when the kernel runs. */
static bool calls_system(const struct object *o, const Elf64_Shdr *s)
{
    if (o->header->e_machine != EM_AARCH64 || !(s->sh_flags & SHF_EXECINSTR) ||
        s->sh_type == SHT_NOBITS || !within(o, s->sh_offset, s->sh_size))
        return false;
    for (uint64_t at = 0; at + 4 <= s->sh_size; at += 4) {
        uint32_t word;
        memcpy(&word, o->bytes + s->sh_offset + at, sizeof word);
        if ((word & 0xFFE0001C) == 0xD4000000 && (word & 3) != 0)
            return true;
    }
    return false;
}

static bool sections_fit(const struct object *o)
{
    for (unsigned i = 0; i < o->header->e_shnum; i++) {
        const Elf64_Shdr *s = &o->sections[i];
        const char *name = o->header->e_shstrndx < o->header->e_shnum
                         ? text_at(o, &o->sections[o->header->e_shstrndx], s->sh_name) : "";
        if ((s->sh_flags & SHF_ALLOC) && (s->sh_flags & SHF_WRITE) && s->sh_size > 0)
            return bad(o, "has writable data", name);
        if (calls_system(o, s))
            return bad(o, "makes a system call (svc, hvc or smc)", name);
    }
    return true;
}

static bool symbol_fits(const struct object *o, const Elf64_Sym *symbol, const char *text,
                        const char *name)
{
    if (ELF64_ST_BIND(symbol->st_info) == STB_LOCAL || text[0] == '\0')
        return true;
    if (symbol->st_shndx == SHN_UNDEF)
        return bad(o, "has an undefined symbol", text);
    if (symbol->st_shndx == SHN_COMMON)
        return bad(o, "has writable data", text);
    return strncmp(text, name, strlen(name)) == 0
        || bad(o, "defines a global outside its name", text);
}

static bool symbols_fit(const struct object *o, const Elf64_Shdr *table, const char *name)
{
    if (!within(o, table->sh_offset, table->sh_size) || table->sh_offset % 8 != 0
        || table->sh_link >= o->header->e_shnum)
        return bad(o, "has a broken symbol table", "");
    const Elf64_Sym *symbols = (const void *)(o->bytes + table->sh_offset);
    for (uint64_t i = 0; i < table->sh_size / sizeof *symbols; i++)
        if (!symbol_fits(o, &symbols[i],
                         text_at(o, &o->sections[table->sh_link], symbols[i].st_name), name))
            return false;
    return true;
}

bool dg_object_fits(const void *bytes, size_t size, const char *name, char *fault,
                    size_t fault_size)
{
    struct object o = {.bytes = bytes, .size = size, .fault = fault, .fault_size = fault_size};
    if (!open_object(&o) || !sections_fit(&o))
        return false;
    for (unsigned i = 0; i < o.header->e_shnum; i++)
        if (o.sections[i].sh_type == SHT_SYMTAB && !symbols_fit(&o, &o.sections[i], name))
            return false;
    return true;
}
