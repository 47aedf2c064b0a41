// In charge of: analysing each source and estimating its job: by dry runs, as soon as a source can be read, and again
// when the settings change.
// Not in charge of: a single dry run (dryRun.ts).
import { useEffect, useRef, useState } from 'preact/hooks'
import type { Estimate, SourceReport } from '#contract/task/dryRunEstimate.ts'
import { sleep } from '../../api/jobWatch.ts'
import { asError, type Failure } from '../../api/api.ts'
import { describeProgress } from '../../text/format.ts'
import type { FormBody, JobFields } from './formBody.ts'
import { dryRun } from './dryRun.ts'

export interface Analysis {
  /** A dry run is running. */
  busy: boolean
  /** Its current phase. */
  phase: string | null
  /** Kept when the settings change. */
  source: SourceReport | null
  poster: string | null
  /** For the settings that it was computed with; null while it is recomputed. */
  estimate: Estimate | null
  failure: Failure | null
  /** The settings that it belongs to. */
  settingsKey: string
}

export interface Readable {
  key: string
  /** The source in a request: `input`, or `inputs`. */
  members: JobFields
}

/** Typing and trying presets starts one dry run after this pause, not one for every change. */
const SETTLED_MS = 600

const none: Omit<Analysis, 'settingsKey'> = {
  busy: false,
  phase: null,
  source: null,
  poster: null,
  estimate: null,
  failure: null,
}

/** @param body null = it is not valid; sources are analysed as soon as it is valid */
export function useAnalyses(sources: readonly Readable[], body: FormBody | null): ReadonlyMap<string, Analysis> {
  const [analyses, setAnalyses] = useState<ReadonlyMap<string, Analysis>>(new Map())
  const known = useRef(analyses)
  const posters = useRef(new Set<string>())
  const update = (key: string, part: Partial<Analysis>): void => {
    known.current = new Map(known.current).set(key, { settingsKey: '', ...none, ...known.current.get(key), ...part })
    setAnalyses(known.current)
  }
  useEffect(() => () => posters.current.forEach((url) => URL.revokeObjectURL(url)), [])

  const { input: _input, inputs: _inputs, ...rest }: Partial<FormBody> = body ?? {}
  const settings = JSON.stringify(body && rest)
  const settingsFor = ({ members }: Readable): string => settings + JSON.stringify(members)
  const asked = JSON.stringify([sources, settings])
  useEffect(() => {
    if (body === null || sources.length === 0) return
    const stopped = new AbortController()
    const { signal } = stopped
    const run = async (source: Readable): Promise<void> => {
      const { key, members } = source
      const settingsKey = settingsFor(source)
      update(key, { busy: true, phase: 'Starting the analysis', estimate: null, failure: null, settingsKey })
      try {
        const found = await dryRun(
          { ...(rest as FormBody), ...members },
          (status) => {
            if (signal.aborted) return
            update(key, { phase: describeProgress(status), ...(status.source ? { source: status.source } : {}) })
          },
          signal,
        )
        if (found.poster !== null) posters.current.add(found.poster)
        // The source stays the same when the settings change.
        const before = known.current.get(key)
        const seen = { source: found.source ?? before?.source ?? null, poster: found.poster ?? before?.poster ?? null }
        update(key, { ...seen, busy: false, phase: null, estimate: found.estimate, failure: found.failure })
      } catch (error) {
        if (!signal.aborted) update(key, { busy: false, phase: null, failure: asError(error) })
      }
    }
    const all = async (): Promise<void> => {
      const missing = sources.filter((each) => {
        const analysis = known.current.get(each.key)
        return analysis === undefined || analysis.busy || analysis.settingsKey !== settingsFor(each)
      })
      const again = missing.filter(({ key }) => known.current.has(key))
      // The shown estimate no longer fits these settings.
      for (const { key } of again) update(key, { busy: true, phase: null, estimate: null, failure: null })
      if (again.length > 0 && again.length === missing.length) await sleep(SETTLED_MS, signal)
      // New sources first: they have no analysis yet.
      for (const source of [...missing.filter((each) => !again.includes(each)), ...again]) {
        if (!signal.aborted) await run(source)
      }
    }
    void all()
    return () => stopped.abort()
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- by their contents: they are made anew with every rendering
  }, [asked])
  return analyses
}
