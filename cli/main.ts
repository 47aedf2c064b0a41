// In charge of: dispatching a command and its exit code. Answers go to standard output; progress, notes and errors go
// to standard error.
// Not in charge of: the commands themselves (commands/).
import { writeFileSync, readFileSync } from 'node:fs'
import type { Created, JobRead, PublicEvent, Share } from '#contract/api/answers.ts'
import { Client } from '../client/nodeClient.ts'
import type { CommandResult } from './commandResult.ts'
import { archiveCommand } from './commands/archiveCommand.ts'
import {
  helpRequest,
  connection,
  jobId,
  parse,
  partPosition,
  type ParsedCommand,
  type OptionValues,
} from './arguments.ts'
import { completion, SHELLS } from './completion.ts'
import { describeJob, eventText, jobTable } from './text/describeJob.ts'
import { doctorCommand } from './doctor/doctorCommand.ts'
import { errorDocument, EXIT_CODES, exitCodeOf, errorMessage, stripControlCharacters, UsageError } from './cliErrors.ts'
import { help, helpOf } from './help.ts'
import { exitCodeOfJob, downloadOutputs, watchJob } from './commands/watchJob.ts'
import { eventsCommand } from './commands/eventsCommand.ts'
import { loginCommand, logoutCommand } from './commands/loginCommand.ts'
import { openInBrowser } from './commands/openCommand.ts'
import { webhooksCommand } from './commands/webhooksCommand.ts'
import { keysCommand } from './commands/keysCommand.ts'
import { limitsText } from './text/describeLimits.ts'
import { logText } from './text/describeLog.ts'
import { presetsCommand } from './commands/presetsCommand.ts'
import { progressLine, type ProgressLine } from './text/progressLine.ts'
import { createShare, shareCommand, shareText } from './commands/shareCommand.ts'
import { submitCommand } from './commands/submitCommand.ts'
import { columnsOf, wrap } from './text/terminal.ts'
import { uploadsCommand } from './commands/uploadsCommand.ts'
import { spendCapCommand, usageCommand } from './commands/usageCommand.ts'
import { vaultCommand } from './commands/vaultCommand.ts'

const argv = process.argv.slice(2)
const asJson = argv.includes('--json')
const interrupted = new AbortController()
const { signal } = interrupted
const width = columnsOf(process.stdout)

/** Cut to the width of the terminal of standard error. */
const fitted = (text: string): string => {
  const columns = columnsOf(process.stderr)
  if (columns === null) return stripControlCharacters(text)
  const lines = stripControlCharacters(text).split('\n')
  return lines
    .map((each) => {
      const lead = /^ */.exec(each)![0]
      return lead + wrap(each.trimStart(), columns - lead.length - 2, `${lead}  `)
    })
    .join('\n')
}
const note = (text: string): void => {
  if (!asJson) process.stderr.write(`${fitted(text)}\n`)
}
const line: ProgressLine = asJson ? { show: () => undefined, end: () => undefined } : progressLine(process.stderr)
/** The result of a command that goes on. */
const tell = (message: string): void => {
  process.stdout.write(`${asJson ? JSON.stringify({ message }) : stripControlCharacters(message)}\n`)
}
/** Prints a document for programs, or text for people. */
const print = ({ document, text, next }: CommandResult): number => {
  if (next != null) note(`More: --cursor ${next}`)
  process.stdout.write(asJson ? `${JSON.stringify(document)}\n` : text === '' ? '' : `${text}\n`)
  return EXIT_CODES.ok
}

