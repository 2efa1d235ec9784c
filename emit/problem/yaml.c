/* SPDX-License-Identifier: Apache-2.0
 *
 * A YAML file as a flat list of settings: "layout.b" = "packed" at line 9. Only what a
 * configuration needs is let through: one document, mappings of scalars two deep. Anchors,
 * aliases, tags and sequences are refused, since each has a meaning that would be lost. */
#include <string.h>
#include <yaml.h>

#include "base/file.h"
#include "base/names.h"
#include "base/str.h"
#include "emit/problem/reader.h"

enum { FILE_LIMIT = 1 << 20, MAX_SETTINGS = 256 };

struct scan {
    const char *path, *text;
    size_t size;
    struct dg_arena *arena;
    struct dg_error *e;
    struct dg_setting *settings;
    size_t count;
    yaml_parser_t parser;
    const char *prefix;          /* "layout" inside of it, NULL at the top */
    const char *seen[MAX_SETTINGS], *seen_where[MAX_SETTINGS];   /* mappings opened */
    size_t seen_count;
};

static const char *place(struct scan *s, yaml_mark_t mark)
{
    struct dg_str text;
    dg_str_init(&text, s->arena);
    dg_str_format(&text, "%s:%zu", s->path, mark.line + 1);
    return dg_str_text(&text);
}

static bool refuse(struct scan *s, yaml_mark_t mark, const char *rule, const char *value,
                   const char *todo)
{
    return dg_fail(s->e, DG_EXIT_INPUT, place(s, mark), rule, value, todo);
}

static size_t line_of(const struct scan *s, size_t offset)
{
    size_t line = 0;
    for (size_t i = 0; i < offset && i < s->size; i++)
        line += s->text[i] == '\n';
    return line;
}

static bool next(struct scan *s, yaml_event_t *event)
{
    if (yaml_parser_parse(&s->parser, event))
        return true;
    if (s->parser.error == YAML_MEMORY_ERROR)
        return dg_fail_memory(s->e, s->path);
    const char *problem = s->parser.problem != NULL ? s->parser.problem : "not readable";
    yaml_mark_t mark = s->parser.problem_mark;
    if (s->parser.error == YAML_READER_ERROR)     /* it tells only the byte */
        mark.line = line_of(s, s->parser.problem_offset);
    if (strncmp(problem, "found ", 6) == 0)
        problem += 6;
    return refuse(s, mark, "is not valid YAML", problem,
                  "correct the file; see examples/gemm_config.yaml");
}

static const char *scalar_text(const yaml_event_t *event)
{
    return (const char *)event->data.scalar.value;
}

/* A plain scalar without anchor or tag, or says why not. */
static bool is_scalar(struct scan *s, const yaml_event_t *event, const char *key)
{
    switch (event->type) {
    case YAML_SCALAR_EVENT:
        if (event->data.scalar.anchor != NULL || event->data.scalar.tag != NULL)
            return refuse(s, event->start_mark, "anchors and tags are not taken", key,
                          "write the value itself");
        if (strlen(scalar_text(event)) != event->data.scalar.length)
            return refuse(s, event->start_mark, "a value holds a zero byte", key, "remove it");
        return true;
    case YAML_ALIAS_EVENT:
        return refuse(s, event->start_mark, "aliases are not taken", key,
                      "write the value itself");
    case YAML_SEQUENCE_START_EVENT:
        return refuse(s, event->start_mark, "must be one value, not a list", key,
                      "give one value");
    default:
        return refuse(s, event->start_mark, "must be one value, not a mapping", key,
                      "give one value");
    }
}

static const char *join(struct scan *s, const char *key)
{
    struct dg_str text;
    dg_str_init(&text, s->arena);
    if (s->prefix != NULL)
        dg_str_format(&text, "%s.", s->prefix);
    dg_str_add(&text, key);
    return dg_str_text(&text);
}

static bool twice(struct scan *s, yaml_mark_t mark, const char *key, const char *first)
{
    struct dg_str rule;
    dg_str_init(&rule, s->arena);
    dg_str_format(&rule, "is given twice, first at %s", first);
    return refuse(s, mark, dg_str_text(&rule), key, "keep one of the two");
}

static bool put(struct scan *s, const char *key, const yaml_event_t *event)
{
    char *text = dg_strdup(s->arena, scalar_text(event));
    const char *where = place(s, event->start_mark);
    if (text == NULL)
        return dg_fail_memory(s->e, s->path);
    if (s->count == MAX_SETTINGS)
        return refuse(s, event->start_mark, "has too many values", key, "remove some");
    s->settings[s->count++] = (struct dg_setting){
        .key = key, .text = text, .where = where,
        .quoted = event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE,
    };
    return true;
}

/* Every key of the file, so that a second one is found whatever it holds. */
static bool note_key(struct scan *s, yaml_mark_t mark, const char *key)
{
    for (size_t i = 0; i < s->seen_count; i++)
        if (strcmp(s->seen[i], key) == 0)
            return twice(s, mark, key, s->seen_where[i]);
    if (s->seen_count == MAX_SETTINGS)
        return refuse(s, mark, "has too many keys", key, "remove some");
    s->seen[s->seen_count] = key;
    s->seen_where[s->seen_count++] = place(s, mark);
    return true;
}

