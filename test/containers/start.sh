#!/usr/bin/env bash
# In charge of: starting a Docker engine for these tests on a machine that cannot pull images. As root, on Debian.
# Not in charge of: stopping it (SCRIPT stop).
# usage: start.sh SCRIPT   SCRIPT start starts the engine and makes a base image; this adds the sidecar. Prints the value of CONTAINERS.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
script=$1
export CONTAINERS_DIR=${CONTAINERS_DIR:-${TMPDIR:-/tmp}/splicepoint-containers}
mkdir -p "$CONTAINERS_DIR"
log=$CONTAINERS_DIR/start.log
base=sidecar-base:trixie

# Files that a killed engine left would keep a new one from starting, or make it treat another process as its own.
if ! DOCKER_HOST=unix://$CONTAINERS_DIR/docker.sock docker info >/dev/null 2>&1; then
  rm -f "$CONTAINERS_DIR/pid" "$CONTAINERS_DIR/docker.sock" "$CONTAINERS_DIR"/exec/containerd/*.pid
fi

# The script requires Go, with which it finally builds a sidecar unless one exists. This sidecar does not need Go.
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
# Built on every start; unchanged layers take no time. Without BuildKit, which Debian's client lacks.
DOCKER_BUILDKIT=0 docker build --network=host --build-arg "BASE=$base" --tag proxy-everything:local "$here/sidecar" >"$log" 2>&1 ||
  { tail -n 30 "$log" >&2; exit 1; }
line=$(PATH=$CONTAINERS_DIR/none:$PATH "$script" start 2>"$log") || { tail -n 30 "$log" >&2; exit 1; }
echo "${line#export }"
