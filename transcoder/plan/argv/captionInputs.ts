// In charge of: the captions of a job as inputs of ffmpeg, and as tx3g tracks of mp4 files.
// Not in charge of: writing the inputs (pipeline/captionTracks.ts), WebVTT of segmented output (segmenter/webvttTracks.ts).
/* oxlint-disable unicorn/no-useless-spread -- a flag and its value stay on one line, under their reason */
import { isMp4 } from '../forms.ts'
import { trackLanguage } from '../../formats/mp4/trackLanguage.ts'
import type { SidecarPlan } from '#contract/task/plan/captionsPlan.ts'
import type { Plan } from '#contract/task/plan/plan.ts'

/** The tracks of mp4 files. mp4 has no empty tracks, so a file without captions gets none. */
export function tx3gTracks({ packaging, outputs, sidecars }: Plan): SidecarPlan[] {
  if (packaging !== null || !outputs.some(({ container }) => isMp4(container))) return []
  return sidecars.filter(({ cues }) => cues > 0)
}

/** `files`: targets of the tx3g files that this program wrote, in the order of `tx3gTracks`. */
export function captionInputs(files: readonly string[]): string[] {
  return files.flatMap((file) => [
    ...['-protocol_whitelist', 'file', '-format_whitelist', 'mov', '-codec_whitelist', 'mov_text', '-f', 'mov'],
    ...['-i', file],
  ])
}

/** `first`: the number of the first input with captions. */
export function tx3gMaps(tracks: readonly SidecarPlan[], first: number): string[] {
  return tracks.flatMap((_track, position) => ['-map', `${first + position}:s:0`])
}

export function tx3gArgs(tracks: readonly SidecarPlan[]): string[] {
  if (tracks.length === 0) return []
  return [
    ...['-c:s', 'copy'],
    ...tracks.flatMap(({ language, label, isDefault, forced, hearingImpaired }, position) => {
      const dispositions = [
        ...(isDefault ? ['default'] : []),
        ...(forced ? ['forced'] : []),
        ...(hearingImpaired ? ['hearing_impaired'] : []),
      ]
      return [
        ...[`-metadata:s:s:${position}`, `language=${trackLanguage(language)}`],
        // The name that players show. ffmpeg writes no title where the same plan must give the same bytes.
        ...(label === '' ? [] : [`-metadata:s:s:${position}`, `handler_name=${label}`]),
        ...[`-disposition:s:${position}`, dispositions.length === 0 ? '0' : dispositions.join('+')],
      ]
    }),
  ]
}
