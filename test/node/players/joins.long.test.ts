// hls.js, Shaka Player and dash.js in headless Chromium play joined inputs from the service, across the joins, to the end.
import { beforeAll, describe, expect, test } from 'vitest'
import type { PublicStatus } from '#contract/api/status.ts'
import { NO_CHROMIUM } from '../../support/browser/dashboardPage.ts'
import { findChromium, PlayerBrowser, type PlayerName } from '../../support/browser/playerBrowser.ts'
import { fileResources } from '../../support/fileResources.ts'
import { makePlayerClip, PLAYER_CLIP } from '../../support/media/playerClip.ts'
import { ffmpeg, tempDirectory } from '../../support/media/media.ts'
import { skipSuite } from '../../support/requirement.ts'
import { jobRequest, Service } from '../../support/service.ts'
import { analyzeAppendedMedia } from './appendedMedia.ts'

const chromium = await findChromium()

/** The parts of the clip, in seconds. Each begins and ends on a whole second: flashes and beeps stay one second apart. */
const PIECES = [
  [0, 2],
  [5, 6],
  [1, 3],
] as const
const SECONDS = 5
const HEIGHTS = [90, 180]
const REORDER = 2 / PLAYER_CLIP.rate

describe.skipIf(skipSuite(chromium === null ? NO_CHROMIUM : null))('players across joins', () => {
  let browser: PlayerBrowser
  let tempDir: Awaited<ReturnType<typeof tempDirectory>>
  const made = new Map<string, PublicStatus>()

  const resources = fileResources()
  beforeAll(async () => {
    tempDir = resources.use(await tempDirectory())
    const service = resources.use(await Service.start({ LEASE_SECONDS: '30' }))
    browser = resources.use(await PlayerBrowser.start(chromium!))
    const clip = await makePlayerClip((name) => tempDir.file(name))
    // The piece in the middle has another size, rate and container, and one channel.
    const other = tempDir.file('other.mp4')
    const video = ['-vf', 'scale=160:90', '-r', '50', '-c:v', 'libx264', '-preset', 'ultrafast']
    await ffmpeg(['-y', '-i', clip, ...video, '-c:a', 'aac', '-ac', '1', '-ar', '44100', other])
    const [first, second] = [await service.upload(clip), await service.upload(other)]
    const inputs = PIECES.map(([start, end], at) => ({
      input: at === 1 ? second : first,
      start_seconds: start,
      end_seconds: end,
    }))
    const request = jobRequest(first, 'file-upload', {
      bucket_output_path: 'show',
      segment_length: 2,
      gop_length: 1,
      videoProfiles: [
        { output: 'high', width: 320, height: 180, video_bitrate: 600 },
        { output: 'low', width: 160, height: 90, video_bitrate: 150 },
      ],
    })
    const job = async (change: object): Promise<PublicStatus> => {
      const status = await service.run({ ...request, input: undefined, inputs, ...change })
      expect(status).toMatchObject({ state: 'ready', error: null })
      return status
    }
    made.set('cmaf', await job({ segmented_output_hls: true, segmented_output_dash: true }))
    made.set('ts', await job({ output_container: 'ts', segmented_output_hls: true }))
  })

  const cases: [PlayerName, job: string, path: string, late: number][] = [
    ['hls', 'cmaf', 'master.m3u8', 0],
    ['hls', 'ts', 'master.m3u8', REORDER],
    ['shaka', 'cmaf', 'manifest.mpd', 0],
    ['dash', 'cmaf', 'manifest.mpd', 0],
  ]
  test.each(cases)('%s plays the %s output from %s', async (player, job, path, late) => {
    const address = made.get(job)?.outputs.find((output) => output.path === `show/${path}`)?.url
    const played = await browser.play(player, address!, 1)
    expect(played.trouble).toEqual([])
    expect(played.errors).toEqual([])
    expect(played.ended).toBe(true)
    expect(Math.abs(played.duration - late - SECONDS)).toBeLessThan(0.05)
    expect(played.heights).toEqual(HEIGHTS)
    expect(played.buffered.length).toBeLessThanOrEqual(1)
    const { flashes, beeps, video, audio } = await analyzeAppendedMedia(played, PLAYER_CLIP.rate, (name) =>
      tempDir.file(name),
    )
    const seconds = Array.from({ length: SECONDS }, (_, second) => second)
    // None is missing and none is doubled, in the seconds beside the joins too.
    for (const found of [flashes, beeps])
      expect([...new Set(found.map((time) => Math.floor(time)))].toSorted((a, b) => a - b)).toEqual(seconds)
    for (const time of flashes) expect(Math.abs((time % 1) - late - PLAYER_CLIP.flash)).toBeLessThan(0.045)
    for (const time of beeps) expect(Math.abs((time % 1) - late - PLAYER_CLIP.flash)).toBeLessThan(0.012)
    for (const stretches of [video, audio]) {
      expect(Math.max(...stretches.map(([, end]) => end))).toBeGreaterThan(SECONDS - 0.03)
      let reached = late + 0.03
      for (const [start, end] of stretches.toSorted((a, b) => a[0] - b[0])) {
        expect(start).toBeLessThan(reached + 0.03)
        reached = Math.max(reached, end)
      }
    }
    // A frame and its time may differ by two frames.
    const wrong = played.pictures.filter(({ time, bright }) => {
      const behind = (time - late - PLAYER_CLIP.flash + 2) % 1
      const edge = Math.min(behind, Math.abs(behind - PLAYER_CLIP.flashed), 1 - behind)
      return edge >= 0.085 && bright !== behind < PLAYER_CLIP.flashed
    })
    expect(wrong).toEqual([])
  })
})
