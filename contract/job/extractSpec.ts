// In charge of: stills, animated_preview and waveform of a stored job as the transcoder gets them.
// Not in charge of: the rest of the job (toJobSpec.ts), validation (rules/extracts.ts).
import { parseCutTime } from './cutTime.ts'
import type { JobConfig } from './jobConfig.ts'
import type { JobSpec, StillsSpec } from './jobSpec.ts'
import type { StillsFields } from './fields/request.ts'

export function extractsOf(config: JobConfig): Pick<JobSpec, 'stills' | 'animatedPreview' | 'waveform'> {
  const { stills = [], animated_preview: preview, waveform } = config
  return {
    stills: stills.map((element, index): StillsSpec => ({
      index,
      times: timesOf(element),
      isSingle: element.at_seconds !== undefined && !Array.isArray(element.at_seconds),
      width: element.width ?? 0,
      height: element.height ?? 0,
      format: element.format,
      quality: element.quality,
      output: element.output ?? '',
    })),
    animatedPreview:
      preview === undefined
        ? null
        : {
            format: preview.format,
            seconds: preview.seconds,
            parts: preview.parts,
            start: parseCutTime(preview.start_seconds ?? 0),
            width: preview.width,
            framesPerSecond: preview.frames_per_second,
          },
    waveform:
      waveform === undefined
        ? null
        : {
            format: waveform.format,
            sourceStream: waveform.source_stream,
            samplesPerPixel: waveform.samples_per_pixel ?? null,
            pixelsPerSecond: waveform.pixels_per_second ?? null,
            bits: waveform.bits === '8' ? 8 : 16,
            splitChannels: waveform.split_channels,
            width: waveform.width,
            height: waveform.height,
            backgroundColor: waveform.background_color,
            waveformColor: waveform.waveform_color,
          },
  }
}

function timesOf({ at_seconds: at, every_seconds: every, count }: StillsFields): StillsSpec['times'] {
  if (every !== undefined) return { kind: 'every', seconds: every }
  if (count !== undefined) return { kind: 'count', count }
  return { kind: 'at', at: [at ?? 0].flat().map(parseCutTime) }
}
