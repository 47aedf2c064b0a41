// Recordings that begin within a group of pictures: whole attempts, whose pictures are read in the outputs.
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { runTask } from '../../../../../transcoder/runTask.ts'
import { ffmpeg } from '../../../../support/media/media.ts'
import { frameNumbers, makeNumberedClip } from '../../../../support/media/numberedClip.ts'
import { describeTask, runRequest } from '../../../../support/transcoder/attemptFixture.ts'
import { useAttemptFixture, useTaskApi } from '../../../../support/transcoder/useAttempts.ts'

const fixtures = await useAttemptFixture()
const taskApi = useTaskApi(() => Buffer.alloc(0))

/** Groups of two seconds; the recording begins at `from`. Its first key frame is number 50, of mpeg2 (open groups) 52. */
async function recorded(
  video: string[],
  from: number,
  streams: string[],
): Promise<{ pictures: number[]; codes: string[] }> {
  const whole = join(fixtures.directory, 'whole.ts')
  const part = join(fixtures.directory, 'part.ts')
  await makeNumberedClip(whole, { seconds: 5, video: ['-g', '50', '-sc_threshold', '0', ...video] })
  await ffmpeg(['-y', '-i', whole, ...streams, '-c', 'copy', '-copyinkf', '-ss', `${from}`, part])
  taskApi.source = { bytes: await readFile(part) }
  const { config, ...task } = describeTask({ container: 'mp4' })
  const audioProfiles = streams.includes('0:a') ? config.audioProfiles : []
  const videoProfiles = config.videoProfiles.map((profile) => ({ ...profile, width: 192, height: 48 }))
  taskApi.task = { ...task, config: { ...config, audioProfiles, videoProfiles } }
  await runTask(runRequest(taskApi), fixtures.context())
  expect(taskApi.fails).toEqual([])
  const out = join(fixtures.directory, 'out.mp4')
  await writeFile(out, taskApi.objects().get('out/v0.mp4')!)
  return { pictures: await frameNumbers(out), codes: taskApi.finished!.warnings.map(({ code }) => code) }
}

const SILENT = ['-map', '0:v']
const SOUND = ['-map', '0:v', '-map', '0:a']
const MPEG2 = ['-c:v', 'mpeg2video', '-b:v', '2M', '-mpv_flags', '+strict_gop']

test.each<[codec: string, video: string[], first: number]>([
  ['h264', [], 50],
  ['mpeg2', MPEG2, 52],
])('%s without sound begins with its first picture', async (_codec, video, first) => {
  const { pictures, codes } = await recorded(video, 1, SILENT)
  expect(pictures.slice(0, 5)).toEqual([0, 1, 2, 3, 4].map((after) => first + after))
  expect(codes).not.toContain('first_frame_held')
})

test('with sound from shortly before it, too', async () => {
  const { pictures, codes } = await recorded(MPEG2, 1.7, SOUND)
  expect(pictures.slice(0, 3)).toEqual([52, 53, 54])
  expect(codes).not.toContain('first_frame_held')
})

test('with sound from long before it, the first picture is held, with a warning', async () => {
  const { pictures, codes } = await recorded(MPEG2, 1, SOUND)
  expect(new Set(pictures.slice(0, 20))).toEqual(new Set([52]))
  expect(pictures).toContain(120)
  expect(codes).toContain('first_frame_held')
})
