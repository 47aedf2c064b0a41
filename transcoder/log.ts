// In charge of: one JSON line per event on standard output.
// Not in charge of: which events are logged, redaction (errors.ts). Callers never pass tokens, and redact texts that
// may contain one.
import { isLogged, isLogLevel, type LogLevel } from '#contract/logLevels.ts'

export type LogFields = Record<string, string | number | boolean | null | undefined>

export interface Log {
  info(msg: string, fields?: LogFields): void
  warn(msg: string, fields?: LogFields): void
  error(msg: string, fields?: LogFields): void
  /** Returns a log that adds these fields (job, task, attempt) to every line. */
  with(fields: LogFields): Log
}

export function createLog(write: (line: string) => void, bound: LogFields = {}, lowest: LogLevel = 'info'): Log {
  const line = (level: LogLevel) => (msg: string, fields?: LogFields) => {
    if (isLogged(level, lowest))
      write(`${JSON.stringify({ time: new Date().toISOString(), level, msg, ...bound, ...fields })}\n`)
  }
  return {
    info: line('info'),
    warn: line('warn'),
    error: line('error'),
    with: (fields) => createLog(write, { ...bound, ...fields }, lowest),
  }
}

/** An invalid LOG_LEVEL ends the start (settings.ts); that line is written. */
const level = process.env['LOG_LEVEL'] ?? ''
export const stdoutLog: Log = createLog(
  (line) => void process.stdout.write(line),
  {},
  isLogLevel(level) ? level : 'info',
)
