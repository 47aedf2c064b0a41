#!/bin/sh
# The rendition of bench/rows/small.ts by one plain ffmpeg command.
# Usage: FFMPEG=/path/to/ffmpeg small.sh SOURCE DIRECTORY
set -eu
exec "$FFMPEG" -nostdin -hide_banner -loglevel error -y -i "$1" -vf scale=640:360 \
  -c:v libx264 -preset veryfast -g 25 -b:v 800k -maxrate 1200k -bufsize 2400k \
  -c:a aac -b:a 128k -ac 2 -movflags +faststart "$2/360p.mp4"
