#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# run_cmocka.sh NAME PROGRAM...: runs cmocka programs; prints failures whole and one closing line "NAME: N passed, N failed".
set -u
name=$1
shift
passed=0
failed=0
for program in "$@"; do
	output=$("$program" 2>&1)
	status=$?
	ok=$(grep -c '^\[       OK \]' <<<"$output")
	bad=$(grep -c '^\[  FAILED  \] [^0-9]' <<<"$output")
	passed=$((passed + ok))
	# A crash is a failure even where no test had the time to say so; a program without tests is one too.
	if [ $status -ne 0 ] || [ "$ok" -eq 0 ]; then
		[ "$bad" -gt 0 ] || bad=1
		failed=$((failed + bad))
		printf '=== %s (exit %d)\n%s\n' "$program" $status "$output"
	fi
done
echo "$name: $passed passed, $failed failed"
[ $failed -eq 0 ] && [ $passed -gt 0 ]
