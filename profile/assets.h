/* SPDX-License-Identifier: Apache-2.0
 *
 * Files that the report's page holds, made into arrays when this is built; zero-terminated. */
#ifndef DG_PROFILE_ASSETS_H
#define DG_PROFILE_ASSETS_H

extern const char dg_asset_page_css[], dg_asset_page_js[];
extern const char dg_asset_uplot_css[], dg_asset_uplot_js[];

#endif
