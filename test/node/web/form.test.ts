// In charge of: parts of the dashboard that can be tested without a browser: its tables are complete, and its size.
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { lastPathSegment } from '#contract/job/paths/inputAddress.ts'
import type { SourceReport } from '#contract/task/dryRunEstimate.ts'
import { validateJob } from '#contract/job/validateJob.ts'
import { builtInPresets } from '#contract/job/builtInPresets.ts'
import { buildWeb, SITE } from '../../../scripts/buildWeb.ts'
import {
  bodyOf,
  bodyWith,
  curlLine,
  jobOfPreset,
  listText,
  membersAt,
  shownBody,
  stillsOf,
  textList,
  withSource,
} from '../../../web/src/form/model/formBody.ts'
import { displaySize, presetFit } from '../../../web/src/form/model/presetFit.ts'
import { messageOf, fieldTitle } from '../../../web/src/form/model/messages.ts'
import { renameForHeight } from '../../../web/src/form/model/renditionNames.ts'
import { addressOf, filtersOf, isFiltered, queryOf } from '../../../web/src/api/jobFilters.ts'
import { runningTime } from '../../../web/src/text/mediaTerms.ts'
import {
  keyChanges,
  quotaFormValues,
  quotaBody,
  describeKeyLimits,
  keyFormValues,
} from '../../../web/src/admin/keyLimits.ts'
import { appended, refreshed } from '../../../web/src/api/pagedList.ts'
import { eventReader } from '../../../web/src/api/sse.ts'
import { rateOf, addSample, secondsLeft, type Sample } from '../../../web/src/transfers/rate.ts'
import {
  formatBytes,
  formatDuration,
  describeParts,
  describeProgress,
  formatTimeLeft,
} from '../../../web/src/text/format.ts'

const stores = { input: { cloud_provider: 'file-upload' }, output: { cloud_provider: 'vendor-store' } }
const presets = builtInPresets.map(({ job }) => ({ body: job }))

test.for(builtInPresets.map((preset) => [preset.preset_id, preset] as const))(
  'the service accepts what the form makes of the preset %s',
  ([, { job }]) => {
    const validation = validateJob({ ...bodyWith(job, null), input: '1' }, { baseUrl: 'https://x.test' })
    expect(validation).toMatchObject({ ok: true, warnings: [] })
  },
)

test('a stored configuration becomes the same request again, without secrets', () => {
  const [preset] = presets
  const judged = validateJob(
    { ...preset!.body, input: 'https://a.test/film.mp4', cloud_credentials: { input: { cloud_provider: 'http' } } },
    { baseUrl: 'https://x.test' },
  )
  if (!judged.ok) throw new Error('refused')
  const again = validateJob(bodyOf(judged.config), { baseUrl: 'https://x.test' })
  expect(again).toEqual(judged)
})

test('so does one with stills, a preview, a waveform and burned-in captions; their times are edited as one line', () => {
  const extracts = {
    stills: [
      { at_seconds: [1, '00:00:02.500'], width: 320 },
      { count: 3, format: 'webp' },
    ],
    animated_preview: { format: 'gif' },
    waveform: { bits: 16 },
    captions: [{ input: 'https://a.test/film.srt', language: 'de' }],
    burn_in_captions: { captions: '0' },
    videoProfiles: [{ width: 320, height: 180, video_bitrate: 500 }],
    audioProfiles: [],
  }
  const http = { input: { cloud_provider: 'http' }, output: { cloud_provider: 'vendor-store' } }
  const body = { input: 'https://a.test/film.mp4', cloud_credentials: http, ...extracts }
  const judged = validateJob(body, { baseUrl: 'https://x.test' })
  if (!judged.ok) throw new Error('refused')
  const again = bodyOf(judged.config)
  expect(validateJob(again, { baseUrl: 'https://x.test' })).toEqual(judged)
  expect(stillsOf(again).map((each) => listText(each['at_seconds']))).toEqual(['1, 00:00:02.500', undefined])
  expect(['1, 00:00:02.500', '5', ''].map(textList)).toEqual([['1', '00:00:02.500'], '5', ''])
  expect([membersAt(again, 'waveform'), membersAt(again, 'logo_url')]).toMatchObject([{ bits: '16' }, null])
})

