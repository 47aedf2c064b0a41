// Transport streams for broadcast: DVB and ATSC signalling, names, PIDs, and the source's teletext and subtitles.
/* oxlint-disable unicorn/no-useless-spread -- fields that belong together stay on one line */
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, test } from 'vitest'
import { checkTstd } from '../../../support/mpegts/tstdModel.ts'
import { readSections } from '../../../support/mpegts/psiSections.ts'
import { insertTeletext } from '../../../support/mpegts/teletextStream.ts'
import {
  decodeFrames,
  ffmpeg,
  lavfi,
  probeFile,
  readPackets,
  sharedClip,
  testFfmpeg,
} from '../../../support/media/media.ts'
import { probe } from '../../../../transcoder/analysis/probe.ts'
import { outputStartSeconds } from '../../../../transcoder/plan/streams/outputTiming.ts'
import { audioShifts, frameNumbers, makeNumberedClip } from '../../../support/media/numberedClip.ts'
import { subtitlePackets } from '../../../support/media/packetHashes.ts'
import { jobSpec, videoProfile, audioProfile } from '../../../support/transcoder/jobSpecs.ts'
import { skipTest } from '../../../support/requirement.ts'
import { encoderIn } from '../../../support/media/encodeJob.ts'
import { useTempDirectory } from '../../../support/useTempDirectory.ts'

const run = promisify(execFile)
const SECONDS = 5
/** Samples. No field of a transport stream states it. */
const MP2_DELAY = 481
const tempDir = useTempDirectory()
const encode = encoderIn(tempDir)
/** PAL: 576 lines, interlaced, 16:9, tagged as BT.470BG, with AC-3 5.1 and teletext. */
let pal = ''

beforeAll(async () => {
  const plain = tempDir.file('plain.ts')
  pal = tempDir.file('pal.ts')
  await ffmpeg([
    ...lavfi(`testsrc2=s=720x576:r=50:d=${SECONDS}`),
    ...lavfi(`anoisesrc=d=${SECONDS}:r=48000:a=0.1,aformat=channel_layouts=5.1`),
    ...['-vf', 'tinterlace=interleave_top,setsar=64/45,setfield=tff', '-c:v', 'mpeg2video', '-flags', '+ilme+ildct'],
    ...['-b:v', '4000k', '-maxrate', '4000k', '-bufsize', '1835008', '-g', '12', '-bf', '2'],
    ...['-colorspace', 'bt470bg', '-color_primaries', 'bt470bg', '-color_trc', 'gamma28'],
    ...['-c:a', 'ac3', '-b:a', '384k', '-metadata:s:a', 'language=deu', '-f', 'mpegts', plain],
  ])
  await writeFile(pal, insertTeletext(await readFile(plain), 0x200))
})

const service = {
  ...{ name: 'Erstes Programm', provider: 'Anstalt', id: 28_106, transportStreamId: 1101 },
  ...{ mapPid: 100, videoPid: 101, audioPid: 102 },
}
const spec = (profile: 'dvb' | 'atsc' | null, change: Partial<Parameters<typeof jobSpec>[0]> = {}) =>
  jobSpec({
    ...{ container: 'ts', videoCodec: 'mpeg2', service: { ...service, profile } },
    audio: [
      audioProfile({ codec: 'ac3', channels: 6, bitrateKbps: 384 }),
      audioProfile({ index: 1, codec: 'mp2', bitrateKbps: 192 }),
    ],
    video: [videoProfile({ width: 720, height: 576, mode: 'cbr', bitrateKbps: 4000, audioProfiles: [0, 1] })],
    ...change,
  })

