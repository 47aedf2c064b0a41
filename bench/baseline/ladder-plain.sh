#!/bin/sh
# The three renditions of bench/rows/ladder.ts as anybody would write them: scale with its default filter (bicubic), libx264's
# own choices for the preset, the audio encoded once.
# Usage: FFMPEG=/path/to/ffmpeg ladder-plain.sh SOURCE DIRECTORY
set -eu
exec "$FFMPEG" -nostdin -hide_banner -loglevel error -y -i "$1" -filter_complex "
    [0:v]split=3[v1080][s720][s360];
    [s720]scale=1280:720[v720];
    [s360]scale=640:360[v360]" \
  -map "[v1080]" -map "[v720]" -map "[v360]" -map 0:a:0 \
  -c:v libx264 -preset veryfast -g 25 \
  -b:v:0 5000k -maxrate:v:0 7500k -bufsize:v:0 15000k \
  -b:v:1 2800k -maxrate:v:1 4200k -bufsize:v:1 8400k \
  -b:v:2 800k -maxrate:v:2 1200k -bufsize:v:2 2400k \
  -c:a aac -b:a 128k -ac 2 -flags +global_header \
  -f tee "[select=\\'v:0,a\\':movflags=+faststart]$2/1080p.mp4|[select=\\'v:1,a\\':movflags=+faststart]$2/720p.mp4|[select=\\'v:2,a\\':movflags=+faststart]$2/360p.mp4"
