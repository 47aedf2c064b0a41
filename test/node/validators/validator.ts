// In charge of: the interface of a validator: an independent program that reads our outputs, and its findings.
// Not in charge of: which validators exist (allValidators.ts), which findings are accepted (acceptedFindings.ts).
import { cp, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { JobName } from './validatedJobs.ts'
import type { Output } from './jobOutputs.ts'

export interface Finding {
  /** What is wrong, in few words; with its paragraph if the validator reports it. */
  rule: string
  says: string
}

export interface ValidationReport {
  findings: Finding[]
  /** The full output of the validator, written to a file. */
  report: string
}

/** Damage to a copy of an output, which the validator must find. */
export interface PlantedFault {
  job: JobName
  what: string
  damage: (output: Output) => Promise<void>
  /** Part of the resulting finding, as "rule: sentence". */
  finds: string
}

export interface Validator {
  name: string
  /** A sentence about what is not installed; null if everything is. */
  missing: string | null
  jobs: readonly JobName[]
  validate: (output: Output) => Promise<ValidationReport>
  faults: readonly PlantedFault[]
  /** Releases what all its runs share. */
  close?: () => Promise<void>
}

export const filesEndingWith = (output: Output, ...endings: string[]): string[] =>
  output.files.filter((path) => endings.some((ending) => path.endsWith(ending)))

export const absolutePath = (output: Output, path: string): string => join(output.directory, path)

/** A copy of an output for damaging. Its addresses are still those of the output. */
export async function copyOutput(output: Output, directory: string): Promise<Output> {
  await cp(output.directory, directory, { recursive: true })
  return { ...output, directory }
}

/** Changes the first file whose path ends with this text, or matches. */
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

/** For texts: the replaced text must exist. */
export function replaceText(from: string | RegExp, to: string): (bytes: Buffer) => Uint8Array {
  return (bytes) => {
    const text = bytes.toString()
    const edited = text.replace(from, to)
    if (edited === text) throw new Error(`no ${String(from)} in ${text}`)
    return Buffer.from(edited)
  }
}
