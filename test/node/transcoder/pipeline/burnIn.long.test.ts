// In charge of: burned-in captions of further sources and outputs: anamorphic, interlaced, HDR, joined, other attempts, faults.
// Not in charge of: their frames and their text (burnIn.test.ts).
import { readFile, writeFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import type { JobConfig } from '#contract/job/jobConfig.ts'
import { brightBox, differingFrames, greyFrame, requireFonts } from '../../../support/captions/drawnText.ts'
import { makeMovingBar } from '../../../support/media/interlacedClip.ts'
import { ffmpeg, lavfi, probeFile } from '../../../support/media/media.ts'
import { makeLogoImage } from '../../../support/media/testLogo.ts'
import { insertTeletext } from '../../../support/mpegts/teletextStream.ts'
import { skipTest } from '../../../support/requirement.ts'
import { BURN, BurnInTasks, CAPTION, profile, range, SIZE, srt } from '../../../support/transcoder/burnInTasks.ts'
import { JoinedTasks } from '../../../support/transcoder/joinedTask.ts'
import { useAttemptFixture } from '../../../support/transcoder/useAttempts.ts'

const fixtures = await useAttemptFixture()
await requireFonts(fixtures)
const tasks = new BurnInTasks(fixtures)

test('letters keep their shape where pixels are not square', async () => {
  await tasks.makeSource({ size: '720x576', seconds: 1, flags: ['-vf', 'setsar=64/45'] })
  const text = srt(['00,000', '01,000', 'MMMM'])
  const objects = await tasks.run({ ...BURN, videoProfiles: [profile(720, 576), profile(1024, 576, 'out/v1.mp4')] }, [
    text,
  ])
  const [anamorphic, square] = await Promise.all([tasks.save(objects, 'out/v0.mp4'), tasks.save(objects, 'out/v1.mp4')])
  const { streams } = await probeFile(anamorphic)
  expect(streams[0]?.sample_aspect_ratio).toBe('64:45')
  const a = brightBox(await greyFrame(anamorphic, 3), { width: 720, height: 576 })!
  const b = brightBox(await greyFrame(square, 3), { width: 1024, height: 576 })!
  expect(Math.abs((a.right - a.left) * (64 / 45) - (b.right - b.left))).toBeLessThan(6)
  expect(Math.abs(a.bottom - a.top - (b.bottom - b.top))).toBeLessThan(3)
})

test('another attempt that follows the plan draws the same', async () => {
  await tasks.makeSource({ subtitles: srt(['00,400', '00,800', 'Again']) })
  const change: Partial<JobConfig> = { burn_in_captions: { source_track: 1 } }
  const first = await tasks.run(change)
  const { plan } = tasks.plans[0]!
  expect(plan.burnIn).toMatchObject({ kind: 'text', from: { track: 1, stream: 1 }, cues: 1 })
  const second = await tasks.run(change, [], { plan })
  expect(tasks.plans).toEqual([])
  expect(second.get('out/v0.mp4')!.equals(first.get('out/v0.mp4')!)).toBe(true)
})

test('without any font the job ends with burn_in_unavailable, and so does one without libass', async () => {
  await tasks.makeSource({ seconds: 1 })
  const text = srt(['00,000', '01,000', 'Text'])
  await writeFile(tasks.path('no-fonts.conf'), '<fontconfig></fontconfig>')
  const script = `#!/bin/sh\nFONTCONFIG_FILE='${tasks.path('no-fonts.conf')}' exec '${fixtures.engine.ffmpeg}' "$@"\n`
  await writeFile(tasks.path('ffmpeg-no-fonts'), script, { mode: 0o755 })
  await tasks.run(BURN, [text], { engine: { ...fixtures.engine, ffmpeg: tasks.path('ffmpeg-no-fonts') } })
  expect(tasks.errors).toMatchObject([
    { code: 'burn_in_unavailable', message: expect.stringContaining('fonts-noto-core') },
  ])
  const features = { ...fixtures.engine.features, ass: false }
  await tasks.run(BURN, [text], { engine: { ...fixtures.engine, features } })
  expect(tasks.errors).toMatchObject([{ code: 'burn_in_unavailable', message: expect.stringContaining('libass') }])
})

test.each([
  ['no subtitle streams', undefined, 1, 'subtitle_track_missing', 'the source has no subtitle streams'],
  ['one', srt(['00,000', '01,000', 'x']), 2, 'subtitle_track_missing', 'the source has 1: subrip'],
])('a source with %s', async (_title, subtitles, track, code, message) => {
  await tasks.makeSource({ seconds: 1, ...(subtitles === undefined ? {} : { subtitles }) })
  await tasks.run({ burn_in_captions: { source_track: track } })
  expect(tasks.errors).toMatchObject([
    { code, field: 'burn_in_captions.source_track', message: expect.stringContaining(message) },
  ])
})

test('a caption file that only is drawn is fetched, and its faults are named', async () => {
  await tasks.makeSource({ seconds: 1 })
  const ts: Partial<JobConfig> = { output_container: 'ts', videoProfiles: [profile(320, 180, 'out/v0.ts')] }
  await tasks.run({ ...BURN, ...ts }, ['WEBVTT\n\nno times'])
  expect(tasks.codes).toEqual(['captions_empty'])
  await tasks.run({ ...BURN, ...ts }, ['nothing that is a format'])
  expect(tasks.errors).toMatchObject([{ code: 'captions_unreadable', field: 'captions[0].input' }])
  await tasks.run({ ...BURN, ...ts }, [srt(['00,000', '01,000', 'Text'], ['05,000', '06,000', 'After'])])
  expect(tasks.codes).toEqual(['captions_left_out'])
})

test('a drawn file is a track that players do not show by themselves', async () => {
  await tasks.makeSource({ seconds: 2 })
  const captions = [{ ...CAPTION, default: true, forced: true }]
  const objects = await tasks.run({ ...BURN, captions }, [srt(['00,000', '01,000', 'Text'])], { isSegmented: true })
  const master = objects.get('out/master.m3u8')!.toString('utf8')
  expect(master).toMatch(/TYPE=SUBTITLES.*DEFAULT=NO,AUTOSELECT=YES,FORCED=NO/)
})

test('over a logo, in interlaced video and at half the rate', async () => {
  await tasks.useSource(await makeMovingBar(tasks.path('interlaced.ts'), 'top'))
  const logo = await makeLogoImage(tasks.path('logo.png'))
  const change: Partial<JobConfig> = {
    logo_url: 'https://h.example/logo.png',
    logo_position: 'bottom_left',
    videoProfiles: [profile(320, 180), { ...profile(320, 180, 'out/v1.mp4'), video_framerate: '1/2x' }],
  }
  const drawn = await tasks.run({ ...BURN, ...change }, [srt(['00,400', '00,800', 'MMMMMMMMMMMMMMMM'])], { logo })
  const plain = await tasks.run(change, [], { logo })
  const found: number[][] = []
  for (const name of ['v0', 'v1']) {
    const file = await tasks.save(drawn, `out/${name}.mp4`, `${name}-drawn.mp4`)
    const reference = await tasks.save(plain, `out/${name}.mp4`, `${name}-plain.mp4`)
    found.push((await differingFrames(file, reference, SIZE)).frames)
  }
  expect(found).toEqual([range(10, 20), range(5, 10)])
  const { streams } = await probeFile(tasks.path('v0-drawn.mp4'))
  expect(streams[0]?.field_order).toBe('tt')
})

test('in HDR, text has the level of SDR white', async (context) => {
  if (!fixtures.engine.features.hevcMain10) skipTest(context, 'this ffmpeg encodes hevc in 8 bits only')
  const tags = '-colorspace bt2020nc -color_primaries bt2020 -color_trc smpte2084 -color_range tv'.split(' ')
  const file = tasks.path('hdr.ts')
  const encoder = '-c:v libx265 -preset ultrafast -x265-params log-level=error -pix_fmt yuv420p10le'.split(' ')
  await ffmpeg([...lavfi('color=black:size=320x180:rate=10:duration=1'), ...encoder, ...tags, file])
  await tasks.useSource(file)
  const text = srt(['00,000', '01,000', 'MMMMMM'])
  const drawn = await tasks.save(await tasks.run({ ...BURN, video_codec: 'hevc' }, [text]), 'out/v0.mp4', 'hdr.mp4')
  const { streams } = await probeFile(drawn)
  expect(streams[0]).toMatchObject({ pix_fmt: 'yuv420p10le', color_transfer: 'smpte2084' })
  const raw = await ffmpeg(['-i', drawn, '-frames:v', '3', '-f', 'rawvideo', '-pix_fmt', 'gray10le', '-'])
  const brightest = new Uint16Array(raw.buffer, raw.byteOffset, raw.length / 2).reduce((a, b) => Math.max(a, b), 0)
  // 58 % of full scale; limited range: 64 + 0.58 × 876 = 572, or 0.58 × 1023 = 593 as full range.
  expect(brightest).toBeGreaterThan(560)
  expect(brightest).toBeLessThan(625)
})

test('the streams of joined inputs are drawn where each piece is', async () => {
  const joined = new JoinedTasks(fixtures)
  try {
    await tasks.makeSource({
      seconds: 2,
      name: 'with.mkv',
      subtitles: srt(['00,400', '00,600', 'One'], ['01,000', '01,400', 'Two']),
    })
    await tasks.makeSource({ seconds: 1, name: 'without.mkv' })
    const parts = [{ file: 'with.mkv', start: 0.52, end: 1.2 }, { file: 'without.mkv' }, { file: 'with.mkv' }]
    const change: Partial<JobConfig> = { audioProfiles: [], videoProfiles: [profile(320, 180)] }
    const files: string[] = []
    let plan: unknown
    for (const more of [{ burn_in_captions: { source_track: 1 } }, {}]) {
      const objects = await joined.run(parts, { ...change, ...more })
      plan ??= joined.taskApi.plans[0]?.plan.burnIn
      files.push(await tasks.save(objects, 'out/v0.mp4', `joined-${files.length}.mp4`))
    }
    const { frames, count } = await differingFrames(files[0]!, files[1]!, SIZE)
    const [second, third] = [17, 17 + 25]
    expect(count).toBe(third + 50)
    expect(frames).toEqual([
      ...range(0, 2),
      ...range(12, second),
      ...range(third + 10, third + 15),
      ...range(third + 25, third + 35),
    ])
    expect(plan).toMatchObject({ kind: 'text', from: { track: 1 }, cues: 4 })
    await joined.attempt([{ file: 'without.mkv' }, { file: 'without.mkv' }], {
      ...change,
      burn_in_captions: { source_track: 1 },
    })
    expect(joined.taskApi.fails).toMatchObject([
      { error: { code: 'subtitle_track_missing', message: expect.stringContaining('inputs[0]') } },
    ])
  } finally {
    await joined.stop()
  }
})

test.each([
  ['a source whose clock begins at 5 s', ['-output_ts_offset', '5'], 'source.mkv'],
  ['mov_text in an mp4', ['-c:s', 'mov_text'], 'source.mp4'],
])('%s: its stream is drawn at its time, and not reported as left out', async (_title, flags, name) => {
  await tasks.makeSource({
    seconds: 2,
    subtitles: srt(['00,400', '00,800', 'Here'], ['01,400', '01,600', 'There']),
    flags,
    name,
  })
  const cut = { start_seconds: 0.6 }
  const drawn = await tasks.save(
    await tasks.run({ burn_in_captions: { source_track: 1 }, ...cut }),
    'out/v0.mp4',
    'd.mp4',
  )
  expect(tasks.warnings).toEqual([])
  const plain = await tasks.save(await tasks.run(cut), 'out/v0.mp4', 'p.mp4')
  expect(tasks.codes).toEqual(['text_subtitles_left_out'])
  expect((await differingFrames(drawn, plain, SIZE)).frames).toEqual([...range(0, 5), ...range(20, 25)])
})

test('a caption file moves with joined inputs', async () => {
  const joined = new JoinedTasks(fixtures)
  try {
    await tasks.makeSource({ seconds: 2 })
    const parts = [
      { file: 'source.mkv', start: 0.4, end: 1 },
      { file: 'source.mkv', end: 1 },
    ]
    const change: Partial<JobConfig> = { audioProfiles: [], videoProfiles: [profile(320, 180)] }
    const text = srt(['00,520', '00,800', 'Across the join'])
    const files: string[] = []
    for (const isDrawn of [true, false]) {
      const more: Partial<JobConfig> = isDrawn ? { ...BURN, captions: [CAPTION] } : {}
      const objects = await joined.run(parts, { ...change, ...more }, false, [Buffer.from(text)])
      files.push(await tasks.save(objects, 'out/v0.mp4', `joined-${isDrawn}.mp4`))
    }
    const { frames, count } = await differingFrames(files[0]!, files[1]!, SIZE)
    expect([frames, count]).toEqual([range(13, 20), 40])
  } finally {
    await joined.stop()
  }
})

test('a subtitle page of teletext is drawn until the next one', async (context) => {
  if (!fixtures.engine.features.teletext) skipTest(context, 'this ffmpeg has no libzvbi')
  await tasks.makeSource({ seconds: 3, name: 'plain.ts' })
  // Each is sent with the first frame after its time.
  const pages = [
    { seconds: 0.46, text: 'Seite eins' },
    { seconds: 1.18, text: '' },
    { seconds: 1.78, text: 'Seite zwei' },
    { seconds: 2.18, text: '' },
  ]
  await writeFile(tasks.path('teletext.ts'), insertTeletext(await readFile(tasks.path('plain.ts')), 0x300, pages))
  await tasks.useSource(tasks.path('teletext.ts'))
  const drawn = await tasks.save(await tasks.run({ burn_in_captions: { source_track: 1 } }), 'out/v0.mp4', 'd.mp4')
  const plain = await tasks.save(await tasks.run({}), 'out/v0.mp4', 'p.mp4')
  expect((await differingFrames(drawn, plain, SIZE)).frames).toEqual([...range(12, 30), ...range(45, 55)])
})
