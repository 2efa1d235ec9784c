/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/svg.h"

#include <math.h>
#include <string.h>

#include "base/number.h"

/* Of the drawing, in units of its view box. */
enum { WIDTH = 760, HEIGHT = 400, EMPTY_HEIGHT = 120 };
enum { LEFT = 84, RIGHT = 740, TOP = 26, BOTTOM = 340 };

/* ---- texts ---- */

/* Bytes of the UTF-8 character that begins here; 0: none does. */
static size_t character(const unsigned char *t)
{
    size_t n = t[0] < 0x80 ? 1 : t[0] >= 0xc2 && t[0] < 0xe0 ? 2 : (t[0] & 0xf0) == 0xe0 ? 3 :
               t[0] >= 0xf0 && t[0] < 0xf5 ? 4 : 0;
    for (size_t i = 1; i < n; i++)
        if ((t[i] & 0xc0) != 0x80)
            return 0;
    /* too long for what they say, halves of pairs, the two that XML forbids, beyond the last */
    if ((t[0] == 0xe0 && t[1] < 0xa0) || (t[0] == 0xed && t[1] > 0x9f) ||
        (t[0] == 0xef && t[1] == 0xbf && t[2] > 0xbd) || (t[0] == 0xf0 && t[1] < 0x90) ||
        (t[0] == 0xf4 && t[1] > 0x8f))
        return 0;
    return n;
}

void dg_html_text(struct dg_str *out, const char *text)
{
    static const struct { char c; const char *name; } names[] = {
        { '&', "&amp;" }, { '<', "&lt;" }, { '>', "&gt;" }, { '"', "&quot;" }, { '\'', "&#39;" },
    };
    const unsigned char *t = (const unsigned char *)text;
    while (*t != '\0') {
        size_t n = character(t), i = 0;
        while (i < sizeof names / sizeof *names && names[i].c != (char)*t)
            i++;
        if (i < sizeof names / sizeof *names) {
            dg_str_add(out, names[i].name);
        } else if (n == 0 || (*t < 0x20 && *t != '\n' && *t != '\t') || *t == 0x7f) {
            dg_str_format(out, "\\x%02x", *t);
            n = 1;
        } else {
            dg_str_addn(out, t, n);
        }
        t += n;
    }
}

void dg_scale_label(struct dg_str *out, enum dg_scale scale, double value)
{
    static const char *const units[] = { "", " KiB", " MiB", " GiB" };
    size_t unit = 0;
    while (scale == DG_BYTES && unit < 3 && value >= 1024) {
        value /= 1024;
        unit++;
    }
    bool whole = value == floor(value) && fabs(value) < 1e6;
    dg_str_double(out, whole ? value : dg_round_digits(value, 4));
    dg_str_add(out, units[unit]);
}

/* ---- axes ---- */

struct axis {
    enum dg_scale scale;
    double low, high;                    /* of the data, widened to what the axis shows */
    double from, to;                     /* on the drawing */
};

static bool is_log(enum dg_scale scale)
{
    return scale != DG_LINEAR;
}

static double place(const struct axis *a, double value)
{
    double low = a->low, high = a->high;
    if (is_log(a->scale))
        value = log(value), low = log(low), high = log(high);
    double part = high > low ? (value - low) / (high - low) : 0.5;
    return a->from + part * (a->to - a->from);
}

/* A logarithm has no place for 0; in maps y is an axis as well. */
static bool drawable(const struct dg_picture_row *row, const struct dg_point *p)
{
    double y = row->form == DG_MAP ? p->y : p->value;
    return (p->x > 0 || !is_log(row->x_scale)) && (y > 0 || !is_log(row->y_scale));
}

static void include(struct axis *a, double value)
{
    if (is_log(a->scale) && value <= 0)
        return;
    a->low = a->low == 0 && a->high == 0 ? value : fmin(a->low, value);
    a->high = fmax(a->high, value);
}

/* 1, 2 or 5 times a power of ten, at most about `count` in the range */
static double nice_step(double range, double count)
{
    double rough = range / count, power = pow(10, floor(log10(rough)));
    double part = rough / power;
    return power * (part <= 1 ? 1 : part <= 2 ? 2 : part <= 5 ? 5 : 10);
}

