// In charge of: passing an encoder's transport stream through our multiplexer into its file, and warning about access
// units that came too late.
// Not in charge of: packets and their order (formats/tsMultiplexer/).
/* oxlint-disable unicorn/no-useless-spread -- fields that belong together stay on one line */
import { open } from 'node:fs/promises'
import type { Warning } from '#contract/errors.ts'
import { TaskError } from '#contract/taskError.ts'
import { isTsAudio, videoStreams } from '../formats/codecs.ts'
import type { Cue } from '../formats/scte35/cueScan.ts'
import { Multiplexer } from '../formats/tsMultiplexer/multiplexer.ts'
import type { MultiplexOptions } from '../formats/tsMultiplexer/multiplexOptions.ts'
import { toNumber } from '../formats/rational.ts'
import type { OutputPlan, Plan } from '#contract/task/plan/plan.ts'
import type { VideoPlan } from '#contract/task/plan/videoPlan.ts'

/** EN 300 468, table 89: 720p and larger is high definition. */
function serviceType({ codec, height }: Pick<VideoPlan, 'codec' | 'height'>): number {
  return videoStreams[codec].serviceTypes[height >= 720 ? 'hd' : 'sd']
}

/** The late access units of one output. */
export interface Late {
  path: string
  count: number
}

/** Returns no warning if every access unit was in time. */
export function lateWarnings(found: readonly Late[]): Warning[] {
  if (found.length === 0) return []
  const counts = found.map(({ path, count }) => `${count} of ${path}`).join(', ')
  const message = `The encoder exceeded its rate: access units reach a decoder after their decoding time (${counts}). A higher video_bitrate avoids it.`
  return [{ code: 'access_units_late', message }]
}

/** The multiplexer's options for an output of the plan. */
export function multiplexOptions(plan: Plan, output: OutputPlan, cues: readonly Cue[]): MultiplexOptions {
  const { video, audio, muxRateKbps } = output
  const service = plan.service!
  if (!audio.every(isTsAudio)) throw new TypeError('the plan has a codec that transport streams cannot carry')
  return {
    rateKbps: muxRateKbps,
    video: {
      codec: video.codec,
      maxKbps: video.maxKbps,
      bufferBits: video.bufferBits,
      framesPerSecond: toNumber(video.frameRate),
      hasHrd: videoStreams[video.codec].hasHrd && video.mode === 'cbr',
    },
    audio,
    profile: service.profile,
    service: {
      ...{ stream: service.transportStreamId, id: service.id, name: service.name, provider: service.provider },
      type: serviceType(video),
    },
    mapPid: service.mapPid,
    videoPid: service.videoPid,
    audioPid: service.audioPid,
    cues: plan.cues === null ? null : { ...plan.cues, list: cues },
  }
}

/**
 * Writes the multiplex to a new file. The next bytes are read once the last ones are written. Returns the access units
 * that came too late.
 */
export async function multiplexStream(
  stream: AsyncIterable<Uint8Array>,
  file: string,
  options: MultiplexOptions,
  largestBytes: number,
): Promise<number> {
  const multiplexer = new Multiplexer(options)
  const out = await open(file, 'wx')
  let written = 0
  const write = async (parts: Iterable<Uint8Array>): Promise<void> => {
    for (const part of parts) {
      written += part.length
      // prlimit limits the files that ffmpeg writes, but this process writes this one.
      if (written > largestBytes) throw new TaskError('output_too_large', 'An output exceeded its maximum size.')
      await out.appendFile(part)
    }
  }
  try {
    for await (const block of stream) await write(multiplexer.push(block))
    await write(multiplexer.end())
    return multiplexer.lateUnits
  } catch (error) {
    if (!(error instanceof Error) || !('code' in error) || error.code !== 'ENOSPC') throw error
    throw new TaskError('disk_full', 'The transcoder ran out of disk space.', { cause: error })
  } finally {
    await out.close()
  }
}
