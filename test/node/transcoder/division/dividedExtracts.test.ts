// In charge of: stills, animated previews and waveforms of a divided job: the files of one task, byte for byte.
// Not in charge of: which frames these are (extracts/), other sources and forms (dividedExtracts.long.test.ts).
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { frameNumbers, makeNumberedClip } from '../../../support/media/numberedClip.ts'
import { compareDivision } from '../../../support/transcoder/comparedDivision.ts'
import { expectSameExtracts, extractsOf } from '../../../support/transcoder/comparedExtracts.ts'
import { extractTask } from '../../../support/transcoder/extractTasks.ts'
import { useAttemptFixture } from '../../../support/transcoder/useAttempts.ts'

const fixture = await useAttemptFixture()
const path = (name: string): string => join(fixture.directory, name)

test('beside segments they are made once, and listed in job.json', async () => {
  const source = await readFile(await makeNumberedClip(path('a.mp4'), { seconds: 12 }))
  const of = extractTask({
    output_container: 'hls',
    segmented_output_dash: true,
    segment_length: 2,
    gop_length: 1,
    bucket_output_path: 'show',
    videoProfiles: [{ output: '', width: 192, height: 48, video_bitrate: 400 }],
    stills: [{ at_seconds: [11.96, 3] }, { every_seconds: 2.5, format: 'webp', output: 'all/s.webp' }],
    animated_preview: { format: 'gif', seconds: 1, parts: 2, width: 192, frames_per_second: 5 },
    waveform: { format: 'dat' },
  })
  const compared = await compareDivision(fixture, of, { source, chunks: [0, 2, 4] })
  expectSameExtracts(compared)
  const { objects, finished } = compared.divided
  const frames: Record<string, number[]> = {}
  for (const { path: name } of extractsOf(finished).filter(({ role }) => role !== 'waveform')) {
    const file = path(name.replaceAll('/', '_'))
    await writeFile(file, objects.get(name)!)
    frames[name] = await frameNumbers(file)
  }
  expect(frames).toEqual({
    'show/clip_still_0_0001.jpg': [75],
    'show/clip_still_0_0002.jpg': [299],
    'show/all/s_0001.webp': [0],
    'show/all/s_0002.webp': [62],
    'show/all/s_0003.webp': [125],
    'show/all/s_0004.webp': [187],
    'show/all/s_0005.webp': [250],
    'show/clip_preview.gif': [68, 73, 78, 218, 223, 228],
  })
  const { objects: listed } = JSON.parse(objects.get('show/job.json')!.toString()) as { objects: { path: string }[] }
  for (const name of [...Object.keys(frames), 'show/clip_waveform.dat'])
    expect(listed.filter((each) => each.path === name)).toHaveLength(1)
})
