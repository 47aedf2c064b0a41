// hls.js, Shaka Player and dash.js show the subtitles of a source, and play video profiles that select different audio.
import { writeFile } from 'node:fs/promises'
import { beforeAll, describe, expect, test } from 'vitest'
import type { PublicStatus } from '#contract/api/status.ts'
import { fileResources } from '../../support/fileResources.ts'
import { NO_CHROMIUM } from '../../support/browser/dashboardPage.ts'
import { sampled } from '../../support/longForm.ts'
import { ffmpeg, makeClip, tempDirectory } from '../../support/media/media.ts'
import { skipSuite } from '../../support/requirement.ts'
import { jobRequest, Service } from '../../support/service.ts'
import { findChromium, PlayerBrowser, type PlayerName } from '../../support/browser/playerBrowser.ts'

const chromium = await findChromium()

const SECONDS = 6
const LINE = { start: 1.2, text: 'Guten Tag & 1 < 2' }

describe.skipIf(skipSuite(chromium === null ? NO_CHROMIUM : null))('players', () => {
  let service: Service
  let browser: PlayerBrowser
  let tempDir: Awaited<ReturnType<typeof tempDirectory>>
  const made: Partial<Record<'cmaf' | 'ts', PublicStatus>> = {}

  const resources = fileResources()
  beforeAll(async () => {
    tempDir = resources.use(await tempDirectory())
    service = resources.use(await Service.start({ LEASE_SECONDS: '30' }))
    browser = resources.use(await PlayerBrowser.start(chromium!))
    const [clip, text, path] = [tempDir.file('clip.mp4'), tempDir.file('de.srt'), tempDir.file('all.mkv')]
    await makeClip(clip, { seconds: SECONDS, audio: [2] })
    await writeFile(text, `1\n00:00:01,200 --> 00:00:05,000\n${LINE.text}\n`)
    const flags = '-map 0 -map 1 -c copy -c:s srt -metadata:s:s:0 language=ger'.split(' ')
    await ffmpeg(['-i', clip, '-i', text, ...flags, path])
    const input = await service.upload(path)
    const encoding = (audio_bitrate: string) => ({
      audio_codec: 'aac',
      audio_channels: '2',
      audio_bitrate,
      source_stream: '1',
    })
    const job = async (change: object): Promise<PublicStatus> => {
      const common = {
        bucket_output_path: 'show',
        segment_length: 2,
        gop_length: 1,
        segmented_output_hls: true,
        videoProfiles: [
          { output: 'low', width: 160, height: 90, video_bitrate: 150, audio_profiles: '1' },
          { output: 'high', width: 320, height: 180, video_bitrate: 600, audio_profiles: '0' },
        ],
        audioProfiles: [encoding('128'), encoding('64')],
      }
      const status = await service.run(jobRequest(input, 'file-upload', { ...common, ...change }))
      expect(status).toMatchObject({ state: 'ready', error: null })
      return status
    }
    made.cmaf = await job({ segmented_output_dash: true })
    made.ts = await job({ output_container: 'ts' })
  })

  /** What the player can choose from: Shaka Player does not support subsets and offers all combinations. */
  const cases: [PlayerName, keyof typeof made, string, number][] = [
    ['shaka', 'cmaf', 'manifest.mpd', 4],
    ['shaka', 'cmaf', 'master.m3u8', 2],
    ['hls', 'ts', 'master.m3u8', 2],
    ['hls', 'cmaf', 'master.m3u8', 2],
    ['dash', 'cmaf', 'manifest.mpd', 2],
  ]
  test.each(sampled(cases, 2))(
    '%s plays the %s output from %s with its subtitles',
    async (player, job, path, choices) => {
      const url = made[job]!.outputs.find((output) => output.path === `show/${path}`)!.url!
      const played = await browser.play(player, url, 1)
      expect(played.trouble).toEqual([])
      expect(played.errors).toEqual([])
      expect(played.ended).toBe(true)
      expect(played.switched).toBe(choices)
      // dash.js starts with the better of two sets; the other set's id shows that it knows both.
      expect(played.heights).toEqual(player === 'dash' ? [180] : [90, 180])
      expect(played.texts.map((one) => plain(one.text))).toContain(LINE.text)
      for (const { start } of played.texts) expect(Math.abs(start - LINE.start)).toBeLessThan(0.1)
    },
  )
})

/** Players keep a cue's text with its markup. */
function plain(text: string): string {
  return text.trim().replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&')
}