describe('PAL SD to dvb at a constant rate', () => {
  let file = ''
  let codes: string[] = []
  let rate = 0
  beforeAll(async () => {
    const { plan, outputs } = await encode(spec('dvb'), pal)
    file = outputs[0]
    codes = plan.warnings.map(({ code }) => code)
    rate = plan.outputs[0]!.muxRateKbps!
  })

  test('keeps to the T-STD', async () => {
    const validation = checkTstd(await readFile(file), 'dvb')
    expect(validation.problems).toEqual([])
    expect(validation.clockMs).toBeLessThanOrEqual(40)
    for (const kbps of validation.kbps) expect(Math.abs(kbps - rate)).toBeLessThan(rate * 2e-5)
  })

  test('is interlaced, anamorphic and whole', async () => {
    const { streams } = await probeFile(file)
    expect(streams[0]).toMatchObject({ field_order: 'tt', sample_aspect_ratio: '64:45', display_aspect_ratio: '16:9' })
    expect(await decodeFrames(file)).toHaveLength(SECONDS * 25)
  })

  test('has the PIDs, the identifiers and the names of the job', async () => {
    const bytes = await readFile(file)
    const [pat] = readSections(bytes, 0)
    expect([pat!.readUInt16BE(3), pat!.readUInt16BE(8), pat!.readUInt16BE(10) & 0x1fff]).toEqual([1101, 28_106, 100])
    const [sdt] = readSections(bytes, 0x11)
    expect(sdt!.toString('latin1')).toContain('\x01\x07Anstalt\x0fErstes Programm')
    expect(bytes.includes('FFmpeg')).toBe(false)
    expect(streamsOf(readSections(bytes, 100)[0]!).map(({ pid }) => pid)).toEqual([101, 102, 103, 104])
  })

  test('has AC-3 as private data with its descriptor, and teletext with the source’s', async () => {
    const [map] = readSections(await readFile(file), 100)
    const found = streamsOf(map!)
    expect(found.map(({ type }) => type)).toEqual([0x02, 0x06, 0x03, 0x06])
    expect(found[1]!.descriptors.includes(Buffer.of(0x6a, 2, 0x80, 0x44))).toBe(true)
    expect(found[1]!.descriptors.includes('deu')).toBe(true)
    expect(found[3]!.descriptors.includes(Buffer.of(0x56, 5, 0x64, 0x65, 0x75, 0x09, 0x00))).toBe(true)
    expect(codes).not.toContain('teletext_left_out')
  })

  test('carries the teletext of the source in sync from the first frame', async () => {
    const [before, after] = [await relative(pal), await relative(file)]
    expect(before.filter((time) => time < 0).length).toBeGreaterThan(10)
    const wanted = before.filter((time) => time > -0.001)
    expect(wanted.length).toBeGreaterThan(80)
    expect(after).toHaveLength(wanted.length)
    for (const [at, time] of after.entries()) expect(Math.abs(time - wanted[at]!)).toBeLessThan(0.001)
  })

  test('is read by an analyser that is not ours without a complaint', async (context) => {
    const program = '/usr/bin/tsreport'
    if (!existsSync(program)) skipTest(context, 'tsreport is not installed (Debian: tstools)')
    const { stdout } = await run(program, ['-b', file])
    expect(stdout).toContain('Bad (>.1s) gaps: 0')
    expect(stdout).not.toMatch(/###|DTS < PCR|duplicate packets: [1-9]/)
  })
})

test('without ts_profile, AC-3 is declared as before, and teletext is left out with a warning', async () => {
  const { plan, outputs } = await encode(spec(null), pal)
  const found = streamsOf(readSections(await readFile(outputs[0]), 100)[0]!)
  expect(found.map(({ type }) => type)).toEqual([0x02, 0x81, 0x03])
  expect(plan.warnings.map(({ code }) => code)).toContain('teletext_left_out')
})

test('atsc: AC-3 with its descriptor, the program’s registration, and a virtual channel', async () => {
  const { plan, outputs } = await encode(spec('atsc', { videoCodec: 'h264' }), pal)
  const bytes = await readFile(outputs[0])
  expect(checkTstd(bytes, 'atsc').problems).toEqual([])
  const [map] = readSections(bytes, 100)
  expect(map!.includes(Buffer.of(0x05, 4, 0x47, 0x41, 0x39, 0x34))).toBe(true)
  const found = streamsOf(map!)
  expect(found.map(({ type }) => type)).toEqual([0x1b, 0x81, 0x03])
  // bsid 8 at 48 kHz; 384 kbps; 3/2, full service.
  expect(found[1]!.descriptors.includes(Buffer.of(0x81, 7, 0x08, 14 << 2, 0x0f))).toBe(true)
  const guide = readSections(bytes, 0x1ffb)
  expect(new Set(guide.map((section) => section[0]))).toEqual(new Set([0xc7, 0xc8]))
  const channel = guide.find((section) => section[0] === 0xc8)!
  expect(channel.subarray(10, 24).swap16().toString('utf16le')).toBe('Erstes ')
  expect(channel.readUInt16BE(10 + 14 + 8)).toBe(1101)
  expect(channel.readUInt16BE(10 + 14 + 10)).toBe(28_106)
  expect(readSections(bytes, 0x11)).toEqual([])
  expect(plan.warnings.map(({ code }) => code)).toContain('teletext_left_out')
})

test('DVB subtitles of a real broadcast are copied', async (context) => {
  const clip = sharedClip(context, 'dvb_mpeg2_704x576_tff_mp2.ts')
  const audio = [audioProfile({ codec: 'mp2', bitrateKbps: 192 })]
  const video = [videoProfile({ width: 720, height: 576, mode: 'cbr', bitrateKbps: 4000 })]
  const { plan, outputs } = await encode(spec('dvb', { audio, video }), clip)
  expect(checkTstd(await readFile(outputs[0]), 'dvb').problems).toEqual([])
  expect(plan.warnings.map(({ code }) => code)).not.toContain('dvb_subtitles_left_out')
  const kept = await readPackets(outputs[0], 's:0')
  expect(kept.map(({ size }) => size)).toEqual((await readPackets(clip, 's:0')).map(({ size }) => size))
})

describe('a part of the source keeps the subtitles within it, at their times', () => {
  test.for(['DVB subtitles', 'teletext'])('%s', async (kind, context) => {
    const clip = kind === 'teletext' ? pal : sharedClip(context, 'dvb_mpeg2_704x576_tff_mp2.ts')
    const audio = [audioProfile({ codec: 'mp2', bitrateKbps: 192 })]
    const video = [videoProfile({ width: 720, height: 576, mode: 'cbr', bitrateKbps: 4000 })]
    const cut = { start: { kind: 'seconds', seconds: 2.8 }, end: { kind: 'seconds', seconds: 5 } } as const
    const job = spec('dvb', { audio, video, cut })
    const { plan, outputs } = await encode(job, clip)
    const codes = plan.warnings.map(({ code }) => code)
    expect(codes).not.toContain('dvb_subtitles_left_out')
    expect(codes).not.toContain('teletext_left_out')
    expect(checkTstd(await readFile(outputs[0]), 'dvb').problems).toEqual([])
    expect(await decodeFrames(outputs[0])).toHaveLength(55)
    // In the broadcast, audio begins a second before the video.
    const begin = outputStartSeconds(job, await probe(await testFfmpeg(), `file:${clip}`, { cwd: tempDir.path })) + 2.8
    const wanted = (await subtitlePackets(clip))
      .map(({ time, hash }) => ({ time: time - begin, hash }))
      .filter(({ time }) => time > -0.001 && time < 2.199)
    const first = Math.min(...(await readPackets(outputs[0], 'v:0')).map(({ pts_time: time }) => Number(time)))
    const kept = (await subtitlePackets(outputs[0])).map(({ time, hash }) => ({ time: time - first, hash }))
    expect(wanted.length).toBeGreaterThan(5)
    expect(kept.map(({ hash }) => hash)).toEqual(wanted.map(({ hash }) => hash))
    for (const [at, { time }] of kept.entries()) expect(Math.abs(time - wanted[at]!.time)).toBeLessThan(0.001)
  })
})

test('frames and samples of a part with teletext are those that were asked for', async () => {
  await makeNumberedClip(tempDir.file('numbered.mp4'), { seconds: 6 })
  await ffmpeg(['-i', tempDir.file('numbered.mp4'), '-c', 'copy', tempDir.file('numbered.ts')])
  const clip = tempDir.file('numbered teletext.ts')
  await writeFile(clip, insertTeletext(await readFile(tempDir.file('numbered.ts')), 0x200))
  const cut = { start: { kind: 'seconds', seconds: 2.4 }, end: { kind: 'seconds', seconds: 5 } } as const
  const video = [videoProfile({ width: 192, height: 48, bitrateKbps: 600 })]
  const { plan, outputs } = await encode(
    spec('dvb', { audio: [audioProfile({ codec: 'mp2', bitrateKbps: 192 })], video, cut, videoCodec: 'h264' }),
    clip,
  )
  expect(plan.subtitles).toHaveLength(1)
  expect(await frameNumbers(outputs[0])).toEqual(Array.from({ length: 65 }, (_, at) => 60 + at))
  for (const shift of await audioShifts(outputs[0], 2.4 * 48_000))
    expect(Math.abs(shift - MP2_DELAY)).toBeLessThanOrEqual(1)
})

/** Seconds of each teletext unit after the first frame. */
async function relative(path: string): Promise<number[]> {
  const [pictures, units] = [await readPackets(path, 'v:0'), await readPackets(path, 's:0')]
  const first = Math.min(...pictures.map(({ pts_time: time }) => Number(time)))
  return units.map(({ pts_time: time }) => Number(time) - first)
}

interface Declared {
  type: number
  pid: number
  descriptors: Buffer
}

function streamsOf(map: Buffer): Declared[] {
  const found: Declared[] = []
  const end = map.length - 4
  for (let at = 12 + (map.readUInt16BE(10) & 0xfff); at < end;) {
    const length = map.readUInt16BE(at + 3) & 0xfff
    const pid = map.readUInt16BE(at + 1) & 0x1fff
    found.push({ type: map[at]!, pid, descriptors: map.subarray(at + 5, at + 5 + length) })
    at += 5 + length
  }
  return found
}