test('a webhook address shown without its query is not sent again: the address of the key is used, or none', () => {
  const stored = (webhook_url: string) => {
    const body = { ...presets[0]!.body, input: '1', webhook_url, cloud_credentials: stores }
    const judged = validateJob(body, { baseUrl: 'https://x.test' })
    if (!judged.ok) throw new Error('refused')
    return bodyOf(judged.config)
  }
  expect(stored('https://hooks.test/in?token=1')).not.toHaveProperty('webhook_url')
  expect(stored('https://hooks.test/in')).toHaveProperty('webhook_url', 'https://hooks.test/in')
})

test('changing source credentials keeps the address; changing the kind of store clears it', () => {
  const body = {
    input: 's3://bucket/film.mp4',
    videoProfiles: [],
    audioProfiles: [],
    cloud_credentials: { input: { cloud_provider: 'aws' }, output: { cloud_provider: 'vendor-store' } },
  }
  const typed = withSource(body, { cloud_provider: 'aws', access_key: 'A' })
  expect(typed).toEqual({
    ...body,
    cloud_credentials: { ...body.cloud_credentials, input: { cloud_provider: 'aws', access_key: 'A' } },
  })
  expect(withSource(typed, { cloud_provider: 'gcloud' })).not.toHaveProperty('input')
})

describe('errors use the labels of the form', () => {
  const found = (change: object, provider = 'file-upload') => {
    const body = { ...bodyWith(builtInPresets[0]!.job, null), input: '1', ...change }
    const judged = validateJob(body, { baseUrl: 'https://x.test' })
    return judged.ok
      ? []
      : judged.problems.map((problem) => `${fieldTitle(problem.field)}: ${messageOf(problem, provider)}`)
  }
  const rendition = (change: object) => ({
    videoProfiles: [{ output: 'a.mp4', width: 0, height: 720, video_bitrate: 2600, ...change }],
  })

  test.for([
    [
      rendition({ height: 99999 }),
      'Rendition 1 · Height: Enter a number from 16 to 4320, or 0 for that of the source.',
    ],
    [
      rendition({ width: 1280, video_bitrate: 500 }),
      /^Rendition 1 · Bitrate \(kbps\): Too low: enter at least [\d,]+ kbps for this resolution\.$/,
    ],
    [rendition({ video_bitrate_mode: 'fast' }), 'Rendition 1 · Rate control: Choose CBR, VBR or QVBR.'],
    [
      { videoProfiles: [], audioProfiles: [] },
      'Renditions: Add a rendition. For audio alone, choose a container or a directory of audio files.',
    ],
    [{ loudness_lufs: -16, audio_volume: 50 }, /^Loudness \(LUFS\): .*“Loudness \(LUFS\)”.*“Volume \(%\)”/],
    [{ input: undefined }, 'Source: Choose a file.'],
  ] as const)('%j', ([change, sentence]) => {
    const said = found(change)
    expect(said).toHaveLength(1)
    expect(said[0]).toMatch(sentence)
  })

  test('all errors at once: a bitrate is checked even if the size next to it is invalid', () => {
    expect(found(rendition({ height: 99999, video_bitrate: 5 }))).toEqual([
      'Rendition 1 · Height: Enter a number from 16 to 4320, or 0 for that of the source.',
      'Rendition 1 · Bitrate (kbps): Too low: enter at least 100 kbps.',
    ])
  })

  test('no sentence has a name of the API in it', () => {
    const bodies = [
      { cloud_credentials: { input: { cloud_provider: 'file-upload' }, output: { cloud_provider: 'aws' } } },
      { output_container: 'hls', video_codec: 'mpeg2' },
      { loudness_lufs: -20, audio_volume: 50 },
      { audioProfiles: [{ audio_codec: 'mp2', audio_channels: '6', source_stream: '9' }] },
      rendition({ audio_profiles: '7', output: '../x' }),
    ]
    for (const body of bodies) {
      const said = found(body)
      expect(said.length).toBeGreaterThan(0)
      expect(said.join('\n')).not.toMatch(/[a-z0-9]_[a-z0-9]|Profiles/)
    }
  })
})