static void widen(struct axis *a)
{
    if (a->scale == DG_LINEAR) {
        a->low = fmin(a->low, 0);
        a->high = a->high > a->low ? a->high + 0.04 * (a->high - a->low) : a->low + 1;
    } else if (a->scale == DG_LOG) {
        a->low *= 0.85;
        a->high *= 1.15;
    } else {
        a->low /= 1.09;
        a->high *= 1.09;
    }
}

enum { TICKS_MOST = 24 };

static size_t ticks_of(const struct axis *a, double out[TICKS_MOST])
{
    size_t count = 0;
    if (a->scale == DG_LINEAR) {
        double step = nice_step(a->high - a->low, 7);
        for (double v = ceil(a->low / step) * step; v <= a->high && count < TICKS_MOST; v += step)
            out[count++] = fabs(v) < step / 2 ? 0 : v;
    } else if (a->scale == DG_LOG) {
        static const double parts[] = { 1, 2, 5 };
        bool wide = a->high / a->low > 2000;
        for (double p = pow(10, floor(log10(a->low))); p <= a->high; p *= 10)
            for (size_t i = 0; i < (wide ? 1u : 3u) && count < TICKS_MOST; i++)
                if (p * parts[i] >= a->low && p * parts[i] <= a->high)
                    out[count++] = p * parts[i];
    } else {
        double first = exp2(ceil(log2(a->low))), octaves = log2(a->high / first);
        double step = exp2(fmax(1, ceil((octaves + 1) / 9)));
        for (double v = first; v <= a->high && count < TICKS_MOST; v *= step)
            out[count++] = v;
    }
    return count;
}

static void add_number(struct dg_str *out, double x)
{
    dg_str_fixed(out, x, 1);
}

/* name="value" */
static void attribute(struct dg_str *out, const char *name, double value)
{
    dg_str_format(out, " %s=\"", name);
    add_number(out, value);
    dg_str_addc(out, '"');
}

static void line(struct dg_str *out, const char *class, double x1, double y1, double x2, double y2)
{
    dg_str_format(out, "<line class=\"%s\"", class);
    attribute(out, "x1", x1);
    attribute(out, "y1", y1);
    attribute(out, "x2", x2);
    attribute(out, "y2", y2);
    dg_str_add(out, "/>");
}

static void open_text(struct dg_str *out, const char *class, double x, double y)
{
    dg_str_format(out, "<text class=\"%s\"", class);
    attribute(out, "x", x);
    attribute(out, "y", y);
    dg_str_addc(out, '>');
}

static void label(struct dg_str *out, const char *class, double x, double y, enum dg_scale scale,
                  double value)
{
    open_text(out, class, x, y);
    dg_scale_label(out, scale, value);
    dg_str_add(out, "</text>");
}

static void titles(struct dg_str *out, const struct dg_picture_row *row)
{
    open_text(out, "axis mid", (LEFT + RIGHT) / 2.0, HEIGHT - 12);
    dg_html_text(out, row->x);
    dg_str_format(out, "</text><text class=\"axis mid\" "
                  "transform=\"translate(18 %d) rotate(-90)\">",
                  (TOP + BOTTOM) / 2);
    dg_html_text(out, row->y);
    dg_str_add(out, "</text>");
}

static void draw_axes(struct dg_str *out, const struct axis *x, const struct axis *y)
{
    double tick[TICKS_MOST];
    size_t count = ticks_of(x, tick);
    for (size_t i = 0; i < count; i++) {
        line(out, "grid", place(x, tick[i]), TOP, place(x, tick[i]), BOTTOM);
        label(out, "tick mid", place(x, tick[i]), BOTTOM + 20, x->scale, tick[i]);
    }
    count = ticks_of(y, tick);
    for (size_t i = 0; i < count; i++) {
        line(out, "grid", LEFT, place(y, tick[i]), RIGHT, place(y, tick[i]));
        label(out, "tick end", LEFT - 8, place(y, tick[i]) + 4, y->scale, tick[i]);
    }
}

