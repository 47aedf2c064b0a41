// hls.js, Shaka Player and dash.js in headless Chromium play a divided job from the service, across its chunks, to the end.
/* oxlint-disable unicorn/no-useless-spread -- a flag and its value stay on one line */
import { beforeAll, describe, expect, test } from 'vitest'
import type { PublicStatus } from '#contract/api/status.ts'
import { NO_CHROMIUM } from '../../support/browser/dashboardPage.ts'
import { findChromium, PlayerBrowser, type PlayerName } from '../../support/browser/playerBrowser.ts'
import { fileResources } from '../../support/fileResources.ts'
import { PLAYER_CLIP } from '../../support/media/playerClip.ts'
import { ffmpeg, lavfi, tempDirectory } from '../../support/media/media.ts'
import { skipSuite } from '../../support/requirement.ts'
import { jobRequest, Service } from '../../support/service.ts'
import { analyzeAppendedMedia } from './appendedMedia.ts'

const chromium = await findChromium()

/** Three chunks of 8 s. */
const SECONDS = 24
const HEIGHTS = [90, 180]
const { rate, flash, flashed } = PLAYER_CLIP

describe.skipIf(skipSuite(chromium === null ? NO_CHROMIUM : null))('players across chunks', () => {
  let browser: PlayerBrowser
  let tempDir: Awaited<ReturnType<typeof tempDirectory>>
  let made: PublicStatus

  const resources = fileResources()
  beforeAll(async () => {
    tempDir = resources.use(await tempDirectory())
    const service = resources.use(await Service.start({ LEASE_SECONDS: '30' }))
    browser = resources.use(await PlayerBrowser.start(chromium!))
    const first = Math.round(rate * flash)
    const last = first + Math.round(rate * flashed) - 1
    const bright = `drawbox=c=black:t=fill,drawbox=c=white:t=fill:enable='between(mod(n,${rate}),${first},${last})'`
    const beeps = `aevalsrc=exprs='0.7*sin(2*PI*1000*t)*between(mod(t,1),${flash},${flash + 0.08})':s=48000:d=${SECONDS}`
    const clip = tempDir.file('flashes.mp4')
    await ffmpeg([
      ...lavfi(`testsrc2=s=320x180:r=${rate}:d=${SECONDS},${bright}`, beeps),
      ...['-c:v', 'libx264', '-preset', 'ultrafast', '-pix_fmt', 'yuv420p', '-c:a', 'aac', '-y', clip],
    ])
    made = await service.run(
      jobRequest(await service.upload(clip), 'file-upload', {
        bucket_output_path: 'show',
        segment_length: 2,
        gop_length: 1,
        output_container: 'hls',
        segmented_output_hls: true,
        segmented_output_dash: true,
        max_chunk_seconds: 10,
        videoProfiles: [
          { output: 'high', width: 320, height: 180, video_bitrate: 600 },
          { output: 'low', width: 160, height: 90, video_bitrate: 150 },
        ],
      }),
    )
  })

  const addressOf = (path: string): string => made.outputs.find((output) => output.path === `show/${path}`)!.url!

  test('three chunks are in three directories', async () => {
    expect(made).toMatchObject({ state: 'ready', error: null })
    const manifest = await (await fetch(addressOf('manifest.mpd'))).text()
    expect(new Set(manifest.match(/(?<=<SegmentURL media="high\/)[^/]+/g)).size).toBe(3)
  })

  const cases: [PlayerName, path: string][] = [
    ['hls', 'master.m3u8'],
    ['shaka', 'master.m3u8'],
    ['shaka', 'manifest.mpd'],
    ['dash', 'manifest.mpd'],
  ]
  test.each(cases)('%s plays %s', async (player, path) => {
    const played = await browser.play(player, addressOf(path), 1)
    expect(played.trouble).toEqual([])
    expect(played.errors).toEqual([])
    expect(played.ended).toBe(true)
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
  })
})
