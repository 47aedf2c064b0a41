// In charge of: the caption files on the command line of `submit`: `de=film.de.srt`, files and addresses.
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
