#!/bin/sh
# Lint a broken five-broker cluster, repair a copy of it, lint the copy. Argument: the netdiag to run.
set -eu
netdiag=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
broken=compose/scenarios/S02-inter-broker-loopback/zookeeper.broken.yml
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
trap 'exit 130' INT TERM

say() { printf '\n==== %s\n\n' "$1"; }

# expect STATUS COMMAND...: runs it; any other status ends the demonstration as failed.
expect() {
    wanted=$1
    shift
    status=0
    "$@" || status=$?
    [ "$status" -eq "$wanted" ] || { echo "expected status $wanted, got status $status from: $*" >&2; exit 1; }
}

in_copy() { (cd "$copy" && "$netdiag" "$@"); }

say "1. Five brokers whose INTERNAL listener is bound to 127.0.0.1: netdiag check-listeners $broken"
expect 1 "$netdiag" check-listeners "$broken"

cp "$broken" "$copy/compose.yml"
say "2. The repair that the findings suggest: netdiag check-listeners --diff compose.yml"
expect 1 in_copy check-listeners --diff compose.yml

say "3. The same file with the repair applied: netdiag check-listeners --fix compose.yml"
expect 0 in_copy check-listeners --fix compose.yml

capture=compose/scenarios/S08-single-listener-localhost/client.pcapng
say "4. Another cluster on the wire: a client in its network is told localhost: netdiag exchanges $capture"
expect 0 "$netdiag" exchanges "$capture"

say "5. Where that client connected to: netdiag exchanges $capture --table connections"
expect 0 "$netdiag" exchanges "$capture" --table connections --format csv --columns client,broker,opening
