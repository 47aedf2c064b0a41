// In charge of: the caption files on the command line of `submit`: `de=film.de.srt`, files and addresses; and which captions
// are drawn.
// Not in charge of: uploading files (submitCommand.ts).
import { canonicalLanguage } from '#contract/captions.ts'
import { UsageError } from '../cliErrors.ts'
import { readSourceArgument, type SourceArgument } from './sourceArguments.ts'

export interface CaptionArgument {
  language: string
  file: SourceArgument
}

/** @throws UsageError */
export async function readCaptionArgument(text: string): Promise<CaptionArgument> {
  const at = text.indexOf('=')
  const language = text.slice(0, Math.max(0, at))
  if (canonicalLanguage(language) === null || at === text.length - 1)
    throw new UsageError(`--captions ${text}: write LANGUAGE=FILE or LANGUAGE=ADDRESS, like de=film.de.srt.`)
  const file = await readSourceArgument(text.slice(at + 1))
  if (Object.keys(file.cut).length > 0)
    throw new UsageError(`--captions ${text}: a caption file has no part; it moves with that of the source.`)
  return { language, file }
}

/** @throws UsageError */
export function readBurnInArgument(
  text: string,
  captions: readonly Pick<CaptionArgument, 'language'>[],
): { captions: number } | { source_track: number } {
  if (/^\d{1,2}$/.test(text)) return { source_track: Number(text) }
  const wanted = canonicalLanguage(text)
  const position = captions.findIndex(({ language }) => wanted !== null && canonicalLanguage(language) === wanted)
  if (position >= 0) return { captions: position }
  throw new UsageError(
    `--burn-in ${text}: write the language of one of the --captions, or the number of a subtitle stream of the source.`,
  )
}
