#!/usr/bin/env bash
# In charge of: an engine for these tests on a machine that cannot pull images. As root, on Debian.
# Not in charge of: stopping it (SCRIPT stop).
# usage: start.sh SCRIPT   SCRIPT start makes the engine and a base image; this adds the sidecar. Prints the value of CONTAINERS.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
script=$1
export CONTAINERS_DIR=${CONTAINERS_DIR:-${TMPDIR:-/tmp}/splicepoint-containers}
mkdir -p "$CONTAINERS_DIR"
log=$CONTAINERS_DIR/start.log
base=sidecar-base:trixie

# What an engine that was killed left behind would keep a new one from starting, or have it take another program for its own.
if ! DOCKER_HOST=unix://$CONTAINERS_DIR/docker.sock docker info >/dev/null 2>&1; then
  rm -f "$CONTAINERS_DIR/pid" "$CONTAINERS_DIR/docker.sock" "$CONTAINERS_DIR"/exec/containerd/*.pid
fi

# The script asks for Go before anything else, and last of all installs a sidecar with it, unless there is one. Ours needs none.
mkdir -p "$CONTAINERS_DIR/none"
printf '#!/bin/sh\nexit 1\n' >"$CONTAINERS_DIR/none/go"
chmod +x "$CONTAINERS_DIR/none/go"
PATH=$CONTAINERS_DIR/none:$PATH "$script" start >"$log" 2>&1 || true

export DOCKER_HOST=unix://$CONTAINERS_DIR/docker.sock
if ! docker image inspect "$base" >/dev/null 2>&1; then
  tail -n 30 "$log" "$CONTAINERS_DIR"/*.log >&2
  echo "$script made no Docker engine with an image $base on this machine (above: what it said)." >&2
  exit 1
fi
# Always: what changed is built anew, what did not takes no time. Without BuildKit, which Debian's client lacks.
DOCKER_BUILDKIT=0 docker build --network=host --build-arg "BASE=$base" --tag proxy-everything:local "$here/sidecar" >"$log" 2>&1 ||
  { tail -n 30 "$log" >&2; exit 1; }
line=$(PATH=$CONTAINERS_DIR/none:$PATH "$script" start 2>"$log") || { tail -n 30 "$log" >&2; exit 1; }
echo "${line#export }"
