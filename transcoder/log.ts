// In charge of: one JSON line per event on standard output.
// Not in charge of: which events are logged, redaction (errors.ts). Callers never pass tokens, and redact texts that
// may contain one.

export type LogFields = Record<string, string | number | boolean | null | undefined>

export interface Log {
  info(msg: string, fields?: LogFields): void
  warn(msg: string, fields?: LogFields): void
  error(msg: string, fields?: LogFields): void
  /** Returns a log that adds these fields (job, task, attempt) to every line. */
  with(fields: LogFields): Log
}

export function createLog(write: (line: string) => void, bound: LogFields = {}): Log {
  const line = (level: string) => (msg: string, fields?: LogFields) =>
    write(`${JSON.stringify({ time: new Date().toISOString(), level, msg, ...bound, ...fields })}\n`)
  return {
    info: line('info'),
    warn: line('warn'),
    error: line('error'),
    with: (fields) => createLog(write, { ...bound, ...fields }),
  }
}

export const stdoutLog: Log = createLog((line) => void process.stdout.write(line))
