// In charge of: starting points for common wishes. Pure. A test sees that the service accepts each of them.
import type { Members, Wish } from './body.ts'

export interface Preset {
  id: string
  title: string
  description: string
  body: Wish
}

const rung = (height: number, kbps: number, change: Members = {}): Members => ({
  output: `video_${height}p`,
  width: 0,
  height,
  video_bitrate_mode: 'vbr',
  video_bitrate: kbps,
  ...change,
})

const file = (height: number, kbps: number, name = `video-${height}.mp4`): Members =>
  rung(height, kbps, { output: name })

const stereo = (codec: string, kbps: number): Members => ({
  audio_codec: codec,
  audio_channels: '2',
  audio_bitrate: String(kbps),
  source_stream: '1',
})

const LADDER = [rung(1080, 4800), rung(720, 2600), rung(480, 1200), rung(360, 700)]

export const presets: readonly Preset[] = [
  {
    id: 'mp4',
    title: 'One MP4',
    description: 'H.264 at 720 lines with stereo sound: plays everywhere.',
    body: { output_container: 'mp4', videoProfiles: [file(720, 2600)], audioProfiles: [stereo('aac', 128)] },
  },
  {
    id: 'web',
    title: 'Web ladder',
    description: 'HLS and DASH in four sizes from one set of segments.',
    body: {
      output_container: 'hls',
      segmented_output_hls: true,
      segmented_output_dash: true,
      master_variant_mode: true,
      gop_length: 2,
      videoProfiles: LADDER,
      audioProfiles: [stereo('aac', 128)],
    },
  },
  {
    id: 'hls',
    title: 'HLS for older devices',
    description: 'Transport-stream segments in four sizes, with the sound inside.',
    body: {
      output_container: 'hls',
      segmented_output_hls: true,
      gop_length: 2,
      videoProfiles: LADDER,
      audioProfiles: [stereo('aac', 128)],
    },
  },
  {
    id: 'files',
    title: 'Three MP4s',
    description: 'Files of 1080, 720 and 360 lines for downloading.',
    body: {
      output_container: 'mp4',
      videoProfiles: [file(1080, 4800), file(720, 2600), file(360, 700)],
      audioProfiles: [stereo('aac', 128)],
    },
  },
  {
    id: 'hevc',
    title: 'HEVC',
    description: 'One MP4 at the source’s size; HDR stays HDR.',
    body: {
      output_container: 'mp4',
      video_codec: 'hevc',
      gop_length: 2,
      videoProfiles: [
        { output: 'video-hevc.mp4', width: 0, height: 0, video_bitrate_mode: 'vbr', video_bitrate: 6000 },
      ],
      audioProfiles: [stereo('aac', 192)],
    },
  },
  {
    id: 'broadcast',
    title: 'Broadcast TS',
    description: 'MPEG-2 at a constant rate with Dolby Digital; captions and cues are kept.',
    body: {
      output_container: 'ts',
      video_codec: 'mpeg2',
      gop_length: 0.5,
      scte35_passthough: true,
      closed_captions: true,
      videoProfiles: [
        { output: 'broadcast.ts', width: 1920, height: 1080, video_bitrate_mode: 'cbr', video_bitrate: 15_000 },
      ],
      audioProfiles: [stereo('ac3', 192)],
    },
  },
  {
    id: 'sound',
    title: 'Sound files',
    description: 'The sound as a file of its own, brought to −16 LUFS, and a small picture to find things by.',
    body: {
      output_container: 'mp4',
      audio_output_path: 'sound',
      loudness_lufs: -16,
      videoProfiles: [file(234, 200, 'preview-234.mp4')],
      audioProfiles: [stereo('aac', 192)],
    },
  },
]
