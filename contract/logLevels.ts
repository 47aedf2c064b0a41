// In charge of: the levels of logs, of Worker and transcoder.

/** From the least severe. A log writes the lines of its level and of the more severe ones. */
export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]

export const isLogLevel = (text: string): text is LogLevel => (LOG_LEVELS as readonly string[]).includes(text)

export const isLogged = (line: LogLevel, level: LogLevel): boolean =>
  LOG_LEVELS.indexOf(line) >= LOG_LEVELS.indexOf(level)
