/* SPDX-License-Identifier: Apache-2.0
 *
 * Pictures as SVG that needs no script; colours come from the page's style. */
#ifndef DG_PROFILE_SVG_H
#define DG_PROFILE_SVG_H

#include "base/str.h"
#include "profile/picture.h"

void dg_svg(struct dg_str *out, const struct dg_picture *picture);
/* Text for HTML and XML: what could end or open something is escaped; control characters and bytes
 * that are no UTF-8 stand as \xNN. */
void dg_html_text(struct dg_str *out, const char *text);
/* 32 KiB, 1.5 MiB, 17.6, 2.4e-05 */
void dg_scale_label(struct dg_str *out, enum dg_scale scale, double value);

#endif
