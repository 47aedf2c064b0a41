#!/bin/sh
# The three renditions of bench/rows/ladder.ts by one ffmpeg command, as a video engineer would write it for the local disk.
# Usage: FFMPEG=/path/to/ffmpeg ladder.sh SOURCE DIRECTORY
set -eu
exec "$FFMPEG" -nostdin -hide_banner -loglevel error -y -i "$1" -filter_complex "
    [0:v]split=3[v1080][s720][s360];
    [s720]zscale=1280:720:filter=lanczos[v720];
    [s360]zscale=640:360:filter=lanczos[v360]" \
  -map "[v1080]" -map 0:a:0 \
    -c:v libx264 -preset veryfast -profile:v high -b:v 5000k -maxrate 7500k -bufsize 15000k \
    -g 25 -keyint_min 25 -sc_threshold 0 -flags +cgop -bf 2 -b_strategy 0 \
    -c:a aac -b:a 128k -ac 2 -movflags +faststart "$2/1080p.mp4" \
  -map "[v720]" -map 0:a:0 \
    -c:v libx264 -preset veryfast -profile:v high -b:v 2800k -maxrate 4200k -bufsize 8400k \
    -g 25 -keyint_min 25 -sc_threshold 0 -flags +cgop -bf 2 -b_strategy 0 \
    -c:a aac -b:a 128k -ac 2 -movflags +faststart "$2/720p.mp4" \
  -map "[v360]" -map 0:a:0 \
    -c:v libx264 -preset veryfast -profile:v high -b:v 800k -maxrate 1200k -bufsize 2400k \
    -g 25 -keyint_min 25 -sc_threshold 0 -flags +cgop -bf 2 -b_strategy 0 \
    -c:a aac -b:a 128k -ac 2 -movflags +faststart "$2/360p.mp4"
