#!/bin/sh
# The five renditions of bench/rows/segmented.ts as anybody would write them: scale with its default filter (bicubic), libx264's
# own choices for the preset, the audio encoded once, HLS alone.
# Usage: FFMPEG=/path/to/ffmpeg segmented-plain.sh SOURCE DIRECTORY
set -eu
rate() { echo "-b:v:$1 $2k -maxrate:v:$1 $3k -bufsize:v:$1 $4k"; }
cd "$2"
exec "$FFMPEG" -nostdin -hide_banner -loglevel error -y -i "$1" -filter_complex "
    [0:v]split=4[v0][s1][s2][s3];
    [s1]scale=1280:720[v1];
    [s2]scale=854:480[v2];
    [s3]scale=640:360[v3]" \
  -map "[v0]" -map "[v1]" -map "[v2]" -map "[v3]" -map 0:a:0 \
  -c:v libx264 -preset veryfast -g 25 -sc_threshold 0 \
  $(rate 0 5000 7500 15000) $(rate 1 2800 4200 8400) $(rate 2 1400 2100 4200) $(rate 3 800 1200 2400) \
  -c:a aac -b:a 128k -ac 2 \
  -f hls -hls_time 2 -hls_playlist_type vod -hls_segment_type fmp4 -hls_flags independent_segments \
  -hls_segment_filename "v%v-%d.m4s" -hls_fmp4_init_filename "init-%v.mp4" -master_pl_name master.m3u8 \
  -var_stream_map "v:0,agroup:a v:1,agroup:a v:2,agroup:a v:3,agroup:a a:0,agroup:a,default:yes" "v%v.m3u8"
