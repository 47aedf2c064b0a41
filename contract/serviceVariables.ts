// In charge of: the variables of the Worker: their names and the values that are valid.
// Not in charge of: what a setting does (worker/env.ts), secrets (worker/secrets/, worker/diagnosis/).
import { LOG_LEVELS } from './logLevels.ts'
import { parsePriceList } from './usage/priceList.ts'

interface Variable {
  /** Completes "<name> must be …". */
  expects: string
  isValid: (text: string) => boolean
  /** Says what is wrong with a value that is not valid, where `expects` alone would not help. Follows the name. */
  problem?: (text: string) => string
}

const wholeFrom = (least: number): Variable => ({
  expects: `a whole number of at least ${least}`,
  isValid: (text) => Number.isSafeInteger(Number(text)) && Number(text) >= least,
})

/** A century: times beyond it are no times of calendars. */
const days: Variable = {
  expects: 'a whole number of days from 1 to 36500',
  isValid: (text) => /^\d{1,5}$/.test(text) && Number(text) >= 1 && Number(text) <= 36_500,
}

const oneOf = (...values: readonly string[]): Variable => ({
  expects: values.join(', ').replace(/, ([^,]*)$/, ' or $1'),
  isValid: (text) => values.includes(text),
})

const anyText: Variable = { expects: 'a text', isValid: () => true }

const ORIGIN = /^https?:\/\/(\[[\da-f:.]+\]|[^\s/?#@:[\]]+)(:\d{1,5})?\/?$/i

const origin: Variable = {
  expects: 'an http or https address without a path, like https://transcode.example.com',
  isValid: (text) => ORIGIN.test(text),
}

/** Every part of a list that is separated by commas. */
const listOf = ({ expects, isValid }: Variable): Variable => ({
  expects,
  isValid: (text) =>
    text
      .split(',')
      .map((part) => part.trim())
      .every((part) => part === '' || isValid(part)),
})

const priceList: Variable = {
  expects: 'a price list as JSON',
  isValid: (text) => !('problem' in parsePriceList(text)),
  problem: (text) => {
    const parsed = parsePriceList(text)
    return 'problem' in parsed ? parsed.problem : ''
  },
}

/** An empty variable has its default (docs/operating.md, "Settings"). */
export const SERVICE_VARIABLES: Readonly<Record<string, Variable>> = {
  EGRESS: oneOf('platform', 'pinned', 'listed'),
  ALLOW_PRIVATE_HOSTS: listOf({
    expects: 'pairs of host and port, like 10.0.0.5:9000, separated by commas',
    isValid: (text) => /^[^\s/@:]+:\d{1,5}$/.test(text) || /^\[[\da-f:.]+\]:\d{1,5}$/i.test(text),
  }),
  TRANSCODER_URLS: listOf({ ...origin, expects: 'http addresses without a path, separated by commas' }),
  TRANSCODER_REGISTRATION: oneOf('1'),
  MAX_SLOTS: wholeFrom(1),
  DRY_RUN_SLOTS: wholeFrom(0),
  LEASE_SECONDS: {
    expects: 'a number above 0',
    isValid: (text) => Number(text) > 0 && Number.isFinite(Number(text)),
  },
  DIVIDE_ABOVE_SECONDS: {
    expects: 'a whole number of at least 1, or off',
    isValid: (text) => text === 'off' || (Number.isSafeInteger(Number(text)) && Number(text) >= 1),
  },
  MAX_ACTIVE_JOBS: wholeFrom(0),
  MAX_STORED_UPLOAD_BYTES: wholeFrom(0),
  MAX_SOURCE_SECONDS: wholeFrom(1),
  REQUESTS_PER_MINUTE: wholeFrom(1),
  KEEP_UPLOADS_DAYS: days,
  KEEP_OUTPUTS_DAYS: days,
  KEEP_JOBS_DAYS: days,
  BASE_URL: origin,
  TRUST_PROXY: oneOf('1'),
  TASK_API_URL: origin,
  LOG_LEVEL: oneOf(...LOG_LEVELS),
  COMMIT: { expects: 'the digits of a commit', isValid: (text) => /^[0-9a-f]{7,40}$/.test(text) },
  USAGE_PRICES: priceList,
  API_KEY: anyText,
}

/** A variable in wrangler.toml may be a number. */
export function variableText(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'bigint' ? String(value).trim() : ''
}

/** False also where the variable is empty. */
export function isValidVariable(name: string, value: unknown): boolean {
  const text = variableText(value)
  return text !== '' && SERVICE_VARIABLES[name]?.isValid(text) === true
}

/** One message for each invalid value, by name. Variables that are not listed are not judged. */
export function variableProblems(values: Readonly<Record<string, unknown>>): string[] {
  return Object.entries(SERVICE_VARIABLES)
    .filter(([name]) => variableText(values[name]) !== '' && !isValidVariable(name, values[name]))
    .map(([name, { expects, problem }]) => {
      if (problem === undefined) return `${name} must be ${expects}, or empty for its default (docs/operating.md)`
      const found = problem(variableText(values[name]))
      return `${name}${found.startsWith(':') ? '' : ' '}${found} (docs/usage.md)`
    })
}