test.for([
  ['video_1080p', 240, 'video_240p'],
  ['video-1080p.mp4', 720, 'video-720p.mp4'],
  ['1080p60', 240, '1080p60'],
  ['film.mp4', 240, 'film.mp4'],
  ['video_1080p', 2, 'video_1080p'],
  ['video_1080p', 0, 'video_1080p'],
] as const)('the output %s with the height %d is called %s', ([name, height, called]) => {
  expect(renameForHeight(name, height)).toBe(called)
})

describe('how a preset suits a source', () => {
  const video = { width: 640, height: 360, sample_aspect_ratio: '1:1', rotation: 0, hdr: false }
  const source = (change: object, audio = [{}]) =>
    ({ video: { ...video, ...change }, audio }) as unknown as SourceReport
  const two = { allow_upscaling: false, videoProfiles: [{ height: 720 }, { width: 0, height: 360 }] }

  test('renditions above the source are left out, or made at its size', () => {
    expect(presetFit(two, source({})).notes).toEqual(['Leaves out 720p: the source is 640\u{a0}×\u{a0}360.'])
    expect(presetFit({ ...two, videoProfiles: [{ height: 720 }] }, source({})).notes).toEqual([
      'Made at the source’s size, 640\u{a0}×\u{a0}360.',
    ])
    expect(presetFit({ videoProfiles: [{ height: 720 }] }, source({})).notes).toEqual([
      'Upscales to 720p: the source is 640\u{a0}×\u{a0}360.',
    ])
  })
  test('an upright source counts by its shorter side, and by the size that is displayed', () => {
    expect(presetFit(two, source({ width: 1280, height: 720, rotation: 90 })).notes).toEqual([])
    expect(displaySize({ ...video, width: 720, height: 576, sample_aspect_ratio: '16:15' } as never)).toEqual({
      width: 768,
      height: 576,
    })
  })
  test('what cannot be made is explained', () => {
    expect(presetFit({ audio_output_path: 'audio', videoProfiles: [] }, source({}, [])).reason).toBe(
      'This source has no audio.',
    )
    expect(presetFit(two, { video: null, audio: [{}] } as never).reason).toBe('This source has no video.')
    expect(presetFit(two, null)).toEqual({ reason: null, notes: [] })
  })
})

test('speed and remaining time use the last seconds only', () => {
  let samples: Sample[] = []
  for (let second = 0; second <= 20; second++) {
    samples = addSample(samples, { at: second * 1000, bytes: second < 10 ? second * 1e6 : 9e6 + (second - 9) * 3e6 })
  }
  expect(samples.length).toBeLessThan(12)
  expect(rateOf(samples)).toBe(3e6)
  expect(secondsLeft(100e6, 40e6, 3e6)).toBe(20)
  expect(rateOf([{ at: 0, bytes: 0 }])).toBeNull()
  expect(
    rateOf([
      { at: 0, bytes: 0 },
      { at: 100, bytes: 10 },
    ]),
  ).toBeNull()
  expect(secondsLeft(10, 0, null)).toBeNull()
})

test.for([
  [6, '0:06'],
  [754.4, '12:34'],
  [3723, '1:02:03'],
] as const)('a running time of %d seconds is "%s"', ([seconds, text]) => {
  expect(runningTime(seconds)).toBe(text)
})

test('a preset keeps neither source nor credentials, and what belongs to one job', () => {
  const body = {
    ...bodyWith(builtInPresets[0]!.job, null),
    input: 'https://a.test/film.mp4?key=1',
    webhook_url: 'https://hooks.test/?token=1',
    metadata: { order: '7' },
    bucket_output_path: 's3://bucket',
  }
  expect(jobOfPreset(body)).toEqual(builtInPresets[0]!.job)
  const other = bodyWith(builtInPresets[1]!.job, body)
  expect(other).toMatchObject({ input: body.input, webhook_url: body.webhook_url, metadata: { order: '7' } })
})

