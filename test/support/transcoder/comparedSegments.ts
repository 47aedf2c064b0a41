// In charge of: segments of a job made twice, by one task and divided: that players read the same from both.
// Not in charge of: making them (comparedDivision.ts).
import { join } from 'node:path'
import { expect } from 'vitest'
import { transportRates } from '../media/media.ts'
import type { AttemptFixture } from './attemptFixture.ts'
import type { ComparedDivision } from './comparedDivision.ts'
import { expectSameMedia } from './comparedFiles.ts'
import { joinedSegments } from './segmentedTask.ts'

/** The encoded video differs, and with it what states its size, and the places behind it in a tar. */
const OF_VIDEO =
  /video_\d.*\.(ts|mp4|m4s)$|QualityLevels.*video|iframes\.m3u8$|master\.m3u8$|manifest\.mpd$|job\.json$|tar/
/** The header of copied audio states the mean rate. */
const OF_AUDIO = /audio_\d\/own\/init\.mp4$/

export async function expectSameSegments(
  fixture: Pick<AttemptFixture, 'directory'>,
  { alone, divided, onlyAlone, onlyDivided, different }: ComparedDivision,
): Promise<void> {
  expect(alone.problems).toEqual([])
  expect(divided.problems).toEqual([])
  expect([onlyAlone, onlyDivided]).toEqual([[], []])
  expect(different.filter((name) => !OF_VIDEO.test(name) && !OF_AUDIO.test(name))).toEqual([])
  expect(divided.finished?.usage).toEqual(alone.finished?.usage)
  expect(divided.finished?.warnings).toEqual(alone.finished?.warnings)
  for (const [path, playlist] of alone.objects) {
    if (!/(video|audio)_\d\/playlist\.m3u8$/.test(path)) continue
    const [one, other] = [alone, divided].map(({ objects }) => joinedSegments(objects, path))
    const file = `${path}.${playlist.includes('EXT-X-MAP') ? 'mp4' : 'ts'}`
    await expectSameMedia(fixture, file, [one!, other!])
    if (file.endsWith('.mp4')) continue
    const { counterErrors } = await transportRates(join(fixture.directory, 'divided', file))
    expect(counterErrors).toBe(0)
  }
}
