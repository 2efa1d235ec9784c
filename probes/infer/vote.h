/* SPDX-License-Identifier: Apache-2.0
 *
 * One answer from the repeats of a probe. Pure: answers in, answer out. */
#ifndef DG_PROBES_INFER_VOTE_H
#define DG_PROBES_INFER_VOTE_H

#include "profile/profile.h"

struct dg_vote_rule {
    bool discrete;               /* equal values only; else within `tolerance` of each other */
    bool largest;                /* disturbances only ever lower it: the largest repeat counts that
                                    another one agrees with */
    bool fastest;                /* the same, where they are told from noise: of several groups that
                                    agree the one with the largest values counts */
    bool whole;                  /* a count: the middle of two is the larger one */
    double tolerance;            /* relative */
    double floor;                /* and absolute: values this near to each other agree anyway */
    unsigned needed;             /* repeats that must agree */
};

/* `repeats` are answers to one key, oldest first. True: they agree, *out is the answer. False:
 * *out is unreliable with a reason (or unavailable, when every repeat was). */
bool dg_infer_vote(const struct dg_vote_rule *rule, const struct dg_answer *repeats, size_t count,
                   struct dg_answer *out);

#endif
