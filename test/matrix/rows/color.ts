// In charge of: the conversion of an HDR source.
import { decodeRaw, probeStream } from '../../support/media/media.ts'
import { measurement, type Row } from '../row.ts'
import { HDR_LUMA } from '../sourceClips.ts'

/** Y, Cb and Cr of the first frame's first sample, with 10 bits. */
async function sample(file: string): Promise<[number, number, number]> {
  const { width, height } = await probeStream(file, 'video')
  const raw = await decodeRaw(file, 'yuv420p10le', ['-frames:v', '1'])
  const pixels = width * height
  return [raw.readUInt16LE(0), raw.readUInt16LE(2 * pixels), raw.readUInt16LE(2.5 * pixels)]
}

function row(value: 'sdr' | 'source' | null, video_codec: string): Row {
  const keeps = value === 'source' || (value === null && video_codec === 'hevc')
  return {
    path: 'dynamic_range',
    value: value ?? undefined,
    expected: keeps
      ? `Main 10 with the tags of PQ; grey is still ${HDR_LUMA} of 1023`
      : '8 bits tagged BT.601 (PAL), as files of up to 576 lines are; grey is neutral and has another level',
    job: { ...(value === null ? {} : { dynamic_range: value }), video_codec, audioProfiles: [] },
    source: 'hdr',
    measure: async (bench) => {
      const file = await bench.file()
      const {
        profile,
        pix_fmt: format,
        color_transfer: transfer,
        color_primaries: primaries,
      } = await probeStream(file, 'video')
      const [luma, blue, red] = await sample(file)
      const neutral = Math.abs(blue - 512) <= 8 && Math.abs(red - 512) <= 8
      const kept = Math.abs(luma - HDR_LUMA) <= 4
      const measured = `${profile}, ${format}, ${transfer}, ${primaries}; grey ${neutral ? 'neutral' : 'tinted'}, its level ${kept ? 'kept' : 'mapped'}`
      const tags = `${format} ${transfer} ${primaries}`
      const wanted = keeps ? 'yuv420p10le smpte2084 bt2020' : 'yuv420p smpte170m bt470bg'
      const right = keeps ? kept && profile === 'Main 10' : !kept && luma > 200
      return measurement(measured, tags === wanted && neutral && right)
    },
  }
}

export const color: Row[] = [
  row('source', 'hevc'),
  row('sdr', 'hevc'),
  row('sdr', 'h.264'),
  row(null, 'hevc'),
  row(null, 'h.264'),
  row(null, 'mpeg2'),
]
