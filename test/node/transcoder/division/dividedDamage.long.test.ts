// In charge of: a damaged source of a divided job: each damaged place is reported once, as by one task.
// Not in charge of: how damage is found (sources/damaged.test.ts).
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { makeClip, readPackets } from '../../../support/media/media.ts'
import { compareDivision } from '../../../support/transcoder/comparedDivision.ts'
import { segmentedTask } from '../../../support/transcoder/segmentedTask.ts'
import { useAttemptFixture } from '../../../support/transcoder/useAttempts.ts'

const fixture = await useAttemptFixture()
const CMAF = { output_container: 'hls', segmented_output_hls: true, segmented_output_dash: true } as const
/** Chunks of 4 s. */
const CHUNKS = [0, 2, 4]

/** The video's packets that begin nearest to these times have lost their content. */
async function damagedClip(seconds: readonly number[]): Promise<Buffer> {
  const path = join(fixture.directory, 'whole.mp4')
  await makeClip(path, { seconds: 12, audio: [1], flags: ['-g', '25', '-bf', '0', '-shortest'] })
  const bytes = await readFile(path)
  const packets = await readPackets(path)
  for (const time of seconds) {
    const packet = packets.find(({ pts_time: at }) => Number(at) >= time - 0.001)!
    const first = Number(packet.pos)
    bytes.fill(0x55, first + 24, first + Number(packet.size) - 4)
  }
  await writeFile(join(fixture.directory, 'damaged.mp4'), bytes)
  return bytes
}

test.each([
  { name: 'in the middle of a chunk', seconds: [5] },
  { name: 'in the first frames of a chunk', seconds: [4] },
  { name: 'in the first frames of the last chunk', seconds: [8] },
  { name: 'in the run-in of the next chunk', seconds: [7] },
  { name: 'in two chunks', seconds: [2, 10] },
])('$name', async ({ seconds }) => {
  const source = await damagedClip(seconds)
  const of = segmentedTask({ ...CMAF, thumbnails: true })
  const { alone, divided } = await compareDivision(fixture, of, { source, chunks: CHUNKS })
  const damage = (made: typeof alone): [string, string | undefined][] =>
    (made.finished?.warnings ?? []).map(({ code, message }) => [code, /\d+ (packet|frame|error)/.exec(message)?.[0]])
  expect([alone.problems, divided.problems]).toEqual([[], []])
  expect(damage(alone).length).toBeGreaterThan(0)
  expect(damage(divided)).toEqual(damage(alone))
})
