// In charge of: from the command line to the exit code: which function does what, what goes to standard output (answers) and
// what to standard error (progress, notes, failures). Not in charge of: the doing.
import { writeFileSync } from 'node:fs'
import type { JobRead } from '#contract/answers.ts'
import { Client } from '../client/client.ts'
import { connection, jobId, parse, type Parsed } from './arguments.ts'
import { completion, SHELLS } from './completion.ts'
import { doctor } from './doctor.ts'
import { errorDocument, EXIT, exitCodeOf, explain, plain, UsageError } from './failure.ts'
import { help, helpOf } from './help.ts'
import { describe, exitCodeOfJob, fetchOutputs, watch } from './jobs.ts'
import { keys } from './keys.ts'
import { submit } from './submit.ts'
import { uploads } from './uploads.ts'
import { vault } from './vault.ts'

const argv = process.argv.slice(2)
const asJson = argv.includes('--json')
const interrupted = new AbortController()
const { signal } = interrupted

const note = (text: string): void => {
  if (!asJson) process.stderr.write(`${plain(text)}\n`)
}
/** One answer: a document for programs, or lines for people. */
const answer = (document: unknown, text: string): void => {
  process.stdout.write(asJson ? `${JSON.stringify(document)}\n` : text === '' ? '' : `${text}\n`)
}

async function run({ name, values, words }: Parsed): Promise<number> {
  if (name === 'completion') {
    const shell = SHELLS.find((one) => one === words[0])
    if (!shell) throw new UsageError(`There is completion for ${SHELLS.join(', ')}.`)
    process.stdout.write(completion(shell))
    return EXIT.ok
  }
  if (name === 'doctor') {
    const { answer: report, text } = await doctor(words, values, process.env, signal, note)
    answer(report, text)
    return report.ok ? EXIT.ok : EXIT.job
  }
  const { address, key } = connection(values, process.env)
  const client = new Client(address, key, signal)

  /** The end of what makes a job: wait where that is asked for, download, answer. */
  const finish = async (id: number, created: unknown): Promise<number> => {
    const to = values['download'] as string | undefined
    if (values['watch'] !== true && to === undefined) {
      answer(created, String(id))
      return EXIT.ok
    }
    note(`Job ${id}`)
    return show(id, await watching(id), to)
  }
  const watching = (id: number): Promise<JobRead> =>
    watch(client, id, { progress: process.stderr, signal, quiet: asJson })
  const show = async (id: number, job: JobRead, to?: string): Promise<number> => {
    const code = exitCodeOfJob(job)
    if (code === EXIT.ok && to !== undefined) await fetchOutputs(job, to, signal, note)
    answer({ _auto_generated_id_: id, ...job }, describe(id, job))
    return code
  }

  switch (name) {
    case 'submit': {
      const notes = { say: note, uploaded: (stored: number, size: number) => note(`${stored} of ${size} bytes stored`) }
      const created = await submit(client, words[0], values, notes)
      for (const { message } of created.warnings) note(`note: ${message}`)
      return finish(created._auto_generated_id_, created)
    }
    case 'retry': {
      const created = await client.retry(jobId(words[0]))
      return finish(created._auto_generated_id_, created)
    }
    case 'status': {
      const id = jobId(words[0])
      return show(id, values['watch'] === true ? await watching(id) : await client.read(id))
    }
    case 'list': {
      const query = Object.entries(values).filter(([flag]) => ['search', 'state', 'limit', 'cursor'].includes(flag))
      const page = await client.list(Object.fromEntries(query) as Record<string, string>)
      const lines = page.jobs.map(({ _auto_generated_id_: id, status, input }) => {
        const end = status.error?.code ?? (status.state === 'cancelled' ? 'cancelled' : status.phase)
        return plain(`${id}  ${status.created_at}  ${end}  ${input}`)
      })
      if (page.next_cursor !== null) note(`More: --cursor ${page.next_cursor}`)
      answer(page, lines.join('\n'))
      return EXIT.ok
    }
    case 'cancel': {
      const job = await client.cancel(jobId(words[0]))
      answer(job, `Job ${words[0]} is cancelled.`)
      return EXIT.ok
    }
    case 'delete': {
      await client.delete(jobId(words[0]))
      answer({ deleted: jobId(words[0]) }, `Job ${words[0]} is deleted.`)
      return EXIT.ok
    }
    case 'download': {
      const id = jobId(words[0])
      const job = await client.read(id)
      if (!job.status.job_completed) throw new UsageError(`Job ${id} is not complete: splicepoint status ${id} --watch`)
      const code = exitCodeOfJob(job)
      if (code !== EXIT.ok) {
        answer({ files: [], segments_left: 0 }, describe(id, job))
        return code
      }
      const fetched = await fetchOutputs(job, String(values['to'] ?? '.'), signal, note)
      answer(fetched, fetched.files.map(({ file }) => plain(file)).join('\n'))
      return EXIT.ok
    }
    case 'uploads': {
      const { answer: document, text } = await uploads(client, words, values, note)
      answer(document, text)
      return EXIT.ok
    }
    case 'limits': {
      const limits = await client.limits()
      answer(limits, JSON.stringify(limits, null, 2))
      return EXIT.ok
    }
    case 'vault': {
      const { answer: document, text } = await vault(client, words, note)
      answer(document, text)
      return EXIT.ok
    }
    case 'keys': {
      const { answer: document, text } = await keys(client, words, values)
      answer(document, text)
      return EXIT.ok
    }
  }
}

async function main(): Promise<number> {
  if (argv.length === 0 || ['help', '--help', '-h'].includes(argv[0] ?? '')) {
    process.stdout.write(help())
    return argv.length === 0 ? EXIT.usage : EXIT.ok
  }
  const parsed = parse(argv)
  if (parsed.values['help'] === true) {
    process.stdout.write(helpOf(parsed.name))
    return EXIT.ok
  }
  return run(parsed)
}

// The job goes on: only the watching of it ends.
for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => interrupted.abort())
// A reader that has enough (| head) is no failure.
process.stdout.on('error', () => process.exit(EXIT.ok))

try {
  process.exitCode = await main()
} catch (error) {
  process.exitCode = signal.aborted ? EXIT.interrupted : exitCodeOf(error)
  const told = signal.aborted ? 'Interrupted. A job that was created goes on: splicepoint list' : explain(error)
  const document = signal.aborted ? { error: { code: 'interrupted', message: told } } : errorDocument(error)
  writeFileSync(2, `${asJson ? JSON.stringify(document) : told}\n`)
}