const page = (items: number[], next: string | null) => ({ items, next })
const itself = (item: number) => item

test('reloading the first page keeps the pages loaded after it', () => {
  const long = page([9, 8, 7, 6, 5, 4], '4')
  expect(refreshed(long, page([10, 9, 8], '8'), itself)).toEqual(page([10, 9, 8, 7, 6, 5, 4], '4'))
  // 9 was deleted.
  expect(refreshed(long, page([8, 7, 6], '6'), itself)).toEqual(page([8, 7, 6, 5, 4], '4'))
  expect(refreshed(null, page([2, 1], null), itself)).toEqual(page([2, 1], null))
  expect(refreshed(long, page([2, 1], null), itself)).toEqual(page([2, 1], null))
  expect(refreshed(long, page([], null), itself)).toEqual(page([], null))
  // Between 11 and 9 there may be others.
  expect(refreshed(long, page([13, 12, 11], '11'), itself)).toEqual(page([13, 12, 11], '11'))
})

test('a further page is appended only to the list that it was requested for', () => {
  expect(appended(page([3, 2], '2'), '2', page([1], null))).toEqual(page([3, 2, 1], null))
  expect(appended(page([9, 8], '8'), '2', page([1], null))).toEqual(page([9, 8], '8'))
  expect(appended(page([3, 2, 1], null), '2', page([1], null))).toEqual(page([3, 2, 1], null))
})

describe('the terms of a key', () => {
  const key = {
    id: 'sp_1',
    account: 'default',
    scopes: ['jobs' as const],
    label: 'x',
    requests_per_minute: 60,
    priority: 0,
    max_stored_upload_bytes: null,
    webhook_url: 'https://hooks.test/',
    created_at: '',
    last_used_at: null,
    revoked_at: null,
    expires_at: null,
  }
  test('only what was changed is sent: an address is shown without its query', () => {
    const typed = keyFormValues(key)
    expect(typed).toEqual({ label: 'x', requests_per_minute: 60, webhook_url: 'https://hooks.test/' })
    expect(keyChanges(key, typed)).toEqual({})
    // Typed in gigabytes, sent in bytes.
    expect(keyFormValues({ ...key, max_stored_upload_bytes: 2.5e9 })).toHaveProperty('max_stored_upload_bytes', 2.5)
    expect(keyChanges(key, { max_stored_upload_bytes: 5, priority: -3 })).toEqual({
      label: '',
      requests_per_minute: null,
      max_stored_upload_bytes: 5e9,
      priority: -3,
      webhook_url: null,
    })
    // Not a number: the service reports the problem.
    expect(keyChanges(key, { ...typed, priority: 'high' })).toEqual({ priority: 'high' })
  })
  test('what is unusual is said', () => {
    expect(describeKeyLimits({ ...key, max_stored_upload_bytes: 5e9, priority: 4 })).toEqual([
      '60 requests per minute',
      '5 GB of uploads',
      'priority 4',
      'webhook https://hooks.test/',
    ])
    expect(describeKeyLimits({ ...key, requests_per_minute: null, webhook_url: null })).toEqual([])
  })
})

test('a quota equal to the service default is left out, so that saving another one does not store it', () => {
  const defaults = { max_active_jobs: 100, max_stored_upload_bytes: 1e12 }
  const own = {
    account: 'a',
    max_active_jobs: 100,
    max_running: 3,
    max_stored_upload_bytes: 5e9,
    weight: 1,
    spend_cap: null,
    spend_webhook_url: null,
  }
  expect(quotaFormValues(own, defaults)).toEqual({ max_running: 3, max_stored_upload_bytes: 5 })
  expect(quotaBody({ max_stored_upload_bytes: 0.5, weight: 2 })).toEqual({ max_stored_upload_bytes: 5e8, weight: 2 })
})

