// In charge of: what the golden corpus keeps of one job, made by one task and in parts: hashes of its config, of its plan, of
// the arguments of all runs of ffmpeg, and of the stored objects (manifests among them).
// Not in charge of: the jobs (cases.ts), comparing (main.ts).
import { createHash } from 'node:crypto'
import { validateJob } from '#contract/job/validateJob.ts'
import type { RunStart } from '../../transcoder/ffmpeg/run.ts'
import { redactAddresses } from '../../transcoder/ffmpeg/printableCommand.ts'
import { chunkSeconds, clipOf } from '../matrix/dividedForms.ts'
import { runDivided } from '../matrix/dividedRun.ts'
import { BASE_URL, bodyOf, type MatrixRunner } from '../matrix/runner.ts'
import { makeLogoImage } from '../support/media/testLogo.ts'
import type { GoldenCase } from './cases.ts'

/** Hashes by what they are of; a refusal or a reason against a division stands as it is. */
export type Golden = Record<string, string>

const HASH_DIGITS = 12

function hash(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return createHash('sha256').update(text).digest('hex').slice(0, HASH_DIGITS)
}

/** The same in every run: no addresses of loopback servers, no directories of attempts. */
function printed({ program, args }: RunStart, workDir: string): string {
  const attempt = new RegExp(`${workDir}/[^/' ]*`, 'g')
  return [program.split('/').at(-1)!, ...args.map((word) => redactAddresses(word).replaceAll(attempt, 'DIR'))].join(' ')
}

/** `form`: whole = by one task, parts = divided into the shortest chunks that the matrix uses. */
export async function record(each: GoldenCase, form: 'whole' | 'parts', runner: MatrixRunner): Promise<Golden> {
  const judged = validateJob(bodyOf(each.job), { baseUrl: BASE_URL })
  if (!judged.ok) return { refused: judged.problems.map(({ code, field }) => `${code} at ${field}`).join(', ') }
  const { config } = judged
  const workDir = `${runner.directory}/golden`
  const runs: string[] = []
  const made = await runDivided({
    config,
    source: await runner.clip(form === 'whole' ? each.source : clipOf(each)),
    logo: await makeLogoImage(`${runner.directory}/golden-logo.png`),
    workDir,
    chunkSeconds: form === 'whole' ? 0 : chunkSeconds(each),
    onRun: (start) => {
      runs.push(printed(start, workDir))
      return () => undefined
    },
  }).catch((error: unknown) => ({ failed: error instanceof Error ? error.message : String(error) }))
  if ('failed' in made) return { failed: redactAddresses(made.failed) }
  if ('refused' in made) return { refused: `${made.refused.code} at ${made.refused.field}` }
  if ('oneTask' in made) return { oneTask: made.oneTask }
  const objects = [...made.objects].map(([path, bytes]) => `${path} ${hash(bytes.toString('latin1'))}`)
  return {
    config: hash(config),
    plan: hash(made.plan),
    argv: hash(runs.toSorted()),
    objects: hash(objects.toSorted()),
    warnings: hash(made.warnings),
  }
}
