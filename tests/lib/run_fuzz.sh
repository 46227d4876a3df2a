#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# run_fuzz.sh SECONDS PROGRAM...: each fuzzer over its kept corpus and then SECONDS of new inputs.
set -u
seconds=$1
shift
passed=0
failed=0
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
for program in "$@"; do
	name=$(basename "$program")
	corpus=tests/fuzz/corpus/${name#fuzz_}
	mkdir -p "$scratch/$name"
	if "$program" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -artifact_prefix="$scratch/crash-$name-" \
		"$scratch/$name" "$corpus" >"$scratch/$name.log" 2>&1; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		echo "=== $name"
		tail -n 60 "$scratch/$name.log"
		for crash in "$scratch"/crash-"$name"-*; do
			[ -e "$crash" ] && { echo "--- input, base64:"; base64 "$crash" | head -c 4000; }
		done
	fi
done
echo "fuzz: $passed passed, $failed failed"
[ $failed -eq 0 ] && [ $passed -gt 0 ]
