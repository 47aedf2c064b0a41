// The names that ffprobe gives to the streams of a source that no output carries.
import { expect, test } from 'vitest'
import { probe } from '../../../../transcoder/analysis/probe.ts'
import { readStreamDetails } from '../../../../transcoder/analysis/streamDetails.ts'
import { planJob } from '../../../../transcoder/plan/planJob.ts'
import { ffmpeg, lavfi, makeClip, sharedClip, tempDirectory, testFfmpeg } from '../../../support/media/media.ts'
import { writeFile } from 'node:fs/promises'
import { jobSpec } from '../../../support/transcoder/jobSpecs.ts'

async function codes(path: string, cwd: string): Promise<string[]> {
  const programs = await testFfmpeg()
  const spec = jobSpec({ audio: [] })
  const media = await probe(programs, `file:${path}`, { cwd })
  const plan = planJob(spec, await readStreamDetails(programs, `file:${path}`, spec, media, { cwd, scratch: cwd }))
  return plan.warnings.map((warning) => warning.code).filter((code) => code.endsWith('_left_out'))
}

test('made streams: timecode, text subtitles, further video, cover art, attachments', async () => {
  await using tempDir = await tempDirectory()
  const clip = await makeClip(tempDir.file('clip.mp4'), { width: 64, height: 64, seconds: 1 })
  const text = tempDir.file('text.srt')
  await writeFile(text, '1\n00:00:00,000 --> 00:00:00,900\nHallo\n')
  const mov = tempDir.file('all.mov')
  await ffmpeg(['-i', clip, '-i', text, ...'-map 0 -map 1 -c copy -c:s mov_text -timecode 01:00:00:00'.split(' '), mov])
  expect((await codes(mov, tempDir.path)).toSorted()).toEqual(['text_subtitles_left_out', 'timecode_left_out'])

  const mkv = tempDir.file('all.mkv')
  const attached = ['-attach', text, '-metadata:s:t', 'mimetype=text/plain']
  await ffmpeg(['-i', clip, '-i', text, ...'-map 0 -map 0:v -map 1 -c copy -c:s srt'.split(' '), ...attached, mkv])
  expect(await codes(mkv, tempDir.path)).toEqual([
    'further_video_left_out',
    'text_subtitles_left_out',
    'attachment_left_out',
  ])

  const cover = tempDir.file('cover.png')
  await ffmpeg([...lavfi('color=red:s=32x32'), '-frames:v', '1', cover])
  const covered = tempDir.file('cover.mp4')
  const flags = '-map 0 -map 1 -c copy -disposition:v:1 attached_pic'.split(' ')
  await ffmpeg(['-i', clip, '-i', cover, ...flags, covered])
  expect(await codes(covered, tempDir.path)).toEqual(['cover_art_left_out'])
})

test('a broadcast stream: DVB subtitles and data', async (context) => {
  await using space = await tempDirectory()
  const found = await codes(sharedClip(context, 'dvb_mpeg2_704x576_tff_mp2.ts'), space.path)
  expect(found).toContain('dvb_subtitles_left_out')
})

test('SCTE-35 cues', async (context) => {
  await using space = await tempDirectory()
  expect(await codes(sharedClip(context, 'sample_scte35.ts'), space.path)).toContain('scte35_left_out')
})
