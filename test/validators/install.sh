#!/usr/bin/env bash
# In charge of: installing the programs of test/node/validators on Debian, as root: Debian's packages, and pinned versions from npm,
# Python and Go. Not in charge of: ffmpeg and Node.js, which the project needs anyway.
set -euo pipefail
cd "$(dirname "$0")"
export DEBIAN_FRONTEND=noninteractive

packages=(
  tstools mediainfo mediaconch
  # Decoders of audio files (test/node/transcoder/encoding/audio/independentReaders.long.test.ts).
  flac opus-tools mpg123
  # Readers of images and numbers, for test/node/transcoder/extracts.
  python3-pil python3-numpy
  # Players, without Chromium, which test/node/players provides.
  firefox-esr vlc-bin vlc-plugin-base
  webkit2gtk-driver xvfb
  gstreamer1.0-tools gstreamer1.0-plugins-base gstreamer1.0-plugins-good gstreamer1.0-plugins-bad gstreamer1.0-libav
  python3-gi gir1.2-gstreamer-1.0 gir1.2-gst-plugins-base-1.0
  python3 python3-venv
  # promtool and a second reader of its format, for test/node/deploy/monitoring.test.ts.
  prometheus python3-prometheus-client
)
# Go 1.21 or newer builds them.
command -v go >/dev/null || packages+=(golang-go)
apt-get update -qq
apt-get install -y -qq --no-install-recommends "${packages[@]}" >/dev/null

npm ci --ignore-scripts --no-audit --no-fund --loglevel=error
python3 -m venv python
python/bin/pip --quiet --disable-pip-version-check install -r requirements.txt
mkdir -p bin
(
  cd go
  go build -mod=readonly -o ../bin ./cmd/dash ./cmd/transport \
    github.com/Eyevinn/mp4ff/cmd/mp4ff-info github.com/Eyevinn/mp4ff/cmd/mp4ff-nallister github.com/Eyevinn/mp4ff/cmd/mp4ff-pslister
)
