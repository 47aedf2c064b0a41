// In charge of: `log`: the transcoder's log of a job, as text.
import type { JobLog } from '#contract/api/answers.ts'
import { stripControlCharacters } from '../cliErrors.ts'
import { formatDuration } from './formatUnits.ts'

/** Each command is on one line, so that it can be copied. */
export function logText({ attempts }: JobLog): string {
  if (attempts.length === 0) return 'The log is empty so far.'
  return attempts
    .map(({ attempt, engine, commands, lines }) =>
      stripControlCharacters(
        [
          `Attempt ${attempt}${engine === null ? '' : `: ${engine}`}`,
          ...commands.flatMap(({ purpose, command, seconds, exit_code }) => [
            `\n# ${purpose}: ${formatDuration(seconds)}, ${exit_code === null ? 'no exit code' : `exit code ${exit_code}`}`,
            command,
          ]),
          ...(lines.length === 0 ? [] : ['']),
          ...lines.map(({ time, level, message }) => `${time}  ${level.padEnd(5)}  ${message}`),
        ].join('\n'),
      ),
    )
    .join('\n\n')
}