/* ---- curves ---- */

static void draw_series(struct dg_str *out, const struct dg_picture *p, size_t i,
                        const struct axis *x, const struct axis *y)
{
    const struct dg_series *s = &p->series[i];
    bool dots = p->row->form == DG_CURVE;
    dg_str_format(out, "<g class=\"s%zu\"><polyline points=\"", i);
    for (size_t k = 0; k < s->count; k++) {
        if (!drawable(p->row, &s->point[k]))
            continue;
        add_number(out, place(x, s->point[k].x));
        dg_str_addc(out, ',');
        add_number(out, place(y, s->point[k].value));
        dg_str_addc(out, ' ');
    }
    dg_str_add(out, "\"/>");
    for (size_t k = 0; dots && k < s->count; k++) {
        const struct dg_point *q = &s->point[k];
        if (!drawable(p->row, q))
            continue;
        double at = place(x, q->x);
        if (q->high > q->low && (q->low > 0 || !is_log(p->row->y_scale)))
            line(out, "bar", at, place(y, q->low), at, place(y, q->high));
        dg_str_add(out, "<circle");
        attribute(out, "cx", at);
        attribute(out, "cy", place(y, q->value));
        dg_str_add(out, " r=\"2.6\"><title>");
        dg_html_text(out, s->name);
        dg_str_add(out, ": ");
        dg_scale_label(out, p->row->x_scale, q->x);
        dg_str_add(out, ", ");
        dg_scale_label(out, p->row->y_scale, q->value);
        dg_str_add(out, "</title></circle>");
    }
    dg_str_add(out, "</g>");
}

static void draw_marks(struct dg_str *out, const struct dg_picture *p, const struct axis *x)
{
    for (size_t i = 0; i < p->mark_count; i++) {
        double at = place(x, p->mark[i].x);
        if (p->mark[i].x < x->low || p->mark[i].x > x->high)
            continue;
        line(out, "mark", at, TOP, at, BOTTOM);
        open_text(out, "marked mid", at, TOP - 8);
        dg_html_text(out, p->mark[i].label);
        dg_str_addc(out, ' ');
        dg_scale_label(out, p->row->x_scale, p->mark[i].x);
        dg_str_add(out, "</text>");
    }
}

static void draw_curves(struct dg_str *out, const struct dg_picture *p)
{
    struct axis x = { .scale = p->row->x_scale, .from = LEFT, .to = RIGHT };
    struct axis y = { .scale = p->row->y_scale, .from = BOTTOM, .to = TOP };
    for (size_t i = 0; i < p->count; i++)
        for (size_t k = 0; k < p->series[i].count; k++) {
            const struct dg_point *q = &p->series[i].point[k];
            if (!drawable(p->row, q))
                continue;
            include(&x, q->x);
            include(&y, q->low);
            include(&y, q->high);
        }
    widen(&x);
    widen(&y);
    draw_axes(out, &x, &y);
    draw_marks(out, p, &x);
    for (size_t i = 0; i < p->count; i++)
        draw_series(out, p, i, &x, &y);
    titles(out, p->row);
}

/* ---- maps ---- */

enum { STEPS_MOST = 128 };

/* The distinct values, in order; beyond STEPS_MOST they are left out. */
static size_t insert(double *list, size_t count, double value)
{
    size_t i = 0;
    while (i < count && list[i] < value)
        i++;
    if ((i < count && list[i] == value) || count == STEPS_MOST)
        return count;
    memmove(list + i + 1, list + i, (count - i) * sizeof *list);
    list[i] = value;
    return count + 1;
}

static size_t index_of(const double *list, size_t count, double value)
{
    size_t i = 0;
    while (i < count && list[i] != value)
        i++;
    return i;
}

