// A divided job on two transcoders of which one is slow: its chunk is begun a second time at the end, and the outputs are
// those of one task.
// Not in charge of: which chunk that is, and what becomes of the slower one (worker/taskApi/twins.test.ts, simulation).
import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { TWIN_ATTEMPT } from '#contract/taskId.ts'
import { decodePresentation } from '../../../support/manifests/decodedPresentation.ts'
import { tempDirectory } from '../../../support/media/media.ts'
import { makeSyncClip } from '../../../support/media/syncClip.ts'
import { runProgram } from '../../../support/runProgram.ts'
import { jobRequest, Service, waitFor } from '../../../support/service.ts'
import {
  listTranscoders,
  startTranscoder,
  TRANSCODER_SECRET,
} from '../../../support/transcoder/registeredTranscoder.ts'
import { findUncleaned } from '../../chaos/cleanupCheck.ts'

const SECONDS = 61
const RATE = 25
const REMAINS_MS = 60_000
/** Of the speed at which the video plays: a chunk of 10 s takes longer than the test may. */
const SLOW = 0.02

/** Encodes video at that speed, and does everything else as ffmpeg does. */
async function makeSlowFfmpeg(directory: string): Promise<string> {
  const { stdout } = await runProgram('sh', ['-c', 'command -v ffmpeg'])
  await mkdir(directory)
  const path = `${directory}/ffmpeg`
  await writeFile(
    path,
    `#!/bin/bash
slow=()
[[ " $* " == *" libx264 "* ]] && slow=(-readrate ${SLOW})
args=()
for arg in "$@"; do
  [[ "$arg" == -i ]] && args+=("\${slow[@]}")
  args+=("$arg")
done
exec ${stdout.trim()} "\${args[@]}"
`,
  )
  await chmod(path, 0o755)
  return path
}

test('the chunk of a slow transcoder is stored by another one, and no frame is lost', async () => {
  await using tempDir = await tempDirectory()
  const clip = await makeSyncClip(tempDir.file('flash.mp4'), {
    rate: '25',
    seconds: SECONDS,
    audioLate: 0,
    audioCodec: 'aac',
  })
  await using service = await Service.start({ TRANSCODERS: '0', TRANSCODER_SECRET, LEASE_SECONDS: '20' })
  const input = await service.upload(clip)
  const request = (seconds: number) =>
    jobRequest(input, 'file-upload', {
      bucket_output_path: 'show',
      segment_length: 2,
      gop_length: 1,
      output_container: 'hls',
      segmented_output_hls: true,
      segmented_output_dash: true,
      max_chunk_seconds: seconds,
      videoProfiles: [{ output: '', width: 160, height: 90, video_bitrate: 150, video_bitrate_mode: 'qvbr' }],
    })
  const ready = (count: number) =>
    waitFor('the transcoders', async () => {
      const found = await listTranscoders(service)
      return found.length === count && found.every(({ state }) => state === 'ready')
    })
  await using _fast = startTranscoder(service.base, { TRANSCODER_ID: 'fast', WORK_DIR: tempDir.file('fast') })
  await ready(1)
  const whole = await decodePresentation(await service.run(request(0)), (name) => tempDir.file(name))

  await using _slow = startTranscoder(service.base, {
    TRANSCODER_ID: 'slow',
    WORK_DIR: tempDir.file('slow'),
    FFMPEG_PATH: await makeSlowFfmpeg(tempDir.file('bin')),
  })
  await ready(2)
  const status = await service.run(request(10))
  expect(status).toMatchObject({ state: 'ready', error: null, chunks: { map: 'c'.repeat(status.chunks!.total) } })

  const parts = await decodePresentation(status, (name) => tempDir.file(name))
  expect(Object.keys(parts).toSorted()).toEqual(Object.keys(whole).toSorted())
  for (const [path, { frames, times, samples }] of Object.entries(parts)) {
    const same = whole[path]!
    expect({ path, frames, times, samples }).toEqual({
      path,
      frames: same.frames,
      times: same.times,
      samples: same.samples,
    })
    if (!path.includes('audio')) expect(frames).toBe(SECONDS * RATE)
  }
  // One chunk has the segments of its second task.
  const playlist = status.outputs.find(({ path }) => /video_0.*\.m3u8$/.test(path))?.url ?? ''
  const text = await (await fetch(playlist)).text()
  const twins = new Set(text.match(new RegExp(`[\\w-]*-${TWIN_ATTEMPT}(?=/)`, 'g')))
  expect(twins.size, text).toBe(1)
  expect(await findUncleaned(service, [status.job_id], REMAINS_MS)).toEqual([])
}, 480_000)
