// In charge of: closed captions inside the video.
import { readCaptions, carriedCaptionChannels } from '../../support/captions/decodedCaptions.ts'
import { measurement, type Row } from '../row.ts'
import { CAPTION } from '../sourceClips.ts'

const CODED = { 'h.264': 'h264', mpeg2: 'mpeg2', hevc: 'hevc' } as const

function row(value: boolean | null, video_codec: keyof typeof CODED): Row {
  const asked = value === null ? {} : { closed_captions: value }
  const codec = video_codec === 'h.264' ? {} : { video_codec }
  const kept = value !== false
  const where = video_codec === 'hevc' ? ', where the encoder can (ffmpeg 6 and later), else a warning' : ''
  return {
    path: 'closed_captions',
    value: value ?? undefined,
    expected: kept ? `channel CC1 is in the pictures${where}` : 'no caption data in any picture',
    job: { ...asked, ...codec, audioProfiles: [], output_container: 'ts', videoProfiles: [{ video_bitrate: 1000 }] },
    source: 'captions',
    quick: video_codec === 'h.264',
    measure: async (bench) => {
      const file = await bench.file()
      const { pictures, channels } = await carriedCaptionChannels(file, CODED[video_codec])
      const measured = `${pictures} pictures with captions${channels.length > 0 ? `: ${channels.join(', ')}` : ''}`
      if (!kept) return measurement(measured, pictures === 0)
      const warnings = await bench.warnings()
      if (video_codec === 'hevc' && !bench.features.hevcCaptions)
        return measurement(
          `${measured}, ${warnings.join(', ')}`,
          pictures === 0 && warnings.includes('captions_removed'),
        )
      return measurement(
        measured,
        pictures >= 55 && channels.join() === 'CC1' && !warnings.includes('captions_removed'),
      )
    },
  }
}

function text(video_codec: 'h.264' | 'mpeg2'): Row {
  return {
    ...row(true, video_codec),
    expected: `a decoder reads “${CAPTION}”, as in the source`,
    measure: async (bench) => {
      const said = (await readCaptions(await bench.file())).map((cue) => cue.text).join(' / ')
      return measurement(`“${said}”`, said === CAPTION)
    },
  }
}

export const captions: Row[] = [
  row(true, 'h.264'),
  row(true, 'mpeg2'),
  row(true, 'hevc'),
  text('h.264'),
  text('mpeg2'),
  row(false, 'h.264'),
  row(false, 'mpeg2'),
  row(false, 'hevc'),
  row(null, 'h.264'),
  {
    path: 'closed_captions',
    value: true,
    expected: 'a source without any: a warning',
    job: { closed_captions: true },
    measure: async (bench) => {
      const warnings = await bench.warnings()
      return measurement(warnings.join(', '), warnings.join() === 'captions_not_found')
    },
  },
]