async function run({ name, values, positionals }: ParsedCommand): Promise<number> {
  if (name === 'completion') {
    const shell = SHELLS.find((one) => one === positionals[0])
    if (!shell) throw new UsageError(`There is completion for ${SHELLS.join(', ')}.`)
    process.stdout.write(completion(shell))
    return EXIT_CODES.ok
  }
  if (name === 'doctor') {
    const { answer: report, text } = await doctorCommand(positionals, values, process.env, signal, note)
    print({ document: report, text })
    return report.ok ? EXIT_CODES.ok : EXIT_CODES.job
  }
  if (name === 'login' || name === 'logout') {
    const text = name === 'login' ? await loginCommand(values, process.env, signal) : logoutCommand(values, process.env)
    return print({ document: { message: text }, text })
  }
  const { address, key } = connection({ name, values }, process.env)
  const client = new Client(address, key, signal)

  switch (name) {
    case 'submit': {
      const created = await submitCommand(client, positionals, values, { say: note, line })
      return finish(client, created._auto_generated_id_, created, values)
    }
    case 'retry': {
      const created = await client.retry(jobId(positionals[0]))
      return finish(client, created._auto_generated_id_, created, values)
    }
    case 'status': {
      const id = jobId(positionals[0])
      const isWatched = values['watch'] === true
      return show(id, isWatched ? await watchJob(client, id, line, signal) : await client.read(id))
    }
    case 'list': {
      const { metadata, ...rest } = pick(values, ['search', 'state', 'limit', 'cursor', 'metadata'])
      const pairs = ([metadata ?? []].flat() as string[]).map((pair) => pair.replace('=', ':'))
      const document = await client.list({ ...rest, ...(pairs.length === 0 ? {} : { metadata: pairs }) })
      const text = document.jobs.length === 0 ? '' : jobTable(document.jobs, width)
      return print({ document, text, next: document.next_cursor })
    }
    case 'cancel':
      return print({
        document: await client.cancel(jobId(positionals[0])),
        text: `Job ${positionals[0]} is cancelled.`,
      })
    case 'delete': {
      const id = jobId(positionals[0])
      await client.delete(id)
      return print({ document: { deleted: id }, text: `Job ${id} is deleted.` })
    }
    case 'download': {
      const id = jobId(positionals[0])
      const job = await client.read(id)
      requireEnded(id, job)
      if (exitCodeOfJob(job) !== EXIT_CODES.ok) return show(id, job, { files: [] })
      const files = await downloadOutputs(job, String(values['to'] ?? '.'), line, signal, note)
      return print({ document: { files }, text: files.map(({ file }) => stripControlCharacters(file)).join('\n') })
    }
    case 'archive': {
      const id = jobId(positionals[0])
      return print(await archiveCommand(id, await client.read(id), values['to'] as string | undefined, line, signal))
    }
    case 'share':
      return print(await shareCommand(client, jobId(positionals[0]), values, width))
    case 'log': {
      const document = await client.log(jobId(positionals[0]), partPosition(values['part'] as string | undefined))
      return print({ document, text: logText(document) })
    }
    case 'presets':
      return print(await presetsCommand(client, positionals, values, width))
    case 'uploads':
      return print(await uploadsCommand(client, positionals, values, width))
    case 'events': {
      const show = (event: PublicEvent): void => {
        process.stdout.write(asJson ? `${JSON.stringify(event)}\n` : `${eventText(event)}\n`)
      }
      await eventsCommand(client, jobId(positionals[0]), { follow: values['follow'] === true, show, signal })
      return EXIT_CODES.ok
    }
    case 'open': {
      const id = jobId(positionals[0])
      await client.read(id)
      const page = `${address.replace(/\/$/, '')}/jobs/${id}`
      if (!(await openInBrowser(page))) note('No browser could be opened here. The page is:')
      return print({ document: { url: page }, text: page })
    }
    case 'webhooks':
      await webhooksCommand(client, positionals, { say: tell, signal }).catch((error: unknown) => {
        if (!signal.aborted) throw error
      })
      return EXIT_CODES.ok
    case 'limits': {
      const document = await client.limits()
      return print({ document, text: limitsText(document, width) })
    }
    case 'usage':
      return print(await usageCommand(client, pick(values, ['month', 'accounts', 'csv']), width))
    case 'spend-cap':
      return print(await spendCapCommand(client, positionals, pick(values, ['webhook'])))
    case 'vault':
      return print(await vaultCommand(client, positionals, note))
    case 'keys':
      return print(await keysCommand(client, positionals, values, width))
  }
}

/** The end of commands that create a job: wait, download and share if requested, then print the answer. */
async function finish(client: Client, id: number, created: Created, values: OptionValues): Promise<number> {
  const to = values['download'] as string | undefined
  const isShared = values['share'] === true
  const isDry = created.dry_run === true
  if (values['watch'] !== true && to === undefined && !isShared && !isDry) {
    for (const { message } of created.warnings) note(`Warning: ${message}`)
    note(`Job ${id} is created. Watch it: splicepoint status ${id} --watch`)
    return print({ document: created, text: String(id) })
  }
  note(`Job ${id}`)
  const job = await watchJob(client, id, line, signal)
  const more: { share?: Share } = {}
  if (exitCodeOfJob(job) === EXIT_CODES.ok && !isDry) {
    if (to !== undefined) await downloadOutputs(job, to, line, signal, note)
    if (isShared) more.share = await createShare(client, id, pick(values, ['title']))
  }
  return show(id, job, more)
}

function show(id: number, job: JobRead, more: { share?: Share; files?: [] } = {}): number {
  const text = [describeJob(id, job, width), ...(more.share ? [`\n${shareText(more.share)}`] : [])].join('\n')
  print({ document: { _auto_generated_id_: id, ...job, ...more }, text })
  return exitCodeOfJob(job)
}

function requireEnded(id: number, { status }: JobRead): void {
  if (!status.job_completed) throw new UsageError(`Job ${id} is not complete: splicepoint status ${id} --watch`)
}

function pick(values: OptionValues, names: readonly string[]): Record<string, never> {
  const given = Object.entries(values).filter(([name, value]) => names.includes(name) && value !== undefined)
  return Object.fromEntries(given) as Record<string, never>
}

async function main(): Promise<number> {
  const wish = helpRequest(argv)
  if (wish?.kind === 'version') return print({ document: { version: version() }, text: version() })
  if (argv.length === 0 || wish) {
    process.stdout.write(wish?.command ? helpOf(wish.command, width) : help(width))
    return wish ? EXIT_CODES.ok : EXIT_CODES.usage
  }
  const parsed = parse(argv)
  if (parsed.values['version'] === true) return print({ document: { version: version() }, text: version() })
  if (parsed.values['help'] === true) {
    process.stdout.write(helpOf(parsed.name, width))
    return EXIT_CODES.ok
  }
  return run(parsed)
}

// An interruption ends the watching; the job continues.
for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => interrupted.abort())
// A reader that stops early (| head) is not an error.
process.stdout.on('error', () => process.exit(EXIT_CODES.ok))

try {
  process.exitCode = await main()
} catch (error) {
  process.exitCode = signal.aborted ? EXIT_CODES.interrupted : exitCodeOf(error)
  const told = signal.aborted
    ? 'Interrupted. A job that was already created continues: splicepoint list'
    : errorMessage(error)
  const document = signal.aborted ? { error: { code: 'interrupted', message: told } } : errorDocument(error)
  writeFileSync(2, `${asJson ? JSON.stringify(document) : fitted(told)}\n`)
}

/** Set by scripts/package.ts. A checkout reads its own version. */
declare const SPLICEPOINT_VERSION: string | undefined

export function version(): string {
  if (typeof SPLICEPOINT_VERSION === 'string') return SPLICEPOINT_VERSION
  const manifest = readFileSync(new URL('../package.json', import.meta.url), 'utf8')
  return (JSON.parse(manifest) as { version: string }).version
}
