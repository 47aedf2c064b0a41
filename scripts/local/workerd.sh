#!/bin/sh
# In charge of: starting workerd in such a way that it listens on a Unix socket (ENTRY_SOCKET) and on no port.
# Miniflare knows ports only, and whoever reaches its entry may read and write every binding: the database, the bucket, the
# Durable Objects. Not in charge of: who reaches the socket (its directory is its owner's alone), anything else.
found=no
for argument do
  shift
  case $argument in
    --socket-addr=entry=*)
      argument="--socket-addr=entry=unix:$ENTRY_SOCKET"
      found=yes
      ;;
  esac
  set -- "$@" "$argument"
done
if [ "$found" = no ]; then
  echo 'This version of miniflare starts workerd in another way than scripts/local/workerd.sh knows.' >&2
  exit 64
fi
# What a runtime that was killed has left there.
rm -f "$ENTRY_SOCKET"
exec "$WORKERD" "$@"
