// In charge of: stills, animated previews and waveforms of divided jobs of every form and kind of source; rests that end early.
// Not in charge of: one job in detail (dividedExtracts.test.ts), which frames these are (extracts/).
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { partTaskNumber } from '#contract/taskId.ts'
import { runTask } from '../../../../transcoder/runTask.ts'
import { makeNumberedClip } from '../../../support/media/numberedClip.ts'
import { findFfmpegProcesses, runRequest, type TaskDescription } from '../../../support/transcoder/attemptFixture.ts'
import { compareDivision } from '../../../support/transcoder/comparedDivision.ts'
import { expectSameExtracts, extractsOf } from '../../../support/transcoder/comparedExtracts.ts'
import { assembleFromParts, makeParts, runDividedJob } from '../../../support/transcoder/dividedJob.ts'
import { extractTask } from '../../../support/transcoder/extractTasks.ts'
import { useAttemptFixture, useTaskApi } from '../../../support/transcoder/useAttempts.ts'

const fixture = await useAttemptFixture()
const path = (name: string): string => join(fixture.directory, name)
const SECONDS = 12
const clip = await readFile(await makeNumberedClip(path('a.mp4'), { seconds: SECONDS }))
const taskApi = useTaskApi(() => clip)

const ALL = {
  stills: [{ at_seconds: [0, 3.04, 11.96] }, { count: 5, format: 'webp', width: 96, output: 'n/s.webp' }],
  animated_preview: { format: 'mp4', seconds: 2, parts: 3, width: 192 },
  waveform: { bits: 16, split_channels: true },
}
const SEGMENTS = {
  output_container: 'hls',
  segmented_output_dash: true,
  segment_length: 2,
  gop_length: 1,
  videoProfiles: [{ output: '', width: 192, height: 48, video_bitrate: 400 }],
}
const GOPS = { gop_length: 1 }

test.each<[name: string, members: object, source: { file: string; rate?: string; video?: string[] }]>([
  ['an mp4 file', GOPS, { file: 'b.mp4' }],
  ['a ts file, of Matroska', { ...GOPS, output_container: 'ts' }, { file: 'b.mkv', rate: '30000/1001' }],
  ['a tar of segments', { ...SEGMENTS, create_tar_file: true }, { file: 'c.mp4' }],
  ['segments with thumbnails, of a transport stream', { ...SEGMENTS, thumbnails: true }, { file: 'c.ts' }],
  ['segments of a transport stream', SEGMENTS, { file: 'd.ts' }],
  ['segments of a part of the source', { ...SEGMENTS, start_seconds: 1.48, end_seconds: 10.2 }, { file: 'd.mp4' }],
  [
    'segments of an interlaced source',
    SEGMENTS,
    { file: 'e.mp4', video: ['-vf', 'interlace', '-flags', '+ildct+ilme', '-x264opts', 'tff=1'] },
  ],
])('beside %s', async (_name, members, { file, ...clipped }) => {
  const source = await readFile(await makeNumberedClip(path(file), { seconds: SECONDS, ...clipped }))
  const compared = await compareDivision(fixture, extractTask({ ...ALL, ...members }), { source, chunks: [0, 2] })
  expectSameExtracts(compared)
  // Of the times of a part of the source, the last one is after its end.
  const expected = 'start_seconds' in members ? 2 + 5 + 2 : 3 + 5 + 2
  expect(extractsOf(compared.divided.finished)).toHaveLength(expected)
})

test.each<[name: string, members: object, file: string]>([
  ['segments', { ...SEGMENTS, audioProfiles: [] }, 'f.mp4'],
  ['segments of a transport stream', { ...SEGMENTS, audioProfiles: [] }, 'f.ts'],
  ['an mp4 file', { ...GOPS, audioProfiles: [] }, 'g.mp4'],
])('a waveform beside %s without audio', async (_name, members, file) => {
  const source = await readFile(await makeNumberedClip(path(file), { seconds: SECONDS }))
  const of = extractTask({ ...members, waveform: {} })
  const compared = await compareDivision(fixture, of, { source, chunks: [0, 2] })
  expectSameExtracts(compared)
})

function rest(attempt = 1): Promise<void> {
  taskApi.task = { ...taskApi.task!, attempt }
  return runTask(runRequest(taskApi, attempt, partTaskNumber(1)), fixture.context())
}

/** The last chunk is stored, and the rest is the task. */
async function untilRest(members: object): Promise<TaskDescription> {
  const of = extractTask({ ...SEGMENTS, ...members })
  await runDividedJob(fixture, taskApi, of, { chunks: [0, 2], parts: [0] })
  const task = { ...of, plan: taskApi.storedPlan, heartbeat_ms: 5000 }
  taskApi.task = { ...task, accepts: { source: false, preview: false, log: false }, kind: 'part', part: { index: 1 } }
  return task
}

async function expectNothingLeftBy(instruction: 'cancel' | 'stop'): Promise<void> {
  // Never answered.
  taskApi.faults.uploads = () => true
  const ended = rest()
  await Promise.race([ended, taskApi.waitFor(() => (taskApi.counts.get('uploads') ?? 0) > 0)])
  taskApi.instruction = instruction
  await ended
  // Nobody waits for the report of an attempt that was replaced.
  expect(taskApi.fails).toMatchObject(instruction === 'cancel' ? [{ reason: 'cancelled' }] : [])
  expect(taskApi.records.has(1)).toBe(false)
  expect(await findFfmpegProcesses(fixture.workDir)).toEqual([])
  expect(await fixture.workDirEntries()).toEqual([])
}

test('cancelled while its images are stored, the rest leaves nothing behind', async () => {
  await untilRest({ stills: [{ every_seconds: 0.2 }] })
  await expectNothingLeftBy('cancel')
})

test('a rest that was replaced makes its images again, and each is listed once', async () => {
  const task = await untilRest({ stills: [{ every_seconds: 1 }], waveform: {} })
  await expectNothingLeftBy('stop')
  delete taskApi.faults.uploads
  taskApi.instruction = 'continue'
  await rest(2)
  await makeParts(taskApi, task, [2], () => fixture.context())
  await assembleFromParts(taskApi, task, { parts: 3 }, () => fixture.context())
  expect([taskApi.fails, taskApi.breaches]).toEqual([[], []])
  const names = extractsOf(taskApi.finished).map(({ path: name }) => name)
  expect(names).toHaveLength(SECONDS + 1)
  expect(new Set(names).size).toBe(SECONDS + 1)
})
