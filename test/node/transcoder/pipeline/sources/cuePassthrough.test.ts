// Cues from a source in its outputs: whole attempts with the real ffmpeg against the strict task API.
/* oxlint-disable unicorn/no-useless-spread -- a flag and its value stay on one line, under their reason */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import type { JobConfig } from '#contract/job/jobConfig.ts'
import { AttemptAbort } from '../../../../../transcoder/errors.ts'
import type { Plan } from '#contract/task/plan/plan.ts'
import { runTask } from '../../../../../transcoder/runTask.ts'
import {
  ffmpeg,
  decodeFrames,
  kbpsBySecond,
  makeClip,
  readPackets,
  probeFile,
  sharedClip,
  transportRates,
} from '../../../../support/media/media.ts'
import { describeTask, findFfmpegProcesses, runRequest } from '../../../../support/transcoder/attemptFixture.ts'
import { cueAtSeconds, makeCueClip, scanCues, readCues } from '../../../../support/mpegts/cueClips.ts'
import { segmentation, spliceInsert, spliceSection, timeSignal } from '../../../../support/mpegts/spliceSections.ts'
import { useAttemptFixture, useTaskApi } from '../../../../support/transcoder/useAttempts.ts'
import { sampled } from '../../../../support/longForm.ts'
import { expectSameBytes } from '../../../../support/sameBytes.ts'

const S = 90_000
const FRAME = 1 / 25
/** ⌈1.1 × (400 + 96) + 60⌉ + 40 for cues. */
const CBR_KBPS = 646
/** The video is inverted from 3.04 s on, which represents the spliced content. */
const FLASH = "negate=enable='gte(n,76)'"
const fixtures = await useAttemptFixture()
const taskApi = useTaskApi(() => clip)
let clip: Buffer

/**
 * Out at 3.04 s for 2 s with automatic return; a signal with a segmentation descriptor; immediately at 4.2 s; and some
 * that splice nothing.
 */
const cues = [
  cueAtSeconds(-0.3, spliceSection({ type: 0 })),
  cueAtSeconds(0.4, spliceInsert({ eventId: 1001, out: true, pts: 3.04 * S, breakTicks: 2 * S, autoReturn: true })),
  cueAtSeconds(1.2, timeSignal(3.6 * S, { descriptors: segmentation(1002, 0x34, 0.6 * S) })),
  cueAtSeconds(2, timeSignal(1, { encrypted: true })),
  cueAtSeconds(4.2, spliceInsert({ eventId: 1003, out: false, pts: null }), 'frame'),
]

beforeAll(async () => {
  // The source's clock wraps 2 s after its first frame.
  const flags = ['-output_ts_offset', `${2 ** 33 / S - 3.4}`, '-g', '50', '-bf', '2', '-f', 'mpegts']
  clip = await makeCueClip(join(fixtures.directory, 'cues.ts'), { seconds: 6, filters: FLASH, flags }, cues)
})

async function transcode(change: Partial<JobConfig>, modes: readonly ('cbr' | 'vbr')[] = ['vbr']): Promise<string[]> {
  const task = describeTask({ container: 'ts', bitrates: modes.map(() => 400) })
  for (const [index, mode] of modes.entries()) task.config.videoProfiles[index]!.video_bitrate_mode = mode
  taskApi.task = { ...task, config: { ...task.config, scte35_passthough: true, ...change } }
  await runTask(runRequest(taskApi), fixtures.context())
  expect(taskApi.breaches).toEqual([])
  const files: string[] = []
  for (const [name, bytes] of taskApi.objects()) {
    const file = join(fixtures.directory, name.replaceAll('/', '_'))
    await writeFile(file, bytes)
    files.push(file)
  }
  return files
}

const warnings = () => taskApi.plans[0]?.warnings.map(({ code }) => code)

async function keyFrames(file: string): Promise<number[]> {
  return (await decodeFrames(file)).flatMap((frame, index) => (frame.key_frame === 1 ? [index] : []))
}

