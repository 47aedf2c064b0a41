// DVB subtitles at the start of a file: none comes before the first frame, and a page that is displayed then is not
// lost.
/* oxlint-disable unicorn/no-useless-spread -- fields that belong together stay on one line */
import { createReadStream } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { beforeAll, describe, expect, test } from 'vitest'
import { multiplexStream } from '../../../../../transcoder/pipeline/multiplexOutput.ts'
import { readPesTimestamps } from '../../../../../transcoder/formats/mpegts/clock.ts'
import { payloadOf, pidOf, isPayloadStart } from '../../../../../transcoder/formats/mpegts/packet.ts'
import { Multiplexer } from '../../../../../transcoder/formats/tsMultiplexer/multiplexer.ts'
import type { MultiplexOptions } from '../../../../../transcoder/formats/tsMultiplexer/multiplexOptions.ts'
import { missingPrograms, scriptPath, SYSTEM_PYTHON } from '../../../validators/installedPrograms.ts'

import { serveDirectory } from '../../../../support/http/directoryServer.ts'
import { ffmpeg, lavfi } from '../../../../support/media/media.ts'
import { splitPackets } from '../../../../support/mpegts/cueClips.ts'
import { DESCRIPTOR, displaySet, withSubtitles, type Page } from '../../../../support/mpegts/subtitlePages.ts'
import { checkTstd } from '../../../../support/mpegts/tstdModel.ts'
import { skipSuite } from '../../../../support/requirement.ts'
import { audio, encoded, ORIGIN, video, type Stream } from '../../../../support/mpegts/encodedStream.ts'
import { runProgram } from '../../../../support/runProgram.ts'
import { useTempDirectory } from '../../../../support/useTempDirectory.ts'

const SECONDS = 6
const options: MultiplexOptions = {
  rateKbps: 5200,
  video: { codec: 'h264', maxKbps: 4000, bufferBits: 8_000_000, framesPerSecond: 25, hasHrd: false },
  audio: [{ codec: 'mp2', channels: 2, bitrateKbps: 192 }],
  profile: 'dvb',
  service: { stream: 1, id: 1, name: 'clip', provider: 'tests', type: 1 },
  ...{ mapPid: 0x1000, videoPid: 0x100, audioPid: 0x101, cues: null },
}
const SUBTITLES = 0x102
const frames = video(Array.from({ length: SECONDS * 25 }, (_, at) => ({ seconds: at / 25, bytes: 3000 })))

function multiplexed(
  pages: readonly Page[],
  sound = audio(370, [[0, SECONDS]]),
  rateKbps: number | null = 5200,
): Buffer {
  const units = pages.map((page) => ({ seconds: page.seconds, media: displaySet(page) }))
  const subtitles: Stream = { type: 0x06, streamId: 0xbd, descriptors: DESCRIPTOR, units }
  const own = { ...options, rateKbps, audio: [{ codec: 'aac', channels: 2, bitrateKbps: 128 }] as const }
  const multiplexer = new Multiplexer(own)
  return Buffer.concat([...multiplexer.push(encoded([frames, sound, subtitles])), ...multiplexer.end()])
}

/** Seconds after the first frame, and the number of regions, of each page. */
function pagesOf(bytes: Buffer): [number, number][] {
  return splitPackets(bytes).flatMap((packet) => {
    if (pidOf(packet) !== SUBTITLES || !isPayloadStart(packet)) return []
    const payload = payloadOf(packet)
    const page = payload.subarray(9 + payload[8]! + 2)
    return [[(readPesTimestamps(payload)!.pts - ORIGIN) / 90_000, (page[5]! - 2) / 6]]
  })
}

test.each<[string, Page[], [number, number][]]>([
  [
    'has the time of the first frame, and those before it are left out',
    [{ seconds: -1.5 }, { seconds: -0.5, regions: 2 }, { seconds: 1, regions: 3 }],
    [[0, 2], [1, 3]], // prettier-ignore
  ],
  [
    'is left out where it was cleared',
    [{ seconds: -1.5 }, { seconds: -0.5, state: 'change', regions: 0 }, { seconds: 1 }],
    [[1, 1]],
  ],
  ['is left out where its time is over', [{ seconds: -1.5, timeOut: 1 }, { seconds: 1 }], [[1, 1]]],
  ['is kept as it is at the first frame', [{ seconds: 0 }, { seconds: 1 }], [[0, 1], [1, 1]]], // prettier-ignore
])('a page that begins before the video %s', (_name, pages, wanted) => {
  for (const rateKbps of [5200, null]) {
    const bytes = multiplexed(pages, undefined, rateKbps)
    expect(pagesOf(bytes)).toEqual(wanted)
    expect(checkTstd(bytes, 'dvb').problems).toEqual([])
  }
})

test('subtitles come after four PES packets of audio, and in time where the audio begins later', () => {
  const begins = splitPackets(multiplexed([{ seconds: 0 }]))
    .filter(isPayloadStart)
    .map(pidOf)
  const before = begins.slice(0, begins.indexOf(SUBTITLES)).filter((pid) => pid === 0x101)
  expect(before.length).toBeGreaterThanOrEqual(4)
  expect(before.length).toBeLessThan(12)
  const late = multiplexed([{ seconds: 0 }], audio(370, [[3, SECONDS]]))
  expect(pagesOf(late)).toEqual([[0, 1]])
  expect(checkTstd(late, 'dvb').problems).toEqual([])
})

const absent = missingPrograms(SYSTEM_PYTHON, '/usr/lib/python3/dist-packages/gi', 'gst-launch-1.0')

describe.skipIf(skipSuite(absent))('GStreamer over HTTP', () => {
  const space = useTempDirectory()
  const plain = space.file('plain.ts')
  beforeAll(async () => {
    const rate = ['-b:v', '4000k', '-minrate', '4000k', '-maxrate', '4000k', '-bufsize', '8000k']
    await ffmpeg([
      ...lavfi(`testsrc2=s=720x576:r=25:d=${SECONDS}`, `sine=d=${SECONDS}:r=48000`),
      ...['-c:v', 'libx264', '-preset', 'ultrafast', '-x264-params', 'nal-hrd=cbr', '-threads', '1', ...rate],
      ...['-c:a', 'mp2', '-b:a', '192k', '-ac', '2', '-pes_payload_size', '0', '-output_ts_offset', '8.6', plain],
    ])
  })

  test.each([-1.5, -0.2, 0.1])(
    `plays to the end with a page %d s after the first frame${absent ?? ''}`,
    async (seconds) => {
      const [piped, file] = [space.file(`${seconds}-piped.ts`), space.file(`${seconds}.ts`)]
      await writeFile(piped, withSubtitles(await readFile(plain), 0x200, [{ seconds }, { seconds: 2 }]))
      await multiplexStream(createReadStream(piped), file, options, 1e9)
      await using served = await serveDirectory(space.path)
      const { code, stdout } = await runProgram(SYSTEM_PYTHON, [
        scriptPath('gstreamerPlayer.py'),
        served.url(`${seconds}.ts`),
      ])
      expect(code).toBe(0)
      const { ended, said, video } = JSON.parse(stdout) as { ended: boolean; said: string[]; video: [number, number][] }
      expect({ ended, said }).toEqual({ ended: true, said: [] })
      // On a busy machine GStreamer shows a few frames less, where it links its decoder late.
      expect(video.length).toBeGreaterThan(SECONDS * 25 * 0.9)
      expect(video.at(-1)![0] - video[0]![0]).toBeGreaterThan(SECONDS * 0.9)
    },
  )
})
