/* SPDX-License-Identifier: Apache-2.0
 *
 * One page about a profile and its samples: HTML that is XML too, with everything in it. */
#ifndef DG_PROFILE_REPORT_H
#define DG_PROFILE_REPORT_H

#include "base/str.h"
#include "profile/profile.h"
#include "profile/samples.h"

/* samples may be NULL. out->failed when memory ran out. */
void dg_profile_report(const struct dg_profile *profile, const struct dg_samples_file *samples,
                       struct dg_str *out);

#endif