/** Mean luma of every frame. */
async function lumas(file: string): Promise<number[]> {
  const pixels = await ffmpeg(`-i ${file} -map 0:v -vf scale=1:1:flags=area,format=gray -f rawvideo -`.split(' '))
  return [...pixels]
}

test('the clip is what it should be: cues where they were put, on a clock that wraps', () => {
  const seen = readCues(clip)
  expect(seen.map(({ kind }) => kind)).toEqual(['null', 'insert', 'signal', 'opaque', 'insert'])
  expect(seen[1]).toMatchObject({ eventId: 1001, splices: [3.04] })
  // The first decoded anchor frame of those displayed at 4.2 s or later.
  expect(seen[4]?.arrives).toBeCloseTo(4.24, 6)
})

describe.each(sampled(['h.264', 'hevc', 'mpeg2'] as const, 1))('%s', (codec) => {
  test('cues in are cues out, vbr and cbr, with an IDR at each splice point and the grid where it was', async () => {
    const files = await transcode({ video_codec: codec }, ['vbr', 'cbr'])
    expect(taskApi.fails).toEqual([])
    expect(files).toHaveLength(2)
    for (const [index, file] of files.entries()) {
      const bytes = await readFile(file)
      const seen = readCues(bytes)
      expect(seen.map(({ kind, eventId }) => [kind, eventId])).toEqual([
        ['null', null],
        ['insert', 1001],
        ['signal', 1002],
        ['opaque', null],
        ['insert', 1003],
      ])
      // Exact: the output has the same frames at the same distances.
      expect(seen.map(({ splices }) => splices)).toEqual([[], [3.04], [3.6], [], []])
      for (const [at, cue] of readCues(clip).entries())
        expect(Math.abs((seen[at]?.arrives ?? Infinity) - cue.arrives), `${cue.kind} ${at}`).toBeLessThanOrEqual(
          FRAME + 1e-6,
        )
      const { kbps, counterErrors } = await transportRates(file)
      expect(counterErrors).toBe(0)
      // Up to the rounding of a PCR: 1 tick of 27 MHz in 20 ms.
      const uneven = kbps.filter((rate) => Math.abs(rate - CBR_KBPS) > 0.01)
      expect(index === 1 ? uneven : []).toEqual([])
      // 76 = 3.04 s and 126 = its end, 90 = 3.6 s and 105 = its end, 106 = immediately.
      expect(await keyFrames(file)).toEqual([0, 25, 50, 75, 76, 90, 100, 105, 106, 125, 126])
      const decoded = await lumas(file)
      expect(decoded).toHaveLength(150)
      expect(Math.abs((decoded[76] ?? 0) - (decoded[75] ?? 0))).toBeGreaterThan(10)
      expect(Math.abs((decoded[75] ?? 0) - (decoded[74] ?? 0))).toBeLessThan(5)
      let lastKey = -Infinity
      for (const packet of await readPackets(file)) {
        const shown = Number(packet.pts_time)
        if (packet.flags.startsWith('K')) lastKey = shown
        expect(shown).toBeGreaterThanOrEqual(lastKey)
      }
      const streams = (await probeFile(file)).streams as { codec_name: string; id?: string }[]
      expect(streams.map(({ codec_name, id }) => `${codec_name} ${id}`)).toContain('scte_35 0x258')
    }
    expect(warnings()).toEqual([])
  })
})

test('cues are written on the remapped PID', async () => {
  const [file] = await transcode({ scte35_pid_remap: 700 })
  expect(scanCues(await readFile(file!)).pids).toEqual([700])
  expect((await kbpsBySecond(file!)).length).toBeGreaterThan(5)
})

test('a PID that the output uses is an error that lists them', async () => {
  await transcode({ scte35_pid_remap: 0x101 })
  expect(taskApi.fails[0]?.error).toMatchObject({ code: 'unsupported_combination', field: 'scte35_pid_remap' })
  expect(taskApi.fails[0]?.error?.details?.['in_use']).toContain(0x101)
})