test.for([1, 2, 3, 7, 1000])('an event stream is parsed the same in chunks of %d characters', (size) => {
  const text =
    ': ping\r\n\r\nid: 1\nevent: job.created\ndata: {"a":\ndata:1}\n\nevent: progress\r\ndata: x\r\n\r\nid: 2\n\ndata: y\n\ndata: cut'
  const feed = eventReader()
  const events = []
  for (let at = 0; at < text.length; at += size) events.push(...feed(text.slice(at, at + size)))
  expect(events).toEqual([
    { type: 'job.created', data: '{"a":\n1}', id: '1' },
    { type: 'progress', data: 'x', id: '1' },
    { type: 'message', data: 'y', id: '2' },
  ])
})

describe('what is shown of a request', () => {
  const body = {
    input: 'https://a.test/film.mp4?signature=abc',
    videoProfiles: [{ output: "it's.mp4" }],
    audioProfiles: [],
    cloud_credentials: {
      input: { cloud_provider: 'http', access_key: 'AKIAVERYSECRET', secret_key: 'hunter2' },
      output: { cloud_provider: 'gcloud', private_key: '-----BEGIN KEY', session_token: 'token' },
    },
  }

  test('has no secret in it', () => {
    for (const shown of [shownBody(body), curlLine(body, 'https://x.test', false)]) {
      expect(shown).not.toMatch(/abc|AKIA|hunter2|BEGIN KEY|"token"/)
    }
  })

  test('is one line for a shell, whatever quotes are in it', () => {
    expect(curlLine(body, 'https://x.test', true)).toContain(`"it'\\''s.mp4"`)
    expect(curlLine(body, 'https://x.test', true)).toMatch(/'https:\/\/x\.test\/api\/v0\/job\?dry_run=true'$/)
  })
})

test.for([
  [0, '0 bytes'],
  [999, '999 bytes'],
  [12_345, '12.3 kB'],
  [999_600, '1 MB'],
  [100_000_000, '100 MB'],
] as const)('%d bytes are "%s"', ([count, text]) => {
  expect(formatBytes(count)).toBe(text)
})

test.for([
  [30, 'in 1 minute'],
  [7200, 'in 2 hours'],
  [6.6 * 86_400, 'in 7 days'],
] as const)('%d seconds from now are "%s"', ([seconds, text]) => {
  expect(formatTimeLeft(new Date(seconds * 1000).toISOString(), 0)).toBe(text)
})

describe('the filters of the history', () => {
  const read = (address: string) => filtersOf(new URL(address, 'https://x.test').searchParams)

  test.for([
    '/',
    '/?search=my+film.mp4&state=failed',
    '/?state=running&created=week',
    '/?from=2026-11-01&to=2026-11-20',
    '/?to=2026-11-20',
    '/?created=dates',
  ])('%s is read and written back', (address) => {
    expect(addressOf(read(address))).toBe(address)
  })

  test('what an address says wrongly is left out', () => {
    expect(addressOf(read('/?state=odd&created=never&from=tomorrow&to=2026-13-40&other=1'))).toBe('/')
    expect(isFiltered(read('/?created=dates'))).toBe(false)
  })

  test('become a query: times before now, and days from midnight to midnight here', () => {
    const now = Date.UTC(2026, 10, 21, 12)
    expect(queryOf(read('/?created=hour&search=x'), now)).toEqual({
      search: 'x',
      createdFrom: '2026-11-21T11:00:00.000Z',
    })
    const { createdFrom, createdTo } = queryOf(read('/?from=2026-11-01&to=2026-11-01'), now)
    expect(createdFrom).toBe(new Date(2026, 10, 1).toISOString())
    expect(createdTo).toBe(new Date(2026, 10, 2).toISOString())
  })
})

test.for([
  [0.4, '0.4 s'],
  [59.6, '1 min'],
  [200, '3 min 20 s'],
  [7500, '2 h 5 min'],
  [360_000, '4 d 4 h'],
] as const)('%d seconds are "%s"', ([seconds, text]) => {
  expect(formatDuration(seconds)).toBe(text)
})

