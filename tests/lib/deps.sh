#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# deps.sh PACKAGE...: installs the Debian packages that are missing, and does not let them start a service.
set -euo pipefail
missing=()
for package in "$@"; do
	[ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || missing+=("$package")
done
[ ${#missing[@]} -gt 0 ] || exit 0
if [ "$(id -u)" -ne 0 ]; then
	echo "deps: these packages are missing; install them, or run this as root: ${missing[*]}" >&2
	exit 1
fi
policy=/usr/sbin/policy-rc.d
if [ ! -e $policy ]; then
	trap 'rm -f $policy' EXIT
	printf '#!/bin/sh\nexit 101\n' >$policy
	chmod 755 $policy
fi
echo "deps: installing ${missing[*]}"
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