test('a source without cues: a warning, and no second read of it', async () => {
  const plain = await makeClip(join(fixtures.directory, 'plain.ts'), { seconds: 2, flags: ['-f', 'mpegts'] })
  taskApi.source = { bytes: await readFile(plain) }
  const [file] = await transcode({ scte35_passthough: false })
  const reads = taskApi.counts.get('input')
  const [asked] = await transcode({})
  expect((taskApi.counts.get('input') ?? 0) - (reads ?? 0)).toBeLessThanOrEqual((reads ?? 0) + 1)
  expect(taskApi.plans[1]?.warnings.map(({ code }) => code)).toEqual(['no_cues'])
  // Without cues to pass through, the output is identical.
  expectSameBytes(await readFile(asked!), await readFile(file!))
})

test('the plan of an earlier attempt is followed, and the cues are there again', async () => {
  const [file] = await transcode({})
  const before = await readFile(file!)
  taskApi.task = { ...taskApi.task!, plan: structuredClone(taskApi.storedPlan) }
  await runTask(runRequest(taskApi), fixtures.context())
  const again = readCues(taskApi.objects().get('out/v0.ts')!)
  // The sizes of frames, and with them the places in the multiplex, differ between two encodes with several threads.
  expect(again.map((cue) => ({ ...cue, arrives: 0 }))).toEqual(readCues(before).map((cue) => ({ ...cue, arrives: 0 })))
  for (const [index, { arrives }] of readCues(before).entries())
    expect(Math.abs(again[index]!.arrives - arrives)).toBeLessThanOrEqual(FRAME + 1e-6)
  expect(taskApi.counts.get('plan')).toBe(1)
})

test('an mp4 has no cues and no key frames for them', async () => {
  const task = describeTask({ container: 'mp4' })
  taskApi.task = { ...task, config: { ...task.config, scte35_passthough: true } }
  await runTask(runRequest(taskApi), fixtures.context())
  expect(taskApi.fails).toEqual([])
  const file = join(fixtures.directory, 'plain.mp4')
  await writeFile(file, taskApi.objects().get('out/v0.mp4')!)
  expect(await keyFrames(file)).toEqual([0, 25, 50, 75, 100, 125])
})

test('a run that is cancelled leaves nothing behind', async () => {
  const context = fixtures.context()
  const task = describeTask({ container: 'ts', quality: 'best' })
  taskApi.task = { ...task, config: { ...task.config, scte35_passthough: true } }
  const run = runTask(runRequest(taskApi), context)
  await taskApi.waitFor(() => taskApi.counts.get('plan') === 1)
  context.controller.abort(new AttemptAbort('cancelled'))
  await run
  expect(taskApi.fails).toMatchObject([{ reason: 'cancelled' }])
  expect(await fixtures.workDirEntries()).toEqual([])
  expect(await findFfmpegProcesses(fixtures.workDir)).toEqual([])
})

test('a real broadcast sample: three splice_inserts on PID 600', async (context) => {
  const source = await readFile(sharedClip(context, 'sample_scte35.ts'))
  taskApi.source = { bytes: source }
  const [file] = await transcode({})
  expect(taskApi.fails).toEqual([])
  const bytes = await readFile(file!)
  expect(scanCues(bytes).pids).toEqual([600])
  const [before, after] = [readCues(source, 256), readCues(bytes)]
  expect(after.map(({ kind }) => kind)).toEqual(['insert', 'insert', 'insert'])
  // The cues start 0.73 s before video and audio; the outputs still start with the media.
  for (const [index, cue] of before.entries()) {
    expect(Math.abs(after[index]!.arrives - cue.arrives)).toBeLessThanOrEqual(1001 / 30000)
    expect(Math.abs(after[index]!.splices[0]! - cue.splices[0]!)).toBeLessThanOrEqual(1001 / 30000)
  }
  // The clip has only three frames; 0.789 s and 1.9 s at 29.97 fps are after them.
  expect((taskApi.storedPlan as Plan).outputs[0]?.video.spliceFrames).toEqual([24, 57])
  expect((await transportRates(file!)).counterErrors).toBe(0)
})
