// In charge of: the output of `npm start`: addresses, keys, data directory, and a first step with dashboard, command
// and curl.
import { relative } from 'node:path'
import { STARTED_FROM, type LocalSettings } from './localSettings.ts'
import type { RunningService } from './localService.ts'

export function startMessage(service: RunningService, settings: LocalSettings): string {
  const { baseUrl, apiKey, adminKey, engine, transcoderUrls } = service
  const address = settings.baseUrl ?? baseUrl
  const near = relative(STARTED_FROM, settings.stateDir)
  return `
Splicepoint is running at ${baseUrl}${address === baseUrl ? '' : ` (for clients: ${address})`}

Dashboard      ${address}/   (sign in with the API key)
API reference  ${address}/docs
API key        ${apiKey}   (jobs and uploads)
Admin key      ${adminKey}   (issues keys, sets quotas, reads /metrics)
Data and logs  ${near === '' || near.startsWith('..') ? settings.stateDir : near}
${engine === null ? `Transcoders    ${transcoderUrls.join(', ') || 'those that register themselves'}` : `ffmpeg         ${engine.version} (${engine.ffmpeg}${engine.isFromNpm === true ? ", npm's: without security fixes" : ''})`}

Get started:

1. In the browser, open ${address}/, sign in with the API key and drop a file.

2. In another terminal, paste this line first:

  export BASE=${baseUrl} KEY=${apiKey} SPLICEPOINT_URL=${baseUrl} SPLICEPOINT_KEY=${apiKey} SPLICEPOINT_ADMIN_KEY=${adminKey}

   Then transcode a file and get a link that plays it:

  npx splicepoint submit film.mp4 --hls --share

   Or upload it with curl, and continue with README.md:

  curl -u "$KEY:" --data-binary @film.mp4 "$BASE/uploads?name=film.mp4"

Press Ctrl-C to stop.
`
}
