// hls.js, Shaka Player and dash.js in headless Chromium play audio without video from the service, to the end.
import { beforeAll, describe, expect, test } from 'vitest'
import type { PublicStatus } from '#contract/api/status.ts'
import { NO_CHROMIUM } from '../../support/browser/dashboardPage.ts'
import { findChromium, PlayerBrowser, type PlayerName } from '../../support/browser/playerBrowser.ts'
import { fileResources } from '../../support/fileResources.ts'
import { makePlayerClip, PLAYER_CLIP } from '../../support/media/playerClip.ts'
import { tempDirectory } from '../../support/media/media.ts'
import { skipSuite } from '../../support/requirement.ts'
import { jobRequest, Service } from '../../support/service.ts'
import { analyzeAppendedMedia } from './appendedMedia.ts'

const chromium = await findChromium()

const profile = (audio_codec: string, audio_bitrate?: string) => ({ audio_codec, audio_bitrate, source_stream: '1' })
const common = { bucket_output_path: 'show', segment_length: 2, videoProfiles: [] }

describe.skipIf(skipSuite(chromium === null ? NO_CHROMIUM : null))('players of audio', () => {
  let service: Service
  let browser: PlayerBrowser
  let tempDir: Awaited<ReturnType<typeof tempDirectory>>
  const made = new Map<string, PublicStatus>()

  const resources = fileResources()
  beforeAll(async () => {
    tempDir = resources.use(await tempDirectory())
    service = resources.use(await Service.start({ LEASE_SECONDS: '30' }))
    browser = resources.use(await PlayerBrowser.start(chromium!))
    const input = await service.upload(await makePlayerClip((name) => tempDir.file(name)))
    const both = { segmented_output_hls: true, segmented_output_dash: true, create_tar_file: true }
    const jobs = {
      ladder: { ...both, audioProfiles: [profile('aac', '64'), profile('aac', '128'), profile('aac', '256')] },
      // Two renditions of one group, as of two languages.
      group: { ...both, audioProfiles: [profile('aac', '128'), profile('aac', '128')] },
      opus: { ...both, audioProfiles: [profile('opus', '96')] },
      flac: { ...both, audioProfiles: [profile('flac')] },
      ts: {
        output_container: 'ts',
        segmented_output_hls: true,
        audioProfiles: [profile('aac', '64'), profile('aac', '128')],
      },
    }
    const job = async (change: object): Promise<PublicStatus> => {
      const status = await service.run(jobRequest(input, 'file-upload', { ...common, ...change }))
      expect(status).toMatchObject({ state: 'ready', error: null })
      return status
    }
    for (const [name, change] of Object.entries(jobs)) made.set(name, await job(change))
  })

  const cases: [PlayerName, job: string, path: string, variants: number][] = [
    ['hls', 'ladder', 'master.m3u8', 3],
    ['shaka', 'ladder', 'manifest.mpd', 3],
    ['dash', 'ladder', 'manifest.mpd', 3],
    ['hls', 'group', 'master.m3u8', 1],
    ['shaka', 'group', 'master.m3u8', 2],
    ['hls', 'opus', 'master.m3u8', 1],
    ['shaka', 'flac', 'manifest.mpd', 1],
    ['hls', 'ts', 'master.m3u8', 2],
  ]
  test.each(cases)('%s plays the %s output from %s', async (player, job, path, variants) => {
    const address = made.get(job)?.outputs.find((output) => output.path === `show/${path}`)?.url
    const played = await browser.play(player, address!, 1)
    expect(played.trouble).toEqual([])
    expect(played.errors).toEqual([])
    expect(played.ended).toBe(true)
    expect(played.switched).toBe(variants)
    expect(Math.abs(played.duration - PLAYER_CLIP.seconds)).toBeLessThan(0.1)
    const { beeps, audio, video } = await analyzeAppendedMedia(played, PLAYER_CLIP.rate, (name) => tempDir.file(name))
    // hls.js calls the buffer of a transport stream's audio "audio", too.
    expect(video).toEqual([])
    expect(Math.min(...audio.map(([start]) => start))).toBeLessThan(0.03)
    expect(Math.max(...audio.map(([, end]) => end))).toBeGreaterThan(PLAYER_CLIP.seconds - 0.03)
    let reached = 0.03
    for (const [start, end] of audio.toSorted((a, b) => a[0] - b[0])) {
      expect(start).toBeLessThan(reached + 0.03)
      reached = Math.max(reached, end)
    }
    for (let second = 0; second < PLAYER_CLIP.seconds; second += 1)
      expect(
        beeps.some((time) => Math.abs(time - second - PLAYER_CLIP.flash) < 0.03),
        `beep ${second}`,
      ).toBe(true)
  })
})
