// In charge of: what a judge is: a program of others that reads outputs of ours, and what it says about them.
// Not in charge of: which there are (allValidators.ts), what is accepted all the same (acceptedFindings.ts).
import { execFile } from 'node:child_process'
import { cp, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { JOB_TIMEOUT_MS } from '../../support/timeouts.ts'
import type { JobName } from './validatedJobs.ts'
import type { Output } from './jobOutputs.ts'

export interface Finding {
  /** What is broken, in few words; with its paragraph where the judge knows it. */
  rule: string
  says: string
}

export interface ValidationReport {
  findings: Finding[]
  /** All that the judge said, kept as a file. */
  report: string
}

/** Damage to a copy of an output, which the judge must find. */
export interface PlantedFault {
  job: JobName
  what: string
  damage: (output: Output) => Promise<void>
  /** Part of a finding that must come of it, as "rule: sentence". */
  finds: string
}

export interface Validator {
  name: string
  /** A sentence that says what is not installed; null where everything is. */
  missing: string | null
  jobs: readonly JobName[]
  judge: (output: Output) => Promise<ValidationReport>
  faults: readonly PlantedFault[]
  /** Ends what all its readings share. */
  close?: () => Promise<void>
}

export interface ProgramResult {
  code: number | null
  stdout: string
  stderr: string
}

interface RunOptions {
  env?: NodeJS.ProcessEnv
  cwd?: string
  uid?: number
  gid?: number
  input?: Buffer
}

/** Runs a program to its end, whatever its exit code. It is ended where it takes as long as nothing here takes. */
export function runProgram(program: string, args: readonly string[], options: RunOptions = {}): Promise<ProgramResult> {
  const { input, ...rest } = options
  return new Promise((done) => {
    const given = { maxBuffer: 256 << 20, timeout: JOB_TIMEOUT_MS, ...rest }
    const child = execFile(program, [...args], given, (error, stdout, stderr) => {
      const code = error === null ? 0 : typeof error.code === 'number' ? error.code : null
      done({ code, stdout, stderr: error !== null && code === null ? `${stderr}${error.message}\n` : stderr })
    })
    child.stdin?.on('error', () => undefined)
    child.stdin?.end(input)
  })
}

export const filesEndingWith = (output: Output, ...endings: string[]): string[] =>
  output.files.filter((path) => endings.some((ending) => path.endsWith(ending)))

export const absolutePath = (output: Output, path: string): string => join(output.directory, path)

/** A copy of an output that may be damaged. Its addresses are still those of the output. */
export async function copyOutput(output: Output, directory: string): Promise<Output> {
  await cp(output.directory, directory, { recursive: true })
  return { ...output, directory }
}

/** Changes the first file whose path ends like this, or matches. */
export async function rewriteFile(
  output: Output,
  which: string | RegExp,
  edit: (bytes: Buffer) => Uint8Array,
): Promise<void> {
  const path = output.files.find((one) => (typeof which === 'string' ? one.endsWith(which) : which.test(one)))
  if (path === undefined) throw new Error(`${output.job} has no ${String(which)}`)
  const file = absolutePath(output, path)
  await writeFile(file, edit(await readFile(file)))
}

/** For texts: what is replaced must be there. */
export function replaceText(from: string | RegExp, to: string): (bytes: Buffer) => Uint8Array {
  return (bytes) => {
    const text = bytes.toString()
    const edited = text.replace(from, to)
    if (edited === text) throw new Error(`no ${String(from)} in ${text}`)
    return Buffer.from(edited)
  }
}
