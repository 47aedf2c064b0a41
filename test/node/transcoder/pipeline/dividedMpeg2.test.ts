// In charge of: mpeg2 of a divided job: the headers of its groups of pictures run on across joins, with fields.
// Not in charge of: times and sizes of other files (dividedFiles.long.test.ts), the cutter (segmenter/fmp4Cutters.test.ts).
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ffmpeg, lavfi, probeFile } from '../../../support/media/media.ts'
import { compareDivision } from '../../../support/transcoder/comparedDivision.ts'
import { expectSameFiles, filesTask } from '../../../support/transcoder/comparedFiles.ts'
import { useAttemptFixture } from '../../../support/transcoder/useAttempts.ts'

const fixture = await useAttemptFixture()
const KBPS = 1500

/** Fields at 29.97 frames per second: a GOP has 30 frames, and a segment of 4 s has 120. */
async function fields(): Promise<Buffer> {
  const file = join(fixture.directory, 'fields.mp4')
  const picture = 'testsrc2=s=320x240:r=60000/1001:d=6,tinterlace=interleave_top,setfield=tff'
  const coding = '-c:v libx264 -preset ultrafast -x264-params tff=1 -g 30 -pix_fmt yuv420p -c:a aac -shortest -y'
  await ffmpeg([...lavfi(picture, 'sine=d=6:r=48000'), ...coding.split(' '), file])
  return readFile(file)
}

interface Headers {
  /** Hex, with their extensions. */
  sequences: string[]
  groups: { time: string; isClosed: boolean }[]
}

/** ISO/IEC 13818-2, 6.2.2.6: drop_frame_flag 1, hours 5, minutes 6, marker 1, seconds 6, pictures 6, closed_gop 1. */
async function headersOf(file: string): Promise<Headers> {
  const stream = await ffmpeg(['-xerror', '-i', file, '-map', '0:v', '-c', 'copy', '-f', 'mpeg2video', '-'])
  const found: Headers = { sequences: [], groups: [] }
  for (let at = stream.indexOf(GROUP); at >= 0; at = stream.indexOf(GROUP, at + 4)) {
    const bits = stream.readUInt32BE(at + 4)
    const time = [(bits >> 26) & 31, (bits >> 20) & 63, (bits >> 13) & 63, (bits >> 7) & 63].join(':')
    found.groups.push({ time, isClosed: ((bits >> 6) & 1) === 1 })
    found.sequences.push(stream.subarray(stream.lastIndexOf(SEQUENCE, at), at).toString('hex'))
  }
  return found
}
const [GROUP, SEQUENCE] = [Buffer.from([0, 0, 1, 0xb8]), Buffer.from([0, 0, 1, 0xb3])]

test('a transport stream with fields', async () => {
  const task = filesTask({ video_codec: 'mpeg2' }, [KBPS], 'ts')
  task.config.videoProfiles = task.config.videoProfiles.map((each) => ({ ...each, width: 320, height: 240 }))
  const compared = await compareDivision(fixture, task, { source: await fields(), chunks: [0, 1] })
  await expectSameFiles(fixture, compared)
  const [alone, divided] = ['alone', 'divided'].map((by) => join(fixture.directory, by, 'out/v0.ts'))
  const headers = await headersOf(divided!)
  expect(headers).toEqual(await headersOf(alone!))
  expect(headers.groups.map(({ time }) => time)).toEqual([
    '0:0:0:0',
    '0:0:1:0',
    '0:0:2:0',
    '0:0:3:0',
    '0:0:4:0',
    '0:0:5:0',
  ])
  expect(headers.groups.every(({ isClosed }) => isClosed)).toBe(true)
  expect(new Set(headers.sequences).size).toBe(1)
  const { streams } = await probeFile(divided!)
  expect(streams[0]).toMatchObject({ codec_name: 'mpeg2video', field_order: 'tt' })
  // Every frame decodes without an error.
  await ffmpeg(['-xerror', '-err_detect', 'explode', '-i', divided!, '-map', '0:v', '-f', 'null', '-'])
})
