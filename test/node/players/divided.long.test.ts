// hls.js, Shaka Player and dash.js in headless Chromium play a divided job from the service, across its chunks, to the end:
// no flash or beep is missing, and they show the captions and cues of the same job by one task.
import { writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import type { PublicStatus } from '#contract/api/status.ts'
import { NO_CHROMIUM } from '../../support/browser/dashboardPage.ts'
import {
  findChromium,
  PlayerBrowser,
  type PlaybackResult,
  type PlayerName,
} from '../../support/browser/playerBrowser.ts'
import { insertPairs, timedPairs, type TimedLine } from '../../support/captions/captionedClip.ts'
import { fileResources } from '../../support/fileResources.ts'
import { listSegments } from '../../support/manifests/playlistSegments.ts'
import { makeFlashClip, PLAYER_CLIP } from '../../support/media/playerClip.ts'
import { tempDirectory } from '../../support/media/media.ts'
import { cueAtSeconds } from '../../support/mpegts/cueClips.ts'
import { spliceInsert } from '../../support/mpegts/spliceSections.ts'
import { skipSuite } from '../../support/requirement.ts'
import { jobRequest, Service } from '../../support/service.ts'
import { analyzeAppendedMedia } from './appendedMedia.ts'

const chromium = await findChromium()

/** Three chunks, which begin at 0, 8 and 14 s. */
const SECONDS = 21
const HEIGHTS = [90, 180]
const { rate, flash } = PLAYER_CLIP
interface Line {
  text: string
  start: number
  end: number
}
/** Of a file: over a join, at one, within a chunk. */
const LINES: Line[] = [
  { text: 'Over the join', start: 6.4, end: 9.2 },
  { text: 'Within', start: 10, end: 11 },
  { text: 'At the join', start: 14, end: 15.5 },
]
/** In the frames: sent before a join and shown at it; shown over one. */
const CAPTIONS: TimedLine[] = [
  { text: 'AT THE JOIN', from: 8 * rate, to: 9 * rate },
  { text: 'OVER THE JOIN', from: 13.4 * rate, to: 14.6 * rate },
]
/** As near to the joins as the places of chunks keep: an eighth of a segment is 0.25 s. */
const BREAK = { start: 8.28, end: 13.72 }

const file = (seconds: number): string => `00:00:${seconds.toFixed(3).padStart(6, '0').replace('.', ',')}`

describe.skipIf(skipSuite(chromium === null ? NO_CHROMIUM : null))('players across chunks', () => {
  let browser: PlayerBrowser
  let tempDir: Awaited<ReturnType<typeof tempDirectory>>
  let made: PublicStatus
  let undivided: PublicStatus

  const resources = fileResources()
  beforeAll(async () => {
    tempDir = resources.use(await tempDirectory())
    const service = resources.use(await Service.start({ LEASE_SECONDS: '30' }))
    browser = resources.use(await PlayerBrowser.start(chromium!))
    const cue = spliceInsert({
      eventId: 77,
      out: true,
      pts: BREAK.start * 90_000,
      breakTicks: Math.round((BREAK.end - BREAK.start) * 90_000),
      autoReturn: true,
    })
    const clip = await makeFlashClip((name) => tempDir.file(name), {
      seconds: SECONDS,
      addCaptions: (video) => insertPairs(video, timedPairs(CAPTIONS)),
      cues: [cueAtSeconds(7.9, cue)],
    })
    const input = await service.upload(clip)
    const lines = LINES.map(({ text, start, end }, index) => `${index + 1}\n${file(start)} --> ${file(end)}\n${text}\n`)
    await writeFile(tempDir.file('de.srt'), lines.join('\n'))
    const captions = [{ input: await service.upload(tempDir.file('de.srt')), language: 'de', default: true }]
    const job = (max_chunk_seconds: number): Promise<PublicStatus> =>
      service.run(
        jobRequest(input, 'file-upload', {
          bucket_output_path: 'show',
          segment_length: 2,
          gop_length: 1,
          output_container: 'hls',
          segmented_output_hls: true,
          segmented_output_dash: true,
          scte35_passthough: true,
          closed_captions: true,
          captions,
          max_chunk_seconds,
          videoProfiles: [
            { output: 'high', width: 320, height: 180, video_bitrate: 600 },
            { output: 'low', width: 160, height: 90, video_bitrate: 150 },
          ],
        }),
      )
    made = await job(10)
    undivided = await job(0)
  })

  const addressOf = (status: PublicStatus, path: string): string =>
    status.outputs.find((output) => output.path === `show/${path}`)!.url!

  test('three chunks are in three directories', async () => {
    for (const status of [made, undivided]) expect(status).toMatchObject({ state: 'ready', error: null, warnings: [] })
    const directories = async (status: PublicStatus): Promise<number> => {
      const playlist = await (await fetch(addressOf(status, 'high/playlist.m3u8'))).text()
      return new Set(listSegments(playlist).map(({ uri }) => dirname(uri))).size
    }
    expect([await directories(made), await directories(undivided)]).toEqual([3, 1])
  })

  const IN_FRAMES: Line[] = CAPTIONS.map(({ text, from, to }) => ({ text, start: from / rate, end: to / rate }))
  const cases: [PlayerName, path: string, language: string | null, texts: Line[]][] = [
    ['hls', 'master.m3u8', null, [...LINES, ...IN_FRAMES]],
    ['shaka', 'master.m3u8', null, IN_FRAMES],
    ['shaka', 'manifest.mpd', 'de', LINES],
    ['dash', 'manifest.mpd', 'de', [...LINES, ...IN_FRAMES]],
  ]
  test.each(cases)('%s plays %s', async (player, path, language, texts) => {
    const [played, reference] = await Promise.all(
      [made, undivided].map((status) => browser.play(player, addressOf(status, path), 1, language)),
    )
    expect([played!.trouble, played!.errors, played!.ended]).toEqual([[], [], true])
    expect([reference!.trouble, reference!.errors, reference!.ended]).toEqual([[], [], true])
    await requirePlayed(played!)
    expect(sorted(played!.texts)).toEqual(sorted(reference!.texts))
    // A player reports a cue of HLS for each playlist in which it is.
    expect(new Set(played!.cues.map(asJson))).toEqual(new Set(reference!.cues.map(asJson)))
    const found = sorted(played!.texts).map(asText)
    // HLS repeats a caption in each segment that it lies in, and Shaka Player reports all.
    const isRepeated = player === 'shaka' && path === 'master.m3u8'
    expect(isRepeated ? [...new Set(found)] : found).toEqual(texts.toSorted((a, b) => a.start - b.start).map(asText))
    const starts = played!.cues.map(({ start }) => start.toFixed(2))
    expect(path.endsWith('.mpd') ? starts : [...new Set(starts)]).toEqual([BREAK.start.toFixed(2)])
  })

  async function requirePlayed(played: PlaybackResult): Promise<void> {
    expect(Math.abs(played.duration - SECONDS)).toBeLessThan(0.05)
    expect(played.heights).toEqual(HEIGHTS)
    expect(played.buffered.length).toBeLessThanOrEqual(1)
    const { flashes, beeps, video, audio } = await analyzeAppendedMedia(played, rate, (name) => tempDir.file(name))
    const seconds = Array.from({ length: SECONDS }, (_, second) => second)
    // None is missing and none is doubled, beside the joins too.
    for (const found of [flashes, beeps])
      expect([...new Set(found.map((time) => Math.floor(time)))].toSorted((a, b) => a - b)).toEqual(seconds)
    for (const time of [...flashes, ...beeps]) expect(Math.abs((time % 1) - flash)).toBeLessThan(0.012)
    for (const stretches of [video, audio]) {
      expect(Math.max(...stretches.map(([, end]) => end))).toBeGreaterThan(SECONDS - 0.03)
      let reached = 0.03
      for (const [start, end] of stretches.toSorted((a, b) => a[0] - b[0])) {
        expect(start).toBeLessThan(reached + 0.03)
        reached = Math.max(reached, end)
      }
    }
  }
})

const asJson = (cue: PlaybackResult['cues'][number]): string => JSON.stringify(cue)
const asText = ({ text, start, end }: Line): string => `${start.toFixed(2)}-${end.toFixed(2)} ${text.trim()}`
/** What begins at the same time comes in any order. */
const sorted = (texts: PlaybackResult['texts']) =>
  texts.toSorted((a, b) => a.start - b.start || asText(a).localeCompare(asText(b)) || a.label.localeCompare(b.label))
