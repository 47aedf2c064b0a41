// In charge of: a whole attempt with more cues than playlists list.
// Not in charge of: how a cue is written in a playlist (../manifests).
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { runTask } from '../../../../transcoder/runTask.ts'
import { cueAtSeconds, makeCueClip } from '../../../support/mpegts/cueClips.ts'
import { segmentation, timeSignal } from '../../../support/mpegts/spliceSections.ts'
import { FakeTaskApi } from '../../../support/transcoder/fakeTaskApi.ts'
import { storedObjects, segmentedTask } from '../../../support/transcoder/segmentedTask.ts'
import { openAttemptFixture, runRequest } from '../../../support/transcoder/attemptFixture.ts'

const SECONDS = 3
/** One for each millisecond of most of the clip. */
const CUES = 2400
/** segmentation_type_id of a chapter: the programme continues. */
const CHAPTER = 0x20

test('playlists and manifests list 2,000 cues at most, and a warning of the job says that there are more', async () => {
  const bench = await openAttemptFixture()
  const cues = Array.from({ length: CUES }, (_, at) =>
    cueAtSeconds(0.2 + at / 1000, timeSignal(18_000 + at * 90, { descriptors: segmentation(at, CHAPTER, null) })),
  )
  const options = { seconds: SECONDS, width: 160, height: 90, flags: ['-f', 'mpegts'] }
  const bytes = await makeCueClip(join(bench.directory, 'cues.ts'), options, cues)
  const door = await new FakeTaskApi({ bytes }).start()
  try {
    door.task = segmentedTask({
      output_container: 'ts',
      segmented_output_hls: true,
      segmented_output_dash: true,
      scte35_passthough: true,
    })
    await runTask(runRequest(door), bench.context())
    expect([door.fails, door.breaches]).toEqual([[], []])

    const objects = storedObjects(door)
    const playlist = objects.get('out/video_0/playlist.m3u8')!.toString()
    const manifest = objects.get('out/manifest.mpd')!.toString()
    expect(playlist.match(/#EXT-X-DATERANGE/g)).toHaveLength(2000)
    expect(manifest.match(/<Event /g)).toHaveLength(2000)
    const warning = {
      code: 'cues_limited',
      field: 'scte35_passthough',
      message: `Playlists and manifests list the first 2000 of ${CUES} cues.`,
    }
    const report = JSON.parse(objects.get('out/job.json')!.toString()) as { warnings: { code: string }[] }
    for (const warnings of [door.finished?.warnings ?? [], report.warnings])
      expect(warnings.filter(({ code }) => code === 'cues_limited')).toEqual([warning])
  } finally {
    await door.stop()
    await bench.remove()
  }
})
