#!/bin/sh
# The segments of bench/rows/copy.ts by one plain ffmpeg command.
# Usage: FFMPEG=/path/to/ffmpeg copy.sh SOURCE DIRECTORY
set -eu
exec "$FFMPEG" -nostdin -hide_banner -loglevel error -y -i "$1" -map 0:v -map 0:a -c copy \
  -f hls -hls_time 6 -hls_playlist_type vod -hls_segment_type fmp4 -hls_fmp4_init_filename init.mp4 \
  -hls_segment_filename "$2/%05d.m4s" "$2/playlist.m3u8"
