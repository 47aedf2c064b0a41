// In charge of: what `npm start` tells a person: where it is, the key, one line that works, where the data lies.
import { relative } from 'node:path'
import type { LocalSettings } from './settings.ts'
import { STARTED_FROM } from './settings.ts'
import type { RunningService } from './supervisor.ts'

export function welcome(service: RunningService, settings: LocalSettings): string {
  const { baseUrl, apiKey, engine, transcoderUrls } = service
  const job = JSON.stringify({
    input: "'$U'",
    videoProfiles: [{ width: 640, height: 360, video_bitrate: 800 }],
    audioProfiles: [{ source_stream: 1 }],
    cloud_credentials: { input: { cloud_provider: 'file-upload' }, output: { cloud_provider: 'vendor-store' } },
  }).replace(`"'$U'"`, `"'$U'"`)
  const near = relative(STARTED_FROM, settings.stateDir)
  return `
Splicepoint serves at  ${baseUrl}
Dashboard              ${baseUrl}/   (sign in with the key)
API key                ${apiKey}
Data, logs, secrets    ${near === '' || near.startsWith('..') ? settings.stateDir : near}
${engine === null ? `Transcoders            ${transcoderUrls.join(', ')}` : `ffmpeg                 ${engine.version} (${engine.ffmpeg})`}

Transcode a file with sound (put its name in place of clip.mp4, paste both lines), then read the job:

  F=clip.mp4; U=$(curl -sSu '${apiKey}:' --data-binary @"$F" -H 'Content-Type: application/octet-stream' ${baseUrl}/uploads | sed 's/.*"input":"\\([^"]*\\)".*/\\1/')
  curl -sSu '${apiKey}:' -H 'Content-Type: application/json' -d '${job}' ${baseUrl}/api/v0/job; echo

  curl -sSu '${apiKey}:' '${baseUrl}/api/v0/job?limit=1'; echo

Ctrl-C stops everything.
`
}
