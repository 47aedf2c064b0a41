// In charge of: what is said about audio that a job selects and that cannot be used: there is none, nothing decodes it, or
// it begins too late.
// Not in charge of: finding out which it is (model/streamChoice.ts).
import { TaskError } from '#contract/taskError.ts'
import { unnamedAudio } from '../../formats/mpegts/elementaryKind.ts'
import type { MediaInfo } from '../model/mediaInfo.ts'

export function describeAudioCount(streams: number): string {
  return streams === 0 ? 'no audio streams' : streams === 1 ? '1 audio stream' : `${streams} audio streams`
}

/** Why the source has no audio for this source_stream, as part of a sentence. */
export function whyMissing(media: MediaInfo, wanted: number): string {
  const unreadable = media.other.find(({ audioNumber }) => audioNumber === wanted)
  if (unreadable !== undefined)
    return `source_stream ${wanted} ${describeUnreadable(media, unreadable.codec, unreadable.index)}; ${describeUsable(media)}`
  const later = media.formats.includes('mpegts')
    ? '; audio that its program map declares after the first 5 s is found with ts_mode_input_audio_source_stream_count'
    : ''
  return `source_stream ${wanted} does not exist: the source has ${describeAudioCount(media.audio.length)}${later}`
}

/** audio_stream_missing or audio_stream_undecodable. */
export function missingAudio(media: MediaInfo, wanted: number, field: string, advice: string): TaskError {
  const unreadable = media.other.find(({ audioNumber }) => audioNumber === wanted)
  const details = { source_stream: wanted, audio_streams: media.audio.length }
  const usable = media.audio.map(({ number }) => number)
  return unreadable === undefined
    ? new TaskError('audio_stream_missing', `${whyMissing(media, wanted)}; ${advice}`, { field, details })
    : new TaskError('audio_stream_undecodable', `${whyMissing(media, wanted)}; ${advice}`, {
        field,
        details: { ...details, codec: unreadable.codec, usable },
      })
}

function describeUnreadable(media: MediaInfo, codec: string, index: number): string {
  const isListed = media.isProbedDeep === true && !unnamedAudio.has(codec)
  return isListed
    ? `(${codec}, stream ${index} of the source) has no frame that can be decoded within 20 s or 50 MB`
    : `is ${codec === 'unknown' || codec.startsWith('[') ? 'of an unknown codec' : codec} (stream ${index} of the source), which cannot be decoded`
}

function describeUsable({ audio }: MediaInfo): string {
  if (audio.length === 0) return 'the source has no other audio'
  const list = audio.map(
    ({ number, codec, language }) =>
      `${number} (${language === null || language === 'und' ? codec : `${codec}, ${language}`})`,
  )
  return `usable: source_stream ${list.join(', ')}`
}
