#!/bin/sh
# The five renditions of bench/rows/segmented.ts by one ffmpeg command, as a video engineer would write it for the local disk: one
# set of CMAF segments, listed for HLS and DASH. The two small ones are BT.601, as the job's are.
# Usage: FFMPEG=/path/to/ffmpeg segmented.sh SOURCE DIRECTORY
set -eu
rate() { echo "-b:v:$1 $2k -maxrate:v:$1 $3k -bufsize:v:$1 $4k"; }
exec "$FFMPEG" -nostdin -hide_banner -loglevel error -y -i "$1" -filter_complex "
    [0:v]split=4[v0][s1][s2][s3];
    [s1]zscale=1280:720:filter=lanczos[v1];
    [s2]zscale=854:480:filter=lanczos:min=709:m=170m,setsar=1[v2];
    [s3]zscale=640:360:filter=lanczos:min=709:m=170m[v3]" \
  -map "[v0]" -map "[v1]" -map "[v2]" -map "[v3]" -map 0:a:0 \
  -c:v libx264 -preset veryfast -profile:v high -g 25 -keyint_min 25 -sc_threshold 0 -flags +cgop -bf 2 -b_strategy 0 \
  $(rate 0 5000 7500 15000) $(rate 1 2800 4200 8400) $(rate 2 1400 2100 4200) $(rate 3 800 1200 2400) \
  -c:a aac -b:a 128k -ac 2 -aspect 16:9 \
  -f dash -seg_duration 2 -use_template 1 -use_timeline 1 -hls_playlist 1 \
  -adaptation_sets "id=0,streams=v id=1,streams=a" "$2/manifest.mpd"
