// program_number: whole attempts on a transport stream with two programs whose clocks are two hours apart, each with
// separate cues.
/* oxlint-disable unicorn/no-useless-spread -- a flag and its value stay on one line, under their reason */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { JobConfig } from '#contract/job/jobConfig.ts'
import { sealSection } from '../../../../../transcoder/formats/mpegts/crc.ts'
import { pidOf } from '../../../../../transcoder/formats/mpegts/packet.ts'
import { runTask } from '../../../../../transcoder/runTask.ts'
import { audioSamples } from '../../../../support/media/audioSamples.ts'
import { makeClip, meanColor, readPackets, probeStream } from '../../../../support/media/media.ts'
import { FakeTaskApi } from '../../../../support/transcoder/fakeTaskApi.ts'
import { describeTask, runRequest } from '../../../../support/transcoder/attemptFixture.ts'
import { cueAtSeconds, splitPackets, readCues, insertCues } from '../../../../support/mpegts/cueClips.ts'
import { spliceInsert } from '../../../../support/mpegts/spliceSections.ts'
import { useAttemptFixture } from '../../../../support/transcoder/useAttempts.ts'

const S = 90_000
const PAT_PID = 0
const fixtures = await useAttemptFixture()
let taskApi: FakeTaskApi
let first: { bare: Buffer; cued: Buffer }
let second: { bare: Buffer; cued: Buffer }

/**
 * Red with 440 Hz, 3 s, a cue at 1.2 s; and blue with 440 and 880 Hz, 2 s, a cue at 0.8 s, on a clock two hours ahead.
 */
beforeAll(async () => {
  first = await makeProgram(3, 'red', [2], { number: 3, map: 0x1000, start: 0x100, clock: 0 }, [1001, 1.2], 600)
  second = await makeProgram(2, 'blue', [2, 2], { number: 7, map: 0x1100, start: 0x300, clock: 7200 }, [2002, 0.8], 700)
})
beforeEach(async () => {
  taskApi = new FakeTaskApi({ bytes: Buffer.alloc(0) })
})
afterEach(() => taskApi.stop())

async function makeProgram(
  seconds: number,
  color: string,
  audio: (1 | 2 | 6)[],
  ids: { number: number; map: number; start: number; clock: number },
  [eventId, splice]: [number, number],
  cuePid: number,
): Promise<{ bare: Buffer; cued: Buffer }> {
  const path = join(fixtures.directory, `${color}.ts`)
  const flags = [
    ...['-mpegts_service_id', `${ids.number}`, '-mpegts_pmt_start_pid', `${ids.map}`],
    ...['-mpegts_start_pid', `${ids.start}`, '-output_ts_offset', `${ids.clock}`, '-f', 'mpegts'],
  ]
  await makeClip(path, { seconds, audio, picture: `color=${color}`, flags })
  const bare = await readFile(path)
  const cue = cueAtSeconds(0.1, spliceInsert({ eventId, out: true, pts: splice * S }))
  return { bare, cued: insertCues(bare, [cue], cuePid) }
}

/** Interleaves the packets of both streams under one PAT. */
function multiplex(one: Buffer, other: Buffer): Buffer {
  const [a, b] = [splitPackets(one), splitPackets(other)].map((all) => all.filter((packet) => pidOf(packet) !== 0x11))
  const rest = b!.filter((packet) => pidOf(packet) !== PAT_PID)
  const out: Uint8Array[] = []
  let taken = 0
  for (const [index, packet] of a!.entries()) {
    out.push(pidOf(packet) === PAT_PID ? withBothPrograms(packet) : packet)
    const due = Math.floor(((index + 1) * rest.length) / a!.length)
    out.push(...rest.slice(taken, due))
    taken = due
  }
  return Buffer.concat(out)
}

function withBothPrograms(packet: Uint8Array): Uint8Array {
  const programs = [0, 3, 0xf0, 0x00, 0, 7, 0xf1, 0x00]
  const section = sealSection(Uint8Array.from([0, 0xb0, 17, 0, 1, 0xc1, 0, 0, ...programs, 0, 0, 0, 0]))
  return Uint8Array.from([...packet.subarray(0, 4), 0, ...section, ...new Uint8Array(183 - section.length).fill(0xff)])
}

