// In charge of: the Worker's log: one JSON line for each event, with its time, its level, and the request and the job
// that it belongs to.
// Not in charge of: what is logged. Callers never pass tokens, addresses from jobs or bodies.
import { AsyncLocalStorage } from 'node:async_hooks'
import { isLogged, type LogLevel } from '#contract/logLevels.ts'

type LogFields = Record<string, unknown>

/** What every line of a request carries; `noteInLog` adds members while the request runs. */
interface RequestFields {
  request_id: string
  account?: string
  /** Backend id of the job. Tasks are named after it, so the lines of transcoders contain it too. */
  job?: string
}

const context = new AsyncLocalStorage<RequestFields>()
let lowestLevel: LogLevel = 'info'

/** The lowest level that this deployment logs. Called when the settings are read. */
export function setLogLevel(level: LogLevel): void {
  lowestLevel = level
}

/** Runs the work of one request. */
export function withRequestLog<T>(requestId: string, work: () => Promise<T>): Promise<T> {
  return context.run({ request_id: requestId }, work)
}

/** For this line and all later ones of the request; no effect outside of a request. */
export function noteInLog(fields: Partial<RequestFields>): void {
  const current = context.getStore()
  if (current) Object.assign(current, fields)
}

function write(level: LogLevel, msg: string, fields: LogFields = {}): void {
  if (!isLogged(level, lowestLevel)) return
  const line = JSON.stringify({ time: new Date().toISOString(), level, msg, ...context.getStore(), ...fields })
  if (level === 'error' || level === 'warn') console.error(line)
  else console.log(line)
}

export const log = {
  debug: (msg: string, fields?: LogFields) => write('debug', msg, fields),
  info: (msg: string, fields?: LogFields) => write('info', msg, fields),
  warn: (msg: string, fields?: LogFields) => write('warn', msg, fields),
  error: (msg: string, fields?: LogFields) => write('error', msg, fields),
}
