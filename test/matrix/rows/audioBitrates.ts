// In charge of: audio bitrates: every bitrate that a codec has is measured.
// Not in charge of: those that are refused (test/node/contract/job/rules/audioBitrates.test.ts).
import { allowedAudioBitrates } from '#contract/job/rules/audioBitrates.ts'
import { readPackets, probeStream } from '../../support/media/media.ts'
import { measurement, type Row } from '../row.ts'
import { CODECS, audioJob } from './audio.ts'

/** kbps of the packets of an audio stream, without the first and last, which encoders fill freely. */
async function audioKbps(file: string, position: number): Promise<number> {
  const list = (await readPackets(file, `a:${position}`)).slice(3, -3)
  const seconds = Number(list.at(-1)!.pts_time) - Number(list[0]!.pts_time)
  return (list.slice(0, -1).reduce((sum, packet) => sum + Number(packet.size), 0) * 8) / 1000 / seconds
}

export const audioBitrates: Row[] = CODECS.flatMap((audio_codec) =>
  ([2, 6] as const).flatMap((channels) => {
    const allowed = allowedAudioBitrates(audio_codec, channels) ?? []
    const profile = (kbps: number) => ({ audio_codec, audio_channels: `${channels}`, audio_bitrate: `${kbps}` })
    return allowed.map((kbps): Row => {
      // At most eight profiles per job.
      const half = allowed.filter((each) => each > 256 === kbps > 256)
      // AAC uses the bits that it needs; the other two have frames of one size.
      const tolerance = audio_codec === 'aac' ? 0.1 : 0.005
      // For stereo noise, ffmpeg's AAC needs and uses at most some 250 kbps.
      const audioTrack = channels === 2 && kbps > 256 ? 'saws' : 'noise'
      return {
        path: 'audioProfiles[].audio_bitrate',
        value: `${kbps}`,
        expected: `${audio_codec}, ${channels} channels: ${kbps} kbps, within ${tolerance * 100} %`,
        job: audioJob(half.map(profile)),
        source: audioTrack,
        measure: async (bench) => {
          const file = await bench.file()
          const position = half.indexOf(kbps)
          const { channels: heard } = await probeStream(file, 'audio', position)
          const rate = await audioKbps(file, position)
          const measured = `${Math.round(rate)} kbps, ${heard} channels`
          return measurement(measured, Math.abs(rate / kbps - 1) <= tolerance && heard === channels)
        },
      }
    })
  }),
)
