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

scenario=compose/scenarios/S08-single-listener-localhost
line='%3|FAIL|rdkafka#producer-1| localhost:9092/1: Connect to ipv4#127.0.0.1:9092 failed: Connection refused'
if "$(dirname "$netdiag")/python" -c 'import netdiag_native' 2>/dev/null; then
    say "4. Another cluster on the wire: a client in its network is told localhost: netdiag exchanges client.pcapng"
    expect 0 "$netdiag" exchanges "$scenario/client.pcapng"

    say "5. Where that client connected to: netdiag exchanges client.pcapng --table connections"
    expect 0 "$netdiag" exchanges "$scenario/client.pcapng" \
        --table connections --format csv --columns client,broker,opening
else
    say "4. What the log of a client says, and why: netdiag diagnose --file $scenario/kraft.broken.yml LINE"
    expect 1 "$netdiag" diagnose --file "$scenario/kraft.broken.yml" "$line"

    printf '\n%s\n%s\n' 'The two steps that read a packet capture need the capture engine.' \
        'To build it, install Rust (on Debian 12: apt-get install cargo-web rustc-web), then run: make native'
fi
