/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The schema for others: the Markdown reference, a JSON Schema (draft 2020-12) for editors, a YANG 1.1 module. Pure. */
#pragma once

struct buf;

void export_markdown(struct buf *out);
void export_json_schema(struct buf *out);
void export_yang(struct buf *out);
