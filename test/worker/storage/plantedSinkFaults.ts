// In charge of: faults that are planted in a sink, which the suite (conformance.ts) must find whatever the vendor.
import type { Sink } from '../../../worker/storage/objectStore.ts'

/** What every sink must be caught at: each replaces what it names of a good one. The first leaves it good. */
export const PLANTED_SINK_FAULTS: [name: string, plant: (good: Sink) => Partial<Sink>][] = [
  ['none', () => ({})],
  [
    'parts that are swapped',
    (good) => ({
      completeUpload: (path, upload, parts) =>
        good.completeUpload(
          path,
          upload,
          parts.map((part, i) => ({ n: part.n, etag: parts.at(-1 - i)!.etag })),
        ),
    }),
  ],
  ['an abort that does nothing', () => ({ abortUpload: async () => undefined })],
]
