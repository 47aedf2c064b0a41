// In charge of: what `npm start` tells a person: where it is, the keys, lines that work, where the data lies.
import { relative } from 'node:path'
import type { LocalSettings } from './settings.ts'
import { STARTED_FROM } from './settings.ts'
import type { RunningService } from './supervisor.ts'

export function welcome(service: RunningService, settings: LocalSettings): string {
  const { baseUrl, apiKey, adminKey, engine, transcoderUrls } = service
  const near = relative(STARTED_FROM, settings.stateDir)
  return `
Splicepoint serves at  ${baseUrl}
Dashboard              ${baseUrl}/   (sign in with the API key)
API reference          ${baseUrl}/docs
API key                ${apiKey}   (jobs and uploads)
Admin key              ${adminKey}   (issues keys, sets quotas, reads /metrics)
Data, logs, secrets    ${near === '' || near.startsWith('..') ? settings.stateDir : near}
${engine === null ? `Transcoders            ${transcoderUrls.join(', ')}` : `ffmpeg                 ${engine.version} (${engine.ffmpeg})`}

In another terminal, paste this and go on with the README, or transcode a file of yours:

  export BASE=${baseUrl} KEY=${apiKey} ADMIN_KEY=${adminKey} SPLICEPOINT_URL=${baseUrl} SPLICEPOINT_KEY=${apiKey}
  npx splicepoint submit film.mp4 -r 720 --download out

A key for somebody else, with an account of its own:

  curl -u "$ADMIN_KEY:" --json '{"account": "studio", "label": "first"}' "$BASE/api/v0/keys"

Ctrl-C stops everything.
`
}
