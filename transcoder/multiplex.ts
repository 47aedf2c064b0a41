// In charge of: an encoder's transport stream on its way through our multiplexer to its file.
// Not in charge of: packets and their order (mux/).
import { open } from 'node:fs/promises'
import { TaskError } from './failure.ts'
import type { Cue } from './mpegts/scan.ts'
import { Multiplexer, type MultiplexOptions } from './mux/multiplexer.ts'
import type { OutputPlan, Plan } from './plan/plan.ts'

/** What the plan says of an output's multiplex. */
export function multiplexOptions(plan: Plan, output: OutputPlan, cues: readonly Cue[]): MultiplexOptions {
  const { video, audio, muxRateKbps } = output
  return {
    rateKbps: muxRateKbps,
    video: {
      codec: video.codec,
      maxKbps: video.maxKbps,
      bufferBits: video.bufferBits,
      hasHrd: video.codec !== 'mpeg2' && video.mode === 'cbr',
    },
    audio,
    profile: null,
    service: { stream: 1, id: 1, name: output.path, provider: 'Splicepoint' },
    mapPid: 0x1000,
    videoPid: 0x100,
    audioPid: 0x101,
    cues: plan.cues === null ? null : { ...plan.cues, list: cues },
  }
}

/** Writes the multiplex to a new file. The next bytes are taken once the last ones are written. Returns access units that came too late. */
export async function convey(
  stream: AsyncIterable<Uint8Array>,
  file: string,
  options: MultiplexOptions,
  largestBytes: number,
): Promise<number> {
  const multiplexer = new Multiplexer(options)
  const out = await open(file, 'wx')
  let written = 0
  const write = async (parts: readonly Uint8Array[]): Promise<void> => {
    written += parts.reduce((sum, part) => sum + part.length, 0)
    // prlimit holds for files that ffmpeg writes, not for this one.
    if (written > largestBytes) throw new TaskError('output_too_large', 'An output exceeded its maximum size.')
    for (const part of parts) await out.appendFile(part)
  }
  try {
    for await (const chunk of stream) await write(multiplexer.push(chunk))
    await write(multiplexer.end())
    return multiplexer.late
  } catch (error) {
    if (!(error instanceof Error) || !('code' in error) || error.code !== 'ENOSPC') throw error
    throw new TaskError('disk_full', 'The transcoder ran out of disk space.', { cause: error })
  } finally {
    await out.close()
  }
}
