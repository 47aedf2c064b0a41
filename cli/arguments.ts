// In charge of: words of a command line → a command with its options, or what is wrong with them.
import { parseArgs, type ParseArgsOptionsConfig } from 'node:util'
import { commands, common, isCommand, type Command, type CommandName } from './commands.ts'
import { UsageError } from './failure.ts'

export type Values = Record<string, string | boolean | string[] | undefined>

export interface Parsed {
  name: CommandName
  values: Values
  words: string[]
}

/** @throws UsageError */
export function parse(argv: readonly string[]): Parsed {
  const [name = '', ...rest] = argv
  if (!isCommand(name)) {
    throw new UsageError(
      `${name === '' ? 'Name a command' : `"${name}" is no command`}; there are ${Object.keys(commands).join(', ')}.`,
    )
  }
  const { options, count, takes }: Command = commands[name]
  const config: ParseArgsOptionsConfig = Object.fromEntries(
    Object.entries({ ...options, ...common }).map(([flag, { type, short, multiple }]) => [
      flag,
      { type, multiple: multiple === true, ...(short === undefined ? {} : { short }) },
    ]),
  )
  try {
    const { values, positionals } = parseArgs({ args: rest, options: config, allowPositionals: true })
    if (values['help'] !== true && (positionals.length < count[0] || positionals.length > count[1])) {
      throw new UsageError(takes === '' ? `${name} takes no arguments.` : `Write: splicepoint ${name} ${takes}`)
    }
    return { name, values: values as Values, words: positionals }
  } catch (error) {
    if (error instanceof UsageError) throw error
    throw new UsageError(`${(error as Error).message.split('. ')[0]}. (splicepoint ${name} --help)`)
  }
}

/** @throws UsageError for what cannot be a job's id */
export function jobId(text = ''): number {
  if (!/^[1-9]\d{0,14}$/.test(text))
    throw new UsageError(`"${text}" is no job id: it is a number, as submit and list show it.`)
  return Number(text)
}

/** @throws UsageError */
export function connection(values: Values, env: NodeJS.ProcessEnv): { address: string; key: string } {
  const address = String(values['url'] ?? env['SPLICEPOINT_URL'] ?? '')
  const key = String(values['key'] ?? env['SPLICEPOINT_KEY'] ?? '')
  if (address === '') throw new UsageError('Which service? Give --url or set SPLICEPOINT_URL.')
  if (key === '') throw new UsageError('With which key? Set SPLICEPOINT_KEY or give --key.')
  return { address: serviceAddress(address), key }
}

/** @throws UsageError */
export function serviceAddress(address: string): string {
  // URL.parse is newer than Node 20.
  const url = URL.canParse(address) ? new URL(address) : null
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.password || url.search || url.hash) {
    throw new UsageError(
      'The address of the service must be like https://transcode.example.com, and the key apart from it.',
    )
  }
  return address
}