static void draw_cell(struct dg_str *out, const struct dg_picture *p, const struct dg_point *q,
                      const double box[4], double part, bool text)
{
    dg_str_add(out, "<g class=\"cell\"><rect");
    attribute(out, "x", box[0] + 0.5);
    attribute(out, "y", box[1] + 0.5);
    attribute(out, "width", box[2] - 1);
    attribute(out, "height", box[3] - 1);
    dg_str_add(out, " fill-opacity=\"");
    dg_str_fixed(out, 0.06 + 0.94 * part, 3);
    dg_str_add(out, "\"/>");
    if (text)
        label(out, part > 0.5 ? "value mid dark" : "value mid", box[0] + box[2] / 2,
              box[1] + box[3] / 2 + 4, DG_LINEAR, q->value);
    dg_str_add(out, "<title>");
    dg_scale_label(out, p->row->x_scale, q->x);
    dg_str_add(out, ", ");
    dg_scale_label(out, p->row->y_scale, q->y);
    dg_str_add(out, ": ");
    dg_scale_label(out, DG_LINEAR, q->value);
    dg_str_addc(out, ' ');
    dg_html_text(out, p->row->unit);
    dg_str_add(out, "</title></g>");
}

/* Every so many steps a label. */
static size_t every(size_t count, size_t most)
{
    return (count + most - 1) / most;
}

static void draw_map(struct dg_str *out, const struct dg_picture *p)
{
    double xs[STEPS_MOST], ys[STEPS_MOST], low = INFINITY, high = -INFINITY;
    size_t columns = 0, rows = 0;
    const struct dg_series *s = &p->series[0];
    for (size_t i = 0; i < s->count; i++) {
        if (!drawable(p->row, &s->point[i]))
            continue;
        columns = insert(xs, columns, s->point[i].x);
        rows = insert(ys, rows, s->point[i].y);
        low = fmin(low, s->point[i].value);
        high = fmax(high, s->point[i].value);
    }
    double width = (double)(RIGHT - LEFT) / (double)columns;
    double height = (double)(BOTTOM - TOP) / (double)rows;
    bool text = width >= 38 && height >= 16;
    for (size_t i = 0; i < s->count; i++) {
        size_t c = index_of(xs, columns, s->point[i].x), r = index_of(ys, rows, s->point[i].y);
        const double box[4] = { LEFT + (double)c * width,
                                BOTTOM - (double)(r + 1) * height, width, height };
        double part = high > low ? (s->point[i].value - low) / (high - low) : 0;
        if (c < columns && r < rows)
            draw_cell(out, p, &s->point[i], box, part, text);
    }
    for (size_t c = 0; c < columns; c += every(columns, 12))
        label(out, "tick mid", LEFT + ((double)c + 0.5) * width, BOTTOM + 20, p->row->x_scale,
              xs[c]);
    for (size_t r = 0; r < rows; r += every(rows, 20))
        label(out, "tick end", LEFT - 8, BOTTOM - ((double)r + 0.5) * height + 4, p->row->y_scale,
              ys[r]);
    titles(out, p->row);
}

/* ---- the whole ---- */

static void draw_nothing(struct dg_str *out, const struct dg_picture *p)
{
    dg_str_format(out, "<rect class=\"nothing\" x=\"4\" y=\"4\" width=\"%d\" height=\"%d\" "
                  "rx=\"6\"/>", WIDTH - 8, EMPTY_HEIGHT - 8);
    open_text(out, "empty mid", WIDTH / 2.0, EMPTY_HEIGHT / 2.0 - 8);
    dg_str_add(out, "nothing to see:</text>");
    open_text(out, "reason mid", WIDTH / 2.0, EMPTY_HEIGHT / 2.0 + 16);
    dg_html_text(out, p->reason);
    dg_str_add(out, "</text>");
}

void dg_svg(struct dg_str *out, const struct dg_picture *p)
{
    dg_str_format(out, "<svg viewBox=\"0 0 %d %d\" xmlns=\"http://www.w3.org/2000/svg\" "
                  "role=\"img\" aria-label=\"", WIDTH, p->count == 0 ? EMPTY_HEIGHT : HEIGHT);
    dg_html_text(out, p->row->title);
    dg_str_add(out, "\">");
    if (p->count == 0)
        draw_nothing(out, p);
    else if (p->row->form == DG_MAP)
        draw_map(out, p);
    else
        draw_curves(out, p);
    dg_str_add(out, "</svg>");
}
