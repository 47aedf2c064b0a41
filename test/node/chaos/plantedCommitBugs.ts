// In charge of: bugs that blows to a commit must find, each planted in a copy of the source, and whether they do.
// Not in charge of: bugs of the state machine (simulation/plantedBugs.ts). Nothing of this is ever part of what is shipped.
import { cp, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Random } from '../../support/seededRandom.ts'
import { ROOT } from '../../support/service.ts'
import { CommitKillBench, killPoints } from './commitKills.ts'
import { JOB_KINDS } from './jobKinds.ts'

export interface PlantedBug {
  name: string
  file: string
  /** Stands exactly once in the file. */
  find: string
  put: string
  /** The phase and the step at which a blow shows it; null: it is seen without one. */
  point: { phase: string; step: RegExp } | null
  finds: RegExp
}

const commit = 'worker/monitor/commitOutputs.ts'

export const PLANTED_BUGS: readonly PlantedBug[] = [
  {
    name: 'the record is gone before the first complete',
    file: commit,
    find: '  const { objects, written } = record\n',
    put: '  const { objects, written } = record\n  await deleteCommitRecord(env, task.job_id, attempt)\n',
    point: { phase: 'lost', step: /^(CompleteMultipartUpload|PutObject) (?!.*attempt-)/ },
    finds: /ended error: .*record of the finished work is missing/,
  },
  {
    name: 'an upload that was completed before a blow does not count',
    file: commit,
    find: `    if (!(error instanceof StoreError && error.code === 'no_such_upload')) throw error
    // Completed by a try that did not live to say so?
`,
    put: '    if (error instanceof StoreError) throw error\n',
    point: { phase: 'unanswered', step: /^CompleteMultipartUpload/ },
    finds: /ended error/,
  },
  {
    name: 'what points at others is put first',
    file: commit,
    find: `const inStage = (n: 1 | 2) => written.filter((object) => object.stage === n)`,
    put: `const inStage = (n: 1 | 2) => written.filter((object) => object.stage === 3 - n)`,
    point: null,
    finds: /points at .*which is not there/,
  },
]

/** Not part of what runs, or brought along by a link. */
const LEFT_OUT = new Set(['node_modules', '.git', '.wrangler', 'test', 'bench', 'matrix', 'docs'])

/** @returns names of the bugs that were not found */
export async function testPlantedBugs(print: (line: string) => void): Promise<string[]> {
  const unfound: string[] = []
  for (const bug of PLANTED_BUGS) {
    const copy = await mkdtemp(join(tmpdir(), 'splicepoint-planted-'))
    try {
      for (const name of await readdir(ROOT))
        if (!LEFT_OUT.has(name)) await cp(join(ROOT, name), join(copy, name), { recursive: true })
      await symlink(join(ROOT, 'node_modules'), join(copy, 'node_modules'))
      const path = join(copy, bug.file)
      const good = await readFile(path, 'utf8')
      if (good.split(bug.find).length !== 2) throw new Error(`${bug.file} has lost "${bug.find}"`)
      await writeFile(
        path,
        good.replace(bug.find, () => bug.put),
      )
      const output = await strikeBug(copy, bug.point)
      const found = bug.finds.exec(output)
      print(`${found ? 'found' : 'NOT FOUND'}: ${bug.name}${found ? ` (${found[0].slice(0, 200)})` : `\n${output}`}`)
      if (!found) unfound.push(bug.name)
    } finally {
      await rm(copy, { recursive: true, force: true })
    }
  }
  return unfound
}

/** What was seen. Throws where a bug that only a blow shows is in the way of what nobody disturbs: the copy is broken then. */
async function strikeBug(root: string, point: PlantedBug['point']): Promise<string> {
  await using fixture = await CommitKillBench.open({ root, jobs: JOB_KINDS.length })
  if (point === null) {
    return await fixture.steps().then(
      () => 'nothing was seen without a blow',
      (error: unknown) => String(error),
    )
  }
  const steps = await fixture.steps()
  const victim = 'runtime and transcoder'
  const targets = JOB_KINDS.flatMap((kind) => {
    const all = killPoints(kind, steps[kind], victim)
    return all.filter(({ step, phase }) => phase === point.phase && point.step.test(step)).slice(0, 1)
  })
  if (targets.length === 0) throw new Error(`no step of a commit is like ${point.step}`)
  const outcomes = await fixture.killAtPoints(victim, targets, new Random(1))
  return outcomes.flatMap(({ kind, wrong }) => wrong.map((what) => `${kind}: ${what}`)).join('\n')
}