async function transcode(source: Buffer, change: Partial<JobConfig>, sourceStream = 1): Promise<string> {
  taskApi = await new FakeTaskApi({ bytes: source }).start()
  const task = describeTask({ container: 'ts' })
  task.config.audioProfiles[0]!.source_stream = `${sourceStream}` as '1'
  taskApi.task = { ...task, config: { ...task.config, scte35_passthough: true, ...change } }
  await runTask(runRequest(taskApi), fixtures.context())
  expect(taskApi.breaches).toEqual([])
  const [bytes] = taskApi.objects().values()
  const file = join(fixtures.directory, 'out.ts')
  if (bytes !== undefined) await writeFile(file, bytes)
  return file
}

const codes = () => taskApi.plans[0]?.warnings.map(({ code }) => code)

/** Upward zero crossings per second: the frequency of a tone. */
async function pitch(file: string): Promise<number> {
  const audioTrack = (await audioSamples(file)).subarray(24_000, 72_000)
  return audioTrack.reduce(
    (count, value, index) => count + (index > 0 && audioTrack[index - 1]! < 0 && value >= 0 ? 1 : 0),
    0,
  )
}

async function pictureColor(file: string): Promise<'red' | 'blue'> {
  const [, u, v] = await meanColor(file, 0.5)
  return v > u ? 'red' : 'blue'
}

async function seen(file: string): Promise<(readonly [number | null, number[]])[]> {
  return readCues(await readFile(file)).map(({ eventId, splices }) => [eventId, splices] as const)
}

async function length(file: string): Promise<number> {
  // Presentation time 0 is 10 s in every transport stream; the other program started elsewhere.
  expect(Number((await probeStream(file, 'video')).start_time)).toBeCloseTo(10, 0)
  return (await readPackets(file)).length
}

describe('cues in both programs', () => {
  test.each([[{}], [{ program_number: 3 }]])('%j is the first program', async (change) => {
    const file = await transcode(multiplex(first.cued, second.cued), change)
    expect(taskApi.fails).toEqual([])
    expect(await pictureColor(file)).toBe('red')
    expect(await pitch(file)).toBeCloseTo(440, -1)
    expect(await length(file)).toBe(75)
    expect(await seen(file)).toEqual([[1001, [1.2]]])
    expect(codes()).toEqual(['other_programs_left_out'])
  })

  test('program 7 is selected: its second audio stream, its cue, its duration and its loudness', async () => {
    const change = { program_number: 7, loudness_lufs: -20 }
    const file = await transcode(multiplex(first.cued, second.cued), change, 2)
    expect(taskApi.fails).toEqual([])
    expect(await pictureColor(file)).toBe('blue')
    expect(await pitch(file)).toBeCloseTo(880, -1)
    expect(await length(file)).toBe(50)
    expect(await seen(file)).toEqual([[2002, [0.8]]])
    expect(taskApi.plans[0]?.warnings).toMatchObject([
      {
        code: 'other_programs_left_out',
        field: 'program_number',
        message: 'Program 7 of the source is used; program 3 left out.',
      },
    ])
  })
})

describe('cues in one program', () => {
  test('are not the other one’s', async () => {
    const file = await transcode(multiplex(first.cued, second.bare), { program_number: 7 })
    expect(await pictureColor(file)).toBe('blue')
    expect(await seen(file)).toEqual([])
    expect(codes()).toEqual(['other_programs_left_out', 'no_cues'])
  })
  test('are found where they are', async () => {
    const file = await transcode(multiplex(first.bare, second.cued), { program_number: 7 })
    expect(await seen(file)).toEqual([[2002, [0.8]]])
  })
})

test('a program that is not there is an error that lists those that are', async () => {
  await transcode(multiplex(first.bare, second.bare), { program_number: 4 })
  expect(taskApi.fails).toMatchObject([
    {
      reason: 'failed',
      error: {
        code: 'program_missing',
        field: 'program_number',
        message: 'The source has no program 4; it has programs 3, 7.',
        details: { programs: [3, 7] },
      },
    },
  ])
})

test('source_stream counts within the program', async () => {
  await transcode(multiplex(first.bare, second.bare), { program_number: 3 }, 2)
  expect(taskApi.fails).toMatchObject([{ error: { code: 'audio_stream_missing', details: { audio_streams: 1 } } }])
})

test('the only program of a stream may be named', async () => {
  await transcode(first.cued, { program_number: 3 })
  expect(taskApi.fails).toEqual([])
  expect(codes()).toEqual([])
})
