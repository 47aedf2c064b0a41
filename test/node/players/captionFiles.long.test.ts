// In charge of: caption files through the real service, from an upload and from a web server: players show them, mp4 files
// have them, a dry run lists them, and a file that cannot be read ends the job with its line.
// Not in charge of: the formats (test/node/transcoder/formats/captions).
import { writeFile } from 'node:fs/promises'
import { beforeAll, describe, expect, test } from 'vitest'
import type { Estimate } from '#contract/task/dryRunEstimate.ts'
import type { PublicStatus } from '#contract/api/status.ts'
import { fileResources } from '../../support/fileResources.ts'
import { NO_CHROMIUM } from '../../support/browser/dashboardPage.ts'
import { findChromium, PlayerBrowser, type PlayerName } from '../../support/browser/playerBrowser.ts'
import { stlFile, stlText } from '../../support/captions/stlFile.ts'
import { readSubtitles } from '../../support/captions/subtitleText.ts'
import { WebSite } from '../../support/http/webSite.ts'
import { makeClip, tempDirectory } from '../../support/media/media.ts'
import { skipSuite } from '../../support/requirement.ts'
import { jobRequest, Service } from '../../support/service.ts'

const chromium = await findChromium()

let service: Service
let site: WebSite
let tempDir: Awaited<ReturnType<typeof tempDirectory>>
let source: string
let captions: object[]
const LINE = { start: 1.2, text: 'Guten Tag & 1 < 2' }
const TOP = { start: 2, text: 'Am Anfang' }

const resources = fileResources()
beforeAll(async () => {
  tempDir = resources.use(await tempDirectory())
  site = resources.use(await WebSite.start())
  service = resources.use(await Service.start({ LEASE_SECONDS: '30', ALLOW_PRIVATE_HOSTS: site.host }))
  source = await service.upload(await makeClip(tempDir.file('clip.mp4'), { seconds: 5.2, audio: [2] }))
  await writeFile(tempDir.file('de.srt'), `1\n00:00:01,200 --> 00:00:05,000\n${LINE.text}\n`)
  const stl = stlFile([{ first: '10:00:02:00', last: '10:00:03:00', text: stlText(TOP.text), row: 2 }])
  site.files.set('/top.stl', stl)
  site.files.set('/broken.srt', Buffer.from('1\n00:00:01,200 --> soon\nx\n'))
  captions = [
    { input: await service.upload(tempDir.file('de.srt')), language: 'de', default: true },
    { input: `${site.url}/top.stl?key=1`, language: 'en', label: 'Top' },
  ]
})

const job = (change: object) => jobRequest(source, 'file-upload', { captions, ...change })

describe.skipIf(skipSuite(chromium === null ? NO_CHROMIUM : null))('players', () => {
  let browser: PlayerBrowser
  let made: PublicStatus
  beforeAll(async () => {
    browser = resources.use(await PlayerBrowser.start(chromium!))
    made = await service.run(
      job({
        bucket_output_path: 'show',
        segment_length: 2,
        gop_length: 1,
        segmented_output_hls: true,
        segmented_output_dash: true,
        videoProfiles: [{ output: 'one', width: 160, height: 90, video_bitrate: 150 }],
      }),
    )
  })
  const cases: [PlayerName, string][] = [
    ['shaka', 'manifest.mpd'],
    ['shaka', 'master.m3u8'],
    ['hls', 'master.m3u8'],
    ['dash', 'manifest.mpd'],
  ]
  test.each(cases)('%s shows the captions of %s', async (player, path) => {
    expect(made).toMatchObject({ state: 'ready', error: null })
    const url = made.outputs.find((output) => output.path === `show/${path}`)!.url!
    const played = await browser.play(player, url, 1)
    expect([played.trouble, played.errors, played.ended]).toEqual([[], [], true])
    const texts = played.texts.map(({ start, text }) => ({ start, text: plain(text) }))
    expect(texts.map(({ text }) => text)).toContain(LINE.text)
    for (const { start, text } of texts)
      expect(Math.abs(start - (text === TOP.text ? TOP : LINE).start)).toBeLessThan(0.1)
  })
})

test('an mp4 file has both tracks, and a dry run lists them', async () => {
  const body = job({ videoProfiles: [{ output: 'a.mp4', width: 160, height: 90, video_bitrate: 150 }] })
  const status = await service.run(body)
  expect(status).toMatchObject({ state: 'ready', error: null })
  const response = await fetch(status.outputs[0]!.url!)
  await writeFile(tempDir.file('a.mp4'), new Uint8Array(await response.arrayBuffer()))
  expect(await readSubtitles(tempDir.file('a.mp4'))).toEqual([{ start: 1200, end: 5000, text: LINE.text }])
  expect(await readSubtitles(tempDir.file('a.mp4'), '0:s:1')).toEqual([{ start: 2000, end: 3000, text: TOP.text }])
  const answer = await service.call('/api/v0/job?dry_run=true', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  const { _auto_generated_id_: id } = (await answer.json()) as { _auto_generated_id_: number }
  const dry = await service.waitForEnd(id)
  expect((dry.estimate as Estimate).plan.captions).toMatchObject([
    { caption: 0, format: 'srt', language: 'de', default: true, captions: 1 },
    { caption: 1, format: 'stl', language: 'en', label: 'Top', captions: 1 },
  ])
  expect(dry.warnings.map(({ code }) => code)).toContain('captions_times_shifted')
})

test('a file that cannot be read ends the job with its field and its line', async () => {
  const status = await service.run(
    job({ captions: [...captions, { input: `${site.url}/broken.srt`, language: 'de' }] }),
  )
  expect(status).toMatchObject({
    state: 'error',
    error: { code: 'captions_unreadable', field: 'captions[2].input', details: { line: 2 } },
    outputs: [],
  })
})

/** Players keep a cue's text with its markup. */
function plain(text: string): string {
  return text.trim().replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&')
}
