// In charge of: running the validated jobs on a real service, and their outputs as files and as addresses.
// Not in charge of: which jobs (validatedJobs.ts), the findings.
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { jobRequest, type Service } from '../../support/service.ts'
import { VALIDATED_JOBS, type JobName } from './validatedJobs.ts'

export interface Output {
  job: JobName
  /** Contains its files, by the paths that the service gave them. */
  directory: string
  /** Paths in the directory. */
  files: readonly string[]
  /** Address of a path on the service. */
  url: (path: string) => string
}

interface Report {
  objects: { path: string }[]
}

const encoded = (path: string): string => path.split('/').map(encodeURIComponent).join('/')

async function download(url: string): Promise<Buffer> {
  const response = await fetch(url)
  if (response.status !== 200) throw new Error(`${response.status} of ${url}`)
  return Buffer.from(await response.arrayBuffer())
}

async function made(service: Service, input: string, job: JobName, root: string): Promise<Output> {
  const status = await service.run(jobRequest(input, 'file-upload', VALIDATED_JOBS[job]))
  if (status.state !== 'ready') throw new Error(`${job}: ${JSON.stringify(status.error)}`)
  const urls = new Map<string, string>()
  for (const { path, url } of status.outputs) if (url !== null) urls.set(path, url)
  // Segments are listed only in the report.
  const report = [...urls].find(([path]) => path.endsWith('/job.json'))
  if (report !== undefined) {
    const { objects } = JSON.parse((await download(report[1])).toString()) as Report
    const base = report[0].slice(0, -'job.json'.length)
    for (const { path } of objects)
      if (path.startsWith(base)) urls.set(path, new URL(encoded(path.slice(base.length)), report[1]).href)
  }
  const directory = join(root, job)
  for (const [path, url] of urls) {
    const file = join(directory, path)
    await mkdir(dirname(file), { recursive: true })
    await writeFile(file, await download(url))
  }
  return {
    job,
    directory,
    files: [...urls.keys()].toSorted(),
    url: (path) => {
      const url = urls.get(path)
      if (url === undefined) throw new Error(`${job} has no ${path}: ${[...urls.keys()].join(', ')}`)
      return url
    },
  }
}

/** All jobs at once: the service orders them. */
export async function runValidatedJobs(
  service: Service,
  sources: { plain: string; pal: string },
  root: string,
): Promise<Output[]> {
  const [plain, pal] = [await service.upload(sources.plain), await service.upload(sources.pal)]
  const inputOf = (job: string): string => (job === 'ts-pal-dvb-cbr' ? pal : plain)
  return Promise.all(Object.keys(VALIDATED_JOBS).map((job) => made(service, inputOf(job), job as JobName, root)))
}
