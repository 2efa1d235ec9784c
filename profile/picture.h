/* SPDX-License-Identifier: Apache-2.0
 *
 * The pictures of pictures.def as data: points out of a profile and its samples. */
#ifndef DG_PROFILE_PICTURE_H
#define DG_PROFILE_PICTURE_H

#include "base/arena.h"
#include "profile/profile.h"
#include "profile/samples.h"

enum dg_picture_id {
#define PICTURE(id, form, title, x, x_scale, y, y_scale, unit, field, read) DG_PICTURE_##id,
#define SERIES(picture, name, source, pattern, value)
#define MARK(picture, key, label)
#include "profile/pictures.def"
#undef PICTURE
#undef SERIES
#undef MARK
    DG_PICTURE_COUNT
};

enum dg_picture_form { DG_CURVE, DG_MAP, DG_ROOFLINE };
enum dg_scale { DG_LINEAR, DG_LOG, DG_LOG2, DG_BYTES };

struct dg_picture_row {
    const char *id;
    enum dg_picture_form form;
    const char *title;
    const char *x;
    enum dg_scale x_scale;
    const char *y;
    enum dg_scale y_scale;
    const char *unit, *field, *read;
};
extern const struct dg_picture_row dg_picture_rows[DG_PICTURE_COUNT];

struct dg_point {
    double x, y;                         /* y: of maps */
    double value, low, high;             /* median and quartiles; low = value = high of cells */
    size_t samples;
};
struct dg_series {
    const char *name;
    const struct dg_point *point;        /* by x, then y */
    size_t count;
};
enum { DG_SERIES_MOST = 8, DG_MARKS_MOST = 4 };
struct dg_mark { double x; const char *label; };

struct dg_picture {
    const struct dg_picture_row *row;
    struct dg_series series[DG_SERIES_MOST];
    size_t count;                        /* 0: nothing to see */
    size_t left_out;                     /* series beyond the most that one picture holds */
    struct dg_mark mark[DG_MARKS_MOST];
    size_t mark_count;
    const char *reason;                  /* why there is nothing to see */
};

/* samples may be NULL: then what is read from them is empty, with that reason. False: no memory. */
bool dg_picture_make(enum dg_picture_id id, const struct dg_profile *profile,
                     const struct dg_samples_file *samples, struct dg_arena *arena,
                     struct dg_picture *out);

/* What a pattern of pictures.def takes out of a text; false: it does not match. */
struct dg_captured { double x, y; const char *s; size_t s_length; };
bool dg_pattern_match(const char *pattern, const char *text, char separator,
                      struct dg_captured *out);

#endif
