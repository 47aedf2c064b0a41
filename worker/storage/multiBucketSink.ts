// In charge of: one sink for a job whose outputs go to several buckets. The first segment of a path selects the bucket
// (contract/job/paths/outputLocation.ts).
// Not in charge of: which buckets a job names (jobStores.ts).
import type { Sink } from './objectStore.ts'

/** @param sinksByPrefix by the first segment of a path; any other path goes to `defaultSink` */
export function multiBucketSink(defaultSink: Sink, sinksByPrefix: ReadonlyMap<string, Sink>): Sink {
  if (sinksByPrefix.size === 0) return defaultSink
  const at = (path: string): { sink: Sink; path: string; uploadPrefix: string } => {
    const slash = path.indexOf('/')
    const uploadPrefix = slash < 0 ? path : path.slice(0, slash)
    const sink = sinksByPrefix.get(uploadPrefix)
    return sink
      ? { sink, path: slash < 0 ? '' : path.slice(slash + 1), uploadPrefix }
      : { sink: defaultSink, path, uploadPrefix: '' }
  }
  return {
    put(path, ...rest) {
      const to = at(path)
      return to.sink.put(to.path, ...rest)
    },
    stat(path) {
      const to = at(path)
      return to.sink.stat(to.path)
    },
    delete(path) {
      const to = at(path)
      return to.sink.delete(to.path)
    },
    async deleteMany(paths) {
      const groups = Map.groupBy(paths.map(at), ({ sink }) => sink)
      for (const [sink, group] of groups) await sink.deleteMany(group.map((each) => each.path))
    },
    beginUpload(path, ...rest) {
      const to = at(path)
      return to.sink.beginUpload(to.path, ...rest)
    },
    uploadPart(path, ...rest) {
      const to = at(path)
      return to.sink.uploadPart(to.path, ...rest)
    },
    completeUpload(path, ...rest) {
      const to = at(path)
      return to.sink.completeUpload(to.path, ...rest)
    },
    abortUpload(path, ...rest) {
      const to = at(path)
      return to.sink.abortUpload(to.path, ...rest)
    },
    // All sinks are of one provider and have the same methods.
    ...(defaultSink.probeWrite === undefined
      ? {}
      : {
          async probeWrite(directory, keep) {
            const to = at(directory)
            await to.sink.probeWrite?.(to.path, (upload, path) =>
              keep(upload, to.uploadPrefix === '' ? path : `${to.uploadPrefix}/${path}`),
            )
          },
        }),
    ...(defaultSink.presignedUrl === undefined
      ? {}
      : {
          async presignedUrl(path) {
            const to = at(path)
            return (await to.sink.presignedUrl?.(to.path)) ?? null
          },
        }),
    location(path) {
      const to = at(path)
      return to.sink.location(to.path)
    },
  }
}
