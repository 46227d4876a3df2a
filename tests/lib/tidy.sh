#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# tidy.sh FLAG... FILE...: clang-tidy over the files, quiet unless it has something to say.
set -u
flags=()
files=()
for arg in "$@"; do
	case $arg in
	-*) flags+=("$arg") ;;
	*) files+=("$arg") ;;
	esac
done
output=$(clang-tidy --quiet "${files[@]}" -- -std=gnu17 -D_GNU_SOURCE -DFAIRWAY_VERSION='"lint"' -I. "${flags[@]}" 2>&1)
status=$?
[ $status -eq 0 ] && exit 0
printf '%s\n' "$output" | grep -v 'warnings\? generated'
exit 1
