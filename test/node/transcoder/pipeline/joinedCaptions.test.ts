// In charge of: CEA-608 in the video of joined inputs, in whole attempts: text read with ffmpeg's decoder, times by the
// frames that contain the commands.
// Not in charge of: WebVTT tracks (joinedPieces.long.test.ts), caption files (embeddedCaptions.test.ts).
import { rename, writeFile } from 'node:fs/promises'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { makeCaptionedClip } from '../../../support/captions/captionedClip.ts'
import { readCaptions } from '../../../support/captions/decodedCaptions.ts'
import { frameCaptions, sentPairs } from '../../../support/captions/frameCaptions.ts'
import { ffmpeg, lavfi } from '../../../support/media/media.ts'
import { openAttemptFixture } from '../../../support/transcoder/attemptFixture.ts'
import { JoinedTasks } from '../../../support/transcoder/joinedTask.ts'
import { joinedSegments, segmentedTask } from '../../../support/transcoder/segmentedTask.ts'

let tasks: JoinedTasks
const path = (name: string): string => tasks.path(name)
beforeAll(async () => {
  tasks = new JoinedTasks(await openAttemptFixture())
  for (const [name, text] of [
    ['one.ts', 'FIRST'],
    ['two.ts', 'SECOND'],
  ] as const)
    await rename(await makeCaptionedClip(path, text), path(name))
})
afterAll(() => tasks.fixture.remove())
afterEach(() => tasks.stop())

// FIRST is on the screen at its join; of the last part, SECOND is loaded before it begins.
const PARTS = [{ file: 'one.ts', end: 0.6 }, { file: 'two.ts' }, { file: 'two.ts', start: 0.1 }]

async function expectCaptions(file: string, rate: number): Promise<void> {
  const read = await readCaptions(file)
  expect(read.map(({ text }) => text.trim())).toEqual(['FIRST', 'SECOND'])
  const sent = sentPairs(await frameCaptions(file, 'h264'), 0)
  const times = (command: string) =>
    sent
      .filter(({ pair }, at) => pair === command && sent[at - 1]?.pair !== command)
      .map(({ frame }) => (frame / rate) * (30_000 / 1001))
  // In frames of the sources: shown by pair 5, cleared by pair 26; the join sends two codes before those of its piece.
  const near = (found: number[], expected: number[]) => {
    expect(found).toHaveLength(expected.length)
    for (const [at, frame] of expected.entries()) expect(Math.abs(found[at]! - frame)).toBeLessThanOrEqual(2.1)
  }
  near(times('942f'), [5, 18 + 5 + 2])
  near(times('942c').slice(0, 2), [18, 18 + 26])
}

test('mp4: each is at its frame, and none is on the screen behind its join', async () => {
  const objects = await tasks.run(PARTS, { audioProfiles: [] })
  await writeFile(path('out.mp4'), objects.get('out/v0.mp4')!)
  await expectCaptions(path('out.mp4'), 30_000 / 1001)
  expect(tasks.warnings).not.toContain('captions_removed')
})

test('a joined rate of 25: text and times stay', async () => {
  const coder = '-c:v libx264 -preset ultrafast -pix_fmt yuv420p'.split(' ')
  await ffmpeg(['-y', ...lavfi('testsrc2=s=320x180:r=25:d=3'), ...coder, path('longest.mp4')])
  const objects = await tasks.run([...PARTS, { file: 'longest.mp4' }], { audioProfiles: [] })
  await writeFile(path('out25.mp4'), objects.get('out/v0.mp4')!)
  await expectCaptions(path('out25.mp4'), 25)
})

test('HLS at twice the frame rate: no pair is lost or doubled, and the channel is announced', async () => {
  const profile = segmentedTask({}).config.videoProfiles[0]!
  const objects = await tasks.run(
    PARTS,
    { audioProfiles: [], segmented_output_hls: true, videoProfiles: [{ ...profile, video_framerate: '2x' }] },
    true,
  )
  expect(objects.get('out/master.m3u8')!.toString()).toMatch(/TYPE=CLOSED-CAPTIONS.*INSTREAM-ID="CC1"/)
  await writeFile(path('out.cmfv'), joinedSegments(objects, 'out/video_0/playlist.m3u8'))
  await expectCaptions(path('out.cmfv'), 60_000 / 1001)
})
