#!/bin/sh
# Lint a broken five-broker cluster, repair a copy of it, lint the copy. Argument: the netdiag to run.
set -eu
netdiag=$1
broken=compose/five-brokers/S02-inter-broker-loopback/zookeeper.broken.yml
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
trap 'exit 130' INT TERM

say() { printf '\n==== %s\n\n' "$1"; }

say "1. Five brokers whose INTERNAL listener is bound to 127.0.0.1: netdiag check-listeners $broken"
status=0
"$netdiag" check-listeners "$broken" || status=$?
[ "$status" -eq 1 ] || { echo "expected findings (status 1), got status $status" >&2; exit 1; }

say "2. The repair that the findings suggest: netdiag check-listeners --diff compose.yml"
cp "$broken" "$copy/compose.yml"
(cd "$copy" && "$OLDPWD/$netdiag" check-listeners --diff compose.yml) || true

say "3. The same file with the repair applied: netdiag check-listeners --fix compose.yml"
cd "$copy" && "$OLDPWD/$netdiag" check-listeners --fix compose.yml