/* Keys that stand in hardware.json and never in a configuration. */
static bool is_hardware_key(const char *key)
{
    static const char *const keys[] = {
        "schema", "name", "architecture", "measurements", "environment", "l1_size", "l2_size",
        "fma_latency", "vector_registers", "neon_registers",
    };
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (strcmp(keys[i], key) == 0)
            return true;
    return false;
}

static bool is_known(const char *key)
{
    for (size_t i = 0; i < dg_problem_key_count; i++)
        if (strcmp(dg_problem_keys[i].key, key) == 0)
            return true;
    return false;
}

static bool unknown_key(struct scan *s, yaml_mark_t mark, const char *key)
{
    if (s->prefix == NULL && is_hardware_key(key))
        return refuse(s, mark, "looks like a hardware file, not a configuration", key,
                      "give it with --hardware, and the product with --config or flags");
    const char *names[64];
    size_t count = 0;
    for (size_t i = 0; i < dg_problem_key_count && count < 62; i++)
        names[count++] = dg_problem_keys[i].key;
    names[count++] = "layout";
    names[count++] = "codegen";
    const char *near = dg_name_nearest(key, names, count);
    struct dg_str todo;
    dg_str_init(&todo, s->arena);
    if (near != NULL)
        dg_str_format(&todo, "did you mean %s?", near);
    else
        dg_str_add(&todo, "see examples/gemm_config.yaml for the keys there are");
    return refuse(s, mark, "unknown key", key, dg_str_text(&todo));
}

static bool mapping(struct scan *s, const yaml_event_t *start);

static bool is_section(const struct scan *s, const char *key)
{
    return s->prefix == NULL && (strcmp(key, "layout") == 0 || strcmp(key, "codegen") == 0);
}

static bool section(struct scan *s, const char *key, const yaml_event_t *value)
{
    if (value->type != YAML_MAPPING_START_EVENT)
        return refuse(s, value->start_mark, "must be a mapping", key,
                      "put its keys below it, indented");
    s->prefix = key;
    bool good = mapping(s, value);
    s->prefix = NULL;
    return good;
}

static bool pair(struct scan *s, const yaml_event_t *name)
{
    if (!is_scalar(s, name, "a key"))
        return false;
    const char *key = join(s, scalar_text(name));
    if (!is_section(s, key) && !is_known(key))
        return unknown_key(s, name->start_mark, key);
    if (!note_key(s, name->start_mark, key))
        return false;
    yaml_event_t value;
    if (!next(s, &value))
        return false;
    bool good = is_section(s, key) ? section(s, key, &value)
                                   : is_scalar(s, &value, key) && put(s, key, &value);
    yaml_event_delete(&value);
    return good;
}

static bool mapping(struct scan *s, const yaml_event_t *start)
{
    if (start->data.mapping_start.anchor != NULL || start->data.mapping_start.tag != NULL)
        return refuse(s, start->start_mark, "anchors and tags are not taken", "a mapping",
                      "write the keys themselves");
    for (;;) {
        yaml_event_t event;
        if (!next(s, &event))
            return false;
        bool end = event.type == YAML_MAPPING_END_EVENT;
        bool good = end || pair(s, &event);
        yaml_event_delete(&event);
        if (end || !good)
            return good;
    }
}

static bool document(struct scan *s, const yaml_event_t *event)
{
    if (event->type != YAML_MAPPING_START_EVENT)
        return refuse(s, event->start_mark, "must be a mapping of keys to values", "",
                      "see examples/gemm_config.yaml");
    return mapping(s, event);
}

/* STREAM-START, DOCUMENT-START, the mapping, DOCUMENT-END, STREAM-END and nothing else. */
static bool stream(struct scan *s)
{
    static const yaml_event_type_t order[] = {
        YAML_STREAM_START_EVENT, YAML_DOCUMENT_START_EVENT, YAML_NO_EVENT,
        YAML_DOCUMENT_END_EVENT, YAML_STREAM_END_EVENT,
    };
    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        yaml_event_t event;
        if (!next(s, &event))
            return false;
        bool good = true;
        if (order[i] == YAML_NO_EVENT)
            good = document(s, &event);
        else if (event.type != order[i] && event.type == YAML_STREAM_END_EVENT)
            good = refuse(s, event.start_mark, "is empty", "", "see examples/gemm_config.yaml");
        else if (event.type != order[i])
            good = refuse(s, event.start_mark, "holds more than one document", "",
                          "give one product a file");
        yaml_event_delete(&event);
        if (!good)
            return false;
    }
    return true;
}

bool dg_settings_read(const char *path, struct dg_arena *arena, struct dg_setting **out,
                      size_t *count, struct dg_error *e)
{
    size_t size;
    char *text = dg_file_read(path, FILE_LIMIT, arena, &size, e);
    if (text == NULL)
        return false;
    struct scan s = { .path = path, .text = text, .size = size, .arena = arena, .e = e };
    s.settings = dg_alloc_array(arena, MAX_SETTINGS, sizeof *s.settings);
    if (s.settings == NULL || !yaml_parser_initialize(&s.parser))
        return dg_fail_memory(e, path);
    yaml_parser_set_input_string(&s.parser, (const unsigned char *)text, size);
    bool good = stream(&s);
    yaml_parser_delete(&s.parser);
    *out = s.settings;
    *count = s.count;
    return good;
}
