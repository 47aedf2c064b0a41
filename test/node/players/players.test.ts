// hls.js, Shaka Player and dash.js in headless Chromium play the outputs of a real job from the service, to the end.
import { beforeAll, describe, expect, test } from 'vitest'
import type { PublicStatus } from '#contract/api/status.ts'
import { fileResources } from '../../support/fileResources.ts'
import { NO_CHROMIUM } from '../../support/browser/dashboardPage.ts'
import { LONG_FORM, sampled } from '../../support/longForm.ts'
import { tempDirectory } from '../../support/media/media.ts'
import { skipSuite } from '../../support/requirement.ts'
import { jobRequest, Service } from '../../support/service.ts'
import { analyzeAppendedMedia } from './appendedMedia.ts'
import {
  findChromium,
  PlayerBrowser,
  type PlaybackResult,
  type PlayerName,
} from '../../support/browser/playerBrowser.ts'
import { PLAYER_CLIP, makePlayerClip } from '../../support/media/playerClip.ts'

const chromium = await findChromium()

const HEIGHTS = [90, 180]
/** Seconds by which two B-frames delay a frame. */
const REORDER = 2 / PLAYER_CLIP.rate
const common = {
  bucket_output_path: 'show',
  segment_length: 2,
  gop_length: 1,
  scte35_passthough: true,
  closed_captions: true,
  videoProfiles: [
    { output: 'high', width: 320, height: 180, video_bitrate: 600 },
    { output: 'low', width: 160, height: 90, video_bitrate: 150 },
  ],
}

const copyOf = ({ output }: { output: string }): object => ({ output, video_codec: 'copy' })

