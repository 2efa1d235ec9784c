/* SPDX-License-Identifier: Apache-2.0
 *
 * A profile for people. */
#ifndef DG_PROFILE_SHOW_H
#define DG_PROFILE_SHOW_H

#include "base/error.h"
#include "base/str.h"
#include "profile/profile.h"

/* What is known with unit, status, interval and claims; then the cells; then what is not known and
 * why; then warnings. */
void dg_profile_show(const struct dg_profile *profile, struct dg_str *out);

/* <vendor>-<family>-<model>-<kind> from environment.vendor, .family, .model and core_kind, in small
 * letters, digits and dashes: the name of the folder under results/. Without these the profile's
 * name stands for it. */
void dg_profile_slug(const struct dg_profile *profile, struct dg_str *out);

#endif
