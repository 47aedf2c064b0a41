// In charge of: parsing a command line into a command with its options, which may be in any order, or a usage error.
import { parseArgs, type ParseArgsOptionsConfig } from 'node:util'
import {
  commandTable,
  commonOptions,
  isCommand,
  type CommandSpec,
  type CommandName,
  type CommandOption,
} from './commandTable.ts'
import { similarName } from '#contract/similarNames.ts'
import { UsageError } from './cliErrors.ts'
import { readProfile } from './profiles.ts'

export type OptionValues = Record<string, string | boolean | string[] | undefined>

export interface ParsedCommand {
  name: CommandName
  values: OptionValues
  positionals: string[]
}

function configOf(options: Readonly<Record<string, CommandOption>>): ParseArgsOptionsConfig {
  return Object.fromEntries(
    Object.entries(options).map(([flag, { type, short, multiple }]) => [
      flag,
      { type, multiple: multiple === true, ...(short === undefined ? {} : { short }) },
    ]),
  )
}

/**
 * Options of all commands: to find the command, it must be known which words are values of options. A test checks that
 * no two commands define an option differently.
 */
const anyOption = configOf(
  Object.assign({}, ...Object.values(commandTable).map(({ options }) => options), commonOptions),
)

/**
 * The first word that is neither an option nor the value of one, and its position.
 * @returns null if there is none
 */
function commandIn(argv: readonly string[]): { name: string; index: number } | null {
  const { tokens } = parseArgs({
    args: [...argv],
    options: anyOption,
    strict: false,
    allowPositionals: true,
    tokens: true,
  })
  const first = tokens.find(({ kind }) => kind === 'positional')
  return first?.kind === 'positional' ? { name: first.value, index: first.index } : null
}

/** @throws UsageError */
export function parse(argv: readonly string[]): ParsedCommand {
  const found = commandIn(argv)
  if (found === null || !isCommand(found.name)) {
    const names = Object.keys(commandTable)
    const near = found === null ? undefined : similarName(found.name, names)
    const what = found === null ? 'Name a command' : `"${found.name}" is not a command`
    throw new UsageError(near === undefined ? `${what}: ${names.join(', ')}.` : `${what}; did you mean ${near}?`)
  }
  const { name } = found
  const rest = argv.toSpliced(found.index, 1)
  const { options, positionalCount, usage }: CommandSpec = commandTable[name]
  try {
    const { values, positionals } = parseArgs({
      args: rest,
      options: configOf({ ...options, ...commonOptions }),
      allowPositionals: true,
    })
    if (
      values['help'] !== true &&
      (positionals.length < positionalCount[0] || positionals.length > positionalCount[1])
    ) {
      throw new UsageError(usage === '' ? `${name} takes no arguments.` : `Write: splicepoint ${name} ${usage}`)
    }
    if (values['help'] !== true) refuseUnused(name, values as OptionValues)
    return { name, values: values as OptionValues, positionals }
  } catch (error) {
    if (error instanceof UsageError) throw error
    const message = (error as Error).message.split('. ')[0]!
    const unknown = /^Unknown option '--([^']+)'$/.exec(message)?.[1]
    const near = unknown === undefined ? undefined : similarName(unknown, Object.keys({ ...options, ...commonOptions }))
    throw new UsageError(
      `${message}${near === undefined ? '.' : `; did you mean --${near}?`} (splicepoint ${name} --help)`,
    )
  }
}

/** @throws UsageError for an option that has no effect together with the others */
function refuseUnused(
  name: CommandName,
  { 'dry-run': isDry, share, download, title, expires, password, list, revoke }: OptionValues,
): void {
  if (isDry === true && (share === true || download !== undefined))
    throw new UsageError('--dry-run makes no outputs. Leave out --share and --download.')
  if (name === 'submit' && title !== undefined && share !== true)
    throw new UsageError('--title is for the shared page: add --share.')
  const others = [list === true, revoke !== undefined, [title, expires, password].some((given) => given !== undefined)]
  if (name === 'share' && others.filter(Boolean).length > 1)
    throw new UsageError('--list, --revoke, and --title, --expires or --password (a new page) cannot be combined.')
}

/** A request for help or the version: "--version", "--help" without a command, "help submit". */
export function helpRequest(argv: readonly string[]): { kind: 'version' | 'help'; command: CommandName | null } | null {
  const found = commandIn(argv)
  const flags = argv.filter((word) => word.startsWith('-'))
  if (found?.name === 'version' || (found === null && flags.some((flag) => flag === '--version' || flag === '-V')))
    return { kind: 'version', command: null }
  if (found?.name === 'help') {
    const [of = ''] = argv.slice(found.index + 1)
    return { kind: 'help', command: isCommand(of) ? of : null }
  }
  return found === null && flags.some((flag) => flag === '--help' || flag === '-h')
    ? { kind: 'help', command: null }
    : null
}

/** @throws UsageError if the text is not a job id */
export function jobId(text = ''): number {
  if (!/^[1-9]\d{0,14}$/.test(text))
    throw new UsageError(`"${text}" is not a job id. A job id is the number that submit and list show.`)
  return Number(text)
}

/** A position in `status.chunks.map`. @throws UsageError */
export function partPosition(value: string | undefined): number | undefined {
  if (value === undefined) return undefined
  if (!/^\d{1,3}$/.test(value)) throw new UsageError(`--part "${value}" is not a number from 0 to 999.`)
  return Number(value)
}

/** What only a key with the scope admin may do; so does `usage --accounts`. */
const ADMIN_COMMANDS: ReadonlySet<CommandName> = new Set(['keys', 'spend-cap', 'vault'])

/** @throws UsageError */
export function connection(
  { name, values }: Pick<ParsedCommand, 'name' | 'values'>,
  env: NodeJS.ProcessEnv,
): { address: string; key: string } {
  const isAdmin = ADMIN_COMMANDS.has(name) || values['accounts'] === true
  // A profile that is named comes before the environment.
  const isNamed = values['profile'] !== undefined
  const known = isNamed ? {} : env
  const preset = (isAdmin ? known['SPLICEPOINT_ADMIN_KEY'] : undefined) || known['SPLICEPOINT_KEY']
  const given = {
    url: String(values['url'] ?? known['SPLICEPOINT_URL'] ?? ''),
    key: String(values['key'] ?? preset ?? ''),
  }
  const kept = given.url === '' || given.key === '' ? readProfile(values, env) : null
  const address = given.url || kept?.url || ''
  // The key that was kept for one service is sent to no other.
  const key = given.key || (kept?.url === address ? kept.key : '')
  if (address === '')
    throw new UsageError(
      'The address of the service is missing. On this machine, paste the line that npm start prints (export BASE=…); else use splicepoint login, set SPLICEPOINT_URL or use --url.',
    )
  if (key === '')
    throw new UsageError(
      `The API key is missing. Set ${isAdmin ? 'SPLICEPOINT_ADMIN_KEY' : 'SPLICEPOINT_KEY'} or use --key, or splicepoint login.`,
    )
  return { address: serviceAddress(address), key }
}

/** @throws UsageError */
export function serviceAddress(address: string): string {
  // URL.parse does not exist in Node 20.
  const url = URL.canParse(address) ? new URL(address) : null
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.password || url.search || url.hash) {
    throw new UsageError(
      'The address of the service must have the form https://transcode.example.com, without the key.',
    )
  }
  return address
}