describe.skipIf(skipSuite(chromium === null ? NO_CHROMIUM : null))('players', () => {
  let service: Service
  let browser: PlayerBrowser
  let tempDir: Awaited<ReturnType<typeof tempDirectory>>
  const made: Partial<Record<'cmaf' | 'ts' | 'smooth' | 'copied', PublicStatus>> = {}

  const resources = fileResources()
  beforeAll(async () => {
    tempDir = resources.use(await tempDirectory())
    service = resources.use(await Service.start({ LEASE_SECONDS: '30' }))
    browser = resources.use(await PlayerBrowser.start(chromium!))
    const input = await service.upload(await makePlayerClip((name) => tempDir.file(name)))
    const job = async (change: object, source = input): Promise<PublicStatus> => {
      const status = await service.run(jobRequest(source, 'file-upload', { ...common, ...change }))
      expect(status).toMatchObject({ state: 'ready', error: null })
      return status
    }
    made.cmaf = await job({ segmented_output_hls: true, segmented_output_dash: true, create_tar_file: true })
    made.ts = await job({ output_container: 'ts', segmented_output_hls: true })
    made.smooth = await job({ output_container: 'silverlight' })
    if (!LONG_FORM) return
    // The high rendition is the source's video; the low one has key frames at the same times.
    const gops = ['-g', '50', '-sc_threshold', '0']
    const copied = await service.upload(await makePlayerClip((name) => tempDir.file(`gops-${name}`), 15, gops))
    const [high, low] = common.videoProfiles
    const change = { segmented_output_hls: true, segmented_output_dash: true, videoProfiles: [copyOf(high!), low] }
    made.copied = await job(change, copied)
  })

  const address = (job: keyof typeof made, path: string): string => {
    const url = made[job]?.outputs.find((output) => output.path === `show/${path}`)?.url
    if (url == null) throw new Error(`no ${path} in ${JSON.stringify(made[job]?.outputs.map((output) => output.path))}`)
    return url
  }

  /** The checks for every player. */
  async function requirePlayed(played: PlaybackResult, late: number): Promise<void> {
    expect(played.errors).toEqual([])
    expect(played.ended).toBe(true)
    expect(Math.abs(played.duration - late - PLAYER_CLIP.seconds)).toBeLessThan(0.05)
    expect(played.switched).toBe(HEIGHTS.length)
    expect(played.heights).toEqual(HEIGHTS)
    expect(played.buffered.length).toBeLessThanOrEqual(1)
    // What was appended to the decoder: one flash and one beep in every second, at the right time, in both renditions.
    const { flashes, beeps, video, audio } = await analyzeAppendedMedia(played, PLAYER_CLIP.rate, (name) =>
      tempDir.file(name),
    )
    const seconds = Array.from({ length: PLAYER_CLIP.seconds }, (_, second) => second)
    for (const second of seconds) {
      const near = (times: number[]): number[] => times.filter((time) => Math.floor(time) === second)
      expect(near(flashes).length, `flash of second ${second}`).toBeGreaterThanOrEqual(1)
      expect(near(beeps).length, `beep of second ${second}`).toBeGreaterThanOrEqual(1)
    }
    for (const time of [...flashes, ...beeps])
      expect(Math.abs((time % 1) - late - PLAYER_CLIP.flash)).toBeLessThan(0.01)
    for (const stretches of [video, audio]) {
      const begins = Math.min(...stretches.map(([start]) => start))
      const ends = Math.max(...stretches.map(([, end]) => end))
      // Audio of a transport stream starts up to an encoder delay before the video.
      expect(begins).toBeGreaterThan(-0.03)
      expect(begins).toBeLessThan(late + 0.03)
      expect(ends).toBeGreaterThan(PLAYER_CLIP.seconds - 0.03)
      // Without a gap, also where the rendition changed.
      let reached = begins
      for (const [start, end] of stretches.toSorted((a, b) => a[0] - b[0])) {
        expect(start).toBeLessThan(reached + 0.03)
        reached = Math.max(reached, end)
      }
    }
    // What was shown: bright at the flashes only. A frame and its time may differ by two frames.
    const far = played.pictures.flatMap(({ time, bright }) => {
      const behind = (time - late - PLAYER_CLIP.flash + 2) % 1
      const edge = Math.min(behind, Math.abs(behind - PLAYER_CLIP.flashed), 1 - behind)
      return edge < 0.085 ? [] : [{ time, bright, wanted: behind < PLAYER_CLIP.flashed }]
    })
    expect(far.filter(({ bright, wanted }) => bright !== wanted)).toEqual([])
    expect(new Set(far.map(({ bright }) => bright))).toEqual(new Set([false, true]))
  }

  const requireCaption = (played: PlaybackResult): void =>
    expect(played.texts.map(({ text }) => text.trim())).toContain(PLAYER_CLIP.caption)
  const requireCue = (played: PlaybackResult): void =>
    expect(played.cues.map(({ start }) => Math.round(start * 100) / 100)).toContain(PLAYER_CLIP.splice)

  const cases: [PlayerName, keyof typeof made, string, { captions?: boolean; cues?: boolean; late?: number }][] = [
    ['hls', 'cmaf', 'master.m3u8', { captions: true, cues: true }],
    // hls.js starts a transport stream's timeline at its first DTS, which B-frames put before the first frame.
    ['hls', 'ts', 'master.m3u8', { captions: true, cues: true, late: REORDER }],
    ['shaka', 'cmaf', 'master.m3u8', { captions: true, cues: true }],
    ['shaka', 'cmaf', 'manifest.mpd', { captions: true, cues: true }],
    ['dash', 'cmaf', 'manifest.mpd', { captions: true, cues: true }],
    ['dash', 'smooth', 'show.ism/Manifest', {}],
    ['hls', 'cmaf', 'tar.m3u8', { captions: true }],
    ['shaka', 'cmaf', 'tar.mpd', {}],
    ['dash', 'cmaf', 'tar.mpd', {}],
  ]
  const copies: typeof cases = [
    ['hls', 'copied', 'master.m3u8', { captions: true }],
    ['shaka', 'copied', 'manifest.mpd', { captions: true }],
    ['dash', 'copied', 'manifest.mpd', { captions: true }],
  ]
  test.each([...sampled(cases, 5), ...(LONG_FORM ? copies : [])])(
    '%s plays the %s output from %s',
    async (player, job, path, { captions, cues, late = 0 }) => {
      const played = await browser.play(player, address(job, path), 1)
      expect(played.trouble).toEqual([])
      if (process.env['SHOW'] === '1')
        console.log(
          player,
          job,
          path,
          JSON.stringify({ ...played, appended: played.appended.length, pictures: played.pictures.length }),
        )
      await requirePlayed(played, late)
      if (captions) requireCaption(played)
      if (cues) requireCue(played)
    },
  )
})
