// In charge of: transport streams whose streams move to other PIDs with a new version of the program map, and come back:
// every picture and all of the sound, whole and divided.
// Not in charge of: single packets (../../formats/mpegts/stableMap.test.ts).
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { continuityCounter, PACKET_BYTES, pidOf } from '../../../../../transcoder/formats/mpegts/packet.ts'
import { readPmt, writePmt } from '../../../../../transcoder/formats/mpegts/programTables.ts'
import { SectionAssembler, toPackets } from '../../../../../transcoder/formats/mpegts/section.ts'
import { runTask } from '../../../../../transcoder/runTask.ts'
import { audioShiftsAt, frameNumbers, makeNumberedClip } from '../../../../support/media/numberedClip.ts'
import { splitPackets } from '../../../../support/mpegts/cueClips.ts'
import { describeTask, runRequest } from '../../../../support/transcoder/attemptFixture.ts'
import { compareDivision } from '../../../../support/transcoder/comparedDivision.ts'
import { joinedSegments, segmentedTask } from '../../../../support/transcoder/segmentedTask.ts'
import { useAttemptFixture, useTaskApi } from '../../../../support/transcoder/useAttempts.ts'

const MAP_PID = 0x1000
/** Samples at 48 kHz: 10 ms. */
const SAME_PLACE = 480
const fixture = await useAttemptFixture()
const taskApi = useTaskApi()
const path = (name: string): string => join(fixture.directory, name)

/** The PIDs of the streams and the version of the map from one map to another; the continuity counters of the new PIDs begin at 7. */
function withMovedMiddle(bytes: Buffer, pids: ReadonlyMap<number, number>): Buffer {
  const on = (pid: number): number => pids.get(pid) ?? pid
  const maps = splitPackets(bytes).flatMap((packet, index) => (pidOf(packet) === MAP_PID ? index * PACKET_BYTES : []))
  const [from, to] = [1, 2].map((part) => maps[Math.floor((maps.length * part) / 3)]!) as [number, number]
  const counters = new Map<number, number>()
  const moved = splitPackets(bytes.subarray(from, to)).map((packet) => {
    const pid = pidOf(packet)
    if (pid === MAP_PID) {
      const map = readPmt(new SectionAssembler().push(packet)[0]!)!
      const streams = map.streams.map((stream) => ({ ...stream, pid: on(stream.pid) }))
      const section = writePmt({ ...map, version: 1, clockPid: on(map.clockPid), streams })
      return toPackets(section, MAP_PID, continuityCounter(packet))[0]!
    }
    if (on(pid) === pid) return packet
    const shown = Uint8Array.from(packet)
    shown[1] = (packet[1]! & 0xe0) | (on(pid) >> 8)
    shown[2] = on(pid) & 0xff
    const counter = counters.get(pid) ?? 7
    if ((packet[3]! & 0x10) !== 0) counters.set(pid, (counter + 1) & 15)
    shown[3] = (packet[3]! & 0xf0) | counter
    return shown
  })
  return Buffer.concat([bytes.subarray(0, from), ...moved, bytes.subarray(to)])
}

const moves: [string, [number, number][]][] = [
  ['the audio', [[257, 300]]],
  ['the video, with the clock', [[256, 301]]],
  [
    'both, each to the PID of the other',
    [
      [256, 257],
      [257, 256],
    ],
  ],
]

async function whole(seconds: number): Promise<Buffer> {
  return readFile(
    await makeNumberedClip(path('whole.ts'), { seconds, video: ['-g', '25', '-mpegts_flags', 'pat_pmt_at_frames'] }),
  )
}

test.each(moves)('%s: as if nothing moved', async (_what, pids) => {
  taskApi.source.bytes = withMovedMiddle(await whole(6), new Map(pids))
  taskApi.task = describeTask({ container: 'mp4' })
  await runTask(runRequest(taskApi), fixture.context())
  expect([taskApi.fails, taskApi.breaches]).toEqual([[], []])
  const [bytes] = taskApi.objects().values()
  await writeFile(path('out.mp4'), bytes!)
  expect(await frameNumbers(path('out.mp4'))).toEqual(Array.from({ length: 150 }, (_, frame) => frame))
  const places = [1, 2.5, 3.5, 5].map((seconds) => ({ place: seconds * 48_000, origin: seconds * 48_000 }))
  for (const shift of await audioShiftsAt(path('out.mp4'), places)) expect(Math.abs(shift)).toBeLessThan(SAME_PLACE)
  expect(taskApi.finished?.warnings.map(({ code }) => code)).toEqual(['upscaled', 'extreme_pixel_aspect'])
})

test('divided as from one task', async () => {
  const source = withMovedMiddle(
    await whole(9),
    new Map([
      [256, 301],
      [257, 300],
    ]),
  )
  const task = segmentedTask({ output_container: 'hls', segmented_output_hls: true })
  const { alone, divided, onlyAlone, onlyDivided } = await compareDivision(fixture, task, { source, chunks: [0, 2, 4] })
  expect([alone.problems, divided.problems]).toEqual([[], []])
  expect([onlyAlone, onlyDivided]).toEqual([[], []])
  expect(divided.finished?.undivided).toBeUndefined()
  expect(divided.finished?.warnings).toEqual(alone.finished?.warnings)
  const frames = await Promise.all(
    [alone, divided].map(async ({ objects }, at) => {
      await writeFile(path(`${at}.mp4`), joinedSegments(objects, 'out/video_0/playlist.m3u8'))
      return frameNumbers(path(`${at}.mp4`))
    }),
  )
  expect(frames[1]).toEqual(frames[0])
  expect(new Set(frames[0]).size).toBe(225)
})
