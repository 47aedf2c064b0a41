// In charge of: one job made twice, by one task and divided, and what differs between them.
// Not in charge of: expectations.
import type { FinishPost } from '#contract/task/protocol.ts'
import { runTask, type RunContext } from '../../../transcoder/runTask.ts'
import { runRequest, type AttemptFixture, type TaskDescription } from './attemptFixture.ts'
import { inChunks, runDividedJob } from './dividedJob.ts'
import { FakeTaskApi, type FakeSource } from './fakeTaskApi.ts'
import { storedObjects } from './segmentedTask.ts'

interface Made {
  objects: Map<string, Buffer>
  finished: FinishPost | null
  problems: unknown[]
}

/** The directories of attempts, of one task and of parts. */
const OWN = /\bj-1(?:-\d+)+\b/g

async function made(
  source: FakeSource,
  captions: Buffer[],
  run: (taskApi: FakeTaskApi) => Promise<void>,
): Promise<Made> {
  const taskApi = await new FakeTaskApi(source).start()
  taskApi.captions = captions
  try {
    await run(taskApi)
    const objects = taskApi.finished === null ? new Map<string, Buffer>() : storedObjects(taskApi)
    return { objects, finished: taskApi.finished, problems: [...taskApi.fails, ...taskApi.breaches] }
  } finally {
    await taskApi.stop()
  }
}

export interface ComparedDivision {
  alone: Made
  divided: Made
  /** Objects that only one of them has, without the names of directories of attempts. */
  onlyAlone: string[]
  onlyDivided: string[]
  /** Objects with other bytes. */
  different: string[]
}

/** With several threads, the rate control of x264 follows their timing where it limits the rate: no two runs are equal. */
export function withOneThread(fixture: AttemptFixture): AttemptFixture {
  const context = (): RunContext => {
    const made = fixture.context()
    return { ...made, settings: { ...made.settings, threads: 1 } }
  }
  return { ...fixture, context }
}

export async function compareDivision(
  anyThreads: AttemptFixture,
  task: TaskDescription,
  {
    source,
    chunks,
    captions = [],
    ranges = true,
  }: {
    source: Buffer
    /** null = single segments, planned by the first attempt. */
    chunks: number[] | null
    captions?: Buffer[]
    /** False: every chunk decodes from the beginning. */
    ranges?: boolean
  },
): Promise<ComparedDivision> {
  const fixture = withOneThread(anyThreads)
  const alone = await made({ bytes: source, ranges }, captions, async (taskApi) => {
    taskApi.task = task
    await runTask(runRequest(taskApi), fixture.context())
  })
  const divided = await made({ bytes: source, ranges }, captions, (taskApi) =>
    runDividedJob(fixture, taskApi, chunks === null ? inChunks(task) : task, { chunks }),
  )
  const [one, other] = [alone, divided].map(({ objects }) => renamed(objects))
  const names = (objects: ReadonlyMap<string, Buffer>): string[] => [...objects.keys()].toSorted()
  return {
    alone,
    divided,
    onlyAlone: names(one!).filter((path) => !other!.has(path)),
    onlyDivided: names(other!).filter((path) => !one!.has(path)),
    different: names(one!).filter((path) => other!.get(path)?.equals(one!.get(path)!) === false),
  }
}

function renamed(objects: ReadonlyMap<string, Buffer>): Map<string, Buffer> {
  const isText = (path: string): boolean => /\.(m3u8|mpd|vtt|json)$|\/Manifest$/.test(path)
  return new Map(
    [...objects].map(([path, bytes]) => [
      path.replaceAll(OWN, 'own'),
      isText(path) ? Buffer.from(bytes.toString().replaceAll(OWN, 'own')) : bytes,
    ]),
  )
}
