// Transport streams whose clock jumps: whole attempts, whose outputs are decoded.
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { runTask } from '../../../../transcoder/pipeline/runTask.ts'
import { ffmpeg, makeClip } from '../../../support/media/media.ts'
import { audioSamples } from '../../../support/media/audioSamples.ts'
import { frameNumbers } from '../../../support/media/numberedClip.ts'
import { describeTask, runRequest } from '../../../support/transcoder/attemptFixture.ts'
import { useAttemptFixture, useTaskApi } from '../../../support/transcoder/useAttempts.ts'

const fixtures = await useAttemptFixture()
const taskApi = useTaskApi(() => Buffer.alloc(0))
const PIECE_SECONDS = 2

/** Pieces that begin at these times, as an encoder writes them that starts again. */
async function recording(...starts: number[]): Promise<Buffer> {
  const clip = await makeClip(join(fixtures.directory, 'piece.mp4'), {
    seconds: PIECE_SECONDS,
    width: 192,
    height: 48,
    audio: [1],
    flags: ['-bf', '0', '-g', '25', '-shortest'],
  })
  const pieces = []
  for (const [index, start] of starts.entries()) {
    const piece = join(fixtures.directory, `piece-${index}.ts`)
    const flags = ['-c', 'copy', '-mpegts_flags', '+initial_discontinuity', '-output_ts_offset', `${start}`]
    await ffmpeg(['-i', clip, ...flags, piece])
    pieces.push(await readFile(piece))
  }
  return Buffer.concat(pieces)
}

async function transcoded(source: Buffer): Promise<{ pictures: number; soundSeconds: number; codes: string[] }> {
  taskApi.source = { bytes: source }
  taskApi.task = describeTask({ container: 'mp4' })
  await runTask(runRequest(taskApi), fixtures.context())
  expect(taskApi.fails).toEqual([])
  const path = join(fixtures.directory, 'out.mp4')
  await writeFile(path, taskApi.objects().get('out/v0.mp4')!)
  return {
    pictures: (await frameNumbers(path)).length,
    soundSeconds: (await audioSamples(path, 0, 0)).length / 48_000,
    codes: taskApi.finished!.warnings.map(({ code }) => code),
  }
}

test.each<[name: string, starts: number[]]>([
  ['back', [1000, 5]],
  ['forward', [5, 4000]],
  ['three pieces', [1000, 5, 40_000]],
  ['joined recordings, each from 0', [0, 0]],
])('%s: all of it is in the output, with a warning', async (_name, starts) => {
  const { pictures, soundSeconds, codes } = await transcoded(await recording(...starts))
  const seconds = PIECE_SECONDS * starts.length
  expect(codes).toContain('clock_jumps')
  expect(Math.abs(pictures / 25 - seconds)).toBeLessThan(0.2 * starts.length)
  expect(Math.abs(soundSeconds - seconds)).toBeLessThan(0.2 * starts.length)
  expect(taskApi.plans.at(-1)!.plan.durationSeconds).toBeCloseTo(seconds, 0)
})