test.for([
  ['s3://bucket/a/film.mp4', 'film.mp4'],
  ['https://x.test/film.mp4?sig=1', 'film.mp4'],
  ['https://x.test/uploads/12', 'Upload 12'],
  ['7', 'Upload 7'],
  ['https://x.test/a/', 'a'],
  ['https://x.test/My%20film.mp4#x', 'My film.mp4'],
  ['gs://bucket/a%20b?.mp4', 'a%20b?.mp4'],
] as const)('the input %s is called "%s"', ([input, name]) => {
  expect(lastPathSegment(input)).toBe(name)
})

const status = {
  job_id: 'x',
  state: 'ready',
  job_completed: false,
  phase: 'queued',
  queue_position: 2,
  failed_starts: null,
  waiting_for: null,
  eta_seconds: null,
  dry_run: false,
} as Parameters<typeof describeProgress>[0]

test.for([
  [{}, 'Position 3 in the queue.'],
  [{ queue_position: 0 }, 'Next in the queue.'],
  [{ queue_position: 1000 }, 'Queued behind 1000 or more jobs.'],
  [
    { failed_starts: { count: 4, code: 'no_answer', message: 'It slept.', next_try_at: '2026-01-01T00:00:00.000Z' } },
    'No transcoder has started after 4 tries. Trying again. It slept.',
  ],
  [
    { waiting_for: { code: 'source_unreachable', message: 'It is away.', next_try_at: '2026-01-01T00:00:00.000Z' } },
    'Waiting to try again. The last attempt failed: It is away.',
  ],
  [{ state: 'running', phase: 'transcoding', eta_seconds: 75 }, 'Transcoding, about 1 min 15 s left.'],
  [{ job_completed: true, phase: 'done' }, 'All outputs are ready.'],
  [{ state: 'error', job_completed: true }, 'The job failed.'],
] as const)('the sentence shown for a job that is %j', ([change, sentence]) => {
  expect(describeProgress({ ...status, ...change })).toBe(sentence)
})

test('the parts of a divided job in words', () => {
  const chunks = { total: 41, completed: 12, running: 3, map: '' }
  expect(describeParts({ ...status, chunks })).toBe('12 of 41 done, 3 running')
  expect(describeParts({ ...status, chunks: { ...chunks, running: 0 } })).toBe('12 of 41 done')
  expect(describeParts({ ...status, chunks: null })).toBeNull()
})

describe('the built page', () => {
  const LIMIT = 60_000

  test('loads less than 60 kB of script, compressed, before anybody wants to play something', async () => {
    await buildWeb()
    const page = await readFile(join(SITE, 'index.html'), 'utf8')
    const scripts = [...page.matchAll(/(?:src|modulepreload" href)="(\/assets\/[^"]+\.js)"/g)].map((match) => match[1]!)
    expect(scripts.length).toBeGreaterThan(0)
    let total = 0
    for (const script of scripts) total += gzipSync(await readFile(join(SITE, script))).length
    expect(total).toBeLessThan(LIMIT)
    // The player is a separate file.
    const all = (await readdir(join(SITE, 'assets'))).filter((name) => name.startsWith('shaka') && name.endsWith('.js'))
    expect(all).toHaveLength(1)
    expect(scripts.join()).not.toContain(all[0])
  })

  test('of a share loads less than 30 kB of script, compressed', async () => {
    await buildWeb()
    const page = await readFile(join(SITE, 'share.html'), 'utf8')
    const scripts = [...page.matchAll(/(?:src|modulepreload" href)="(\/assets\/[^"]+\.js)"/g)].map((match) => match[1]!)
    expect(scripts.length).toBeGreaterThan(0)
    let total = 0
    for (const script of scripts) total += gzipSync(await readFile(join(SITE, script))).length
    expect(total).toBeLessThan(30_000)
  })

  test.each(['index.html', 'share.html', 'share-gone.html'])(
    '%s has nothing inline and nothing from elsewhere',
    async (name) => {
      const page = await readFile(join(SITE, name), 'utf8')
      expect(page).not.toMatch(/<script(?![^>]*src="\/)|<style|style=|https?:/)
    },
  )
})
