// A constant rate that the encoder cannot keep: the job completes, and its warning contains the number of late access
// units.
import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { lateWarnings } from '../../../../transcoder/pipeline/multiplexOutput.ts'
import { runTask } from '../../../../transcoder/runTask.ts'
import { FakeTaskApi } from '../../../support/transcoder/fakeTaskApi.ts'
import { describeTask, runRequest } from '../../../support/transcoder/attemptFixture.ts'
import { useAttemptFixture } from '../../../support/transcoder/useAttempts.ts'

const run = promisify(execFile)
const bench = await useAttemptFixture()
let door: FakeTaskApi

beforeAll(async () => {
  door = await new FakeTaskApi({ bytes: Buffer.alloc(0) }).start()
})
afterAll(async () => {
  await door.stop()
})

test('noise in MPEG-2 far below the rate that it needs', async () => {
  const file = join(bench.directory, 'noise.mp4')
  const noise = '-f lavfi -i color=gray:s=320x180:r=25:d=4,noise=alls=100:allf=t -f lavfi -i sine=d=4:r=48000'
  const coding = '-c:v libx264 -preset ultrafast -qp 10 -pix_fmt yuv420p -c:a aac'
  await run(bench.engine.ffmpeg, [...`-nostdin -y -v error ${noise} ${coding}`.split(' '), file])
  door.source = { bytes: await readFile(file) }
  const task = describeTask({ container: 'ts', bitrates: [600] })
  const videoProfiles = task.config.videoProfiles.map((profile) => ({ ...profile, video_bitrate_mode: 'cbr' as const }))
  door.task = { ...task, config: { ...task.config, video_codec: 'mpeg2', videoProfiles } }
  await runTask(runRequest(door), bench.context())
  const warnings = door.finished?.warnings ?? []
  const late = warnings.find(({ code }) => code === 'access_units_late')
  expect(late?.message).toMatch(/^The encoder exceeded its rate: .*\(\d+ of out\/v0\.ts\)/)
  expect(Number(/\((\d+) of/.exec(late!.message)![1])).toBeGreaterThan(10)
})

test('one warning names each output', () => {
  expect(lateWarnings([])).toEqual([])
  const found = lateWarnings([
    { path: 'a.ts', count: 1 },
    { path: 'b.ts', count: 12 },
  ])
  expect(found).toMatchObject([
    { code: 'access_units_late', message: expect.stringContaining('1 of a.ts, 12 of b.ts') },
  ])
})
