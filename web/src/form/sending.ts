// In charge of: judging a body by the rules of the service itself, and sending it: as a job or as a dry run.
// Not in charge of: how problems are shown.
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { Problem, Warning } from '#contract/errors.ts'
import { validateJob } from '#contract/job.ts'
import { ApiError, createJob } from '../api.ts'
import { asError, type Failure } from '../parts/notice.tsx'
import { navigate } from '../router.tsx'
import type { Body } from './body.ts'
import { dryRun, type DryRun } from './dry-run.ts'

export type Kind = 'create' | 'dry'

export interface Sending {
  /** All that is not right with the body. */
  found: readonly Problem[]
  /** What is to be shown of it now, with what the service found beyond that. */
  problems: readonly Problem[]
  warnings: readonly Warning[]
  /** Somebody has wanted to send it. */
  tried: boolean
  busy: Kind | null
  failure: Failure | null
  estimate: DryRun | null
  send: (kind: Kind) => Promise<void>
  /** The body is another one now. */
  forget: () => void
}

export function useSending(body: Body, onRefused: () => void): Sending {
  const [tried, setTried] = useState(false)
  const [busy, setBusy] = useState<Kind | null>(null)
  const [failure, setFailure] = useState<ApiError | Failure | null>(null)
  const [estimate, setEstimate] = useState<DryRun | null>(null)
  const asked = useRef<AbortController | null>(null)
  useEffect(() => () => asked.current?.abort(), [])

  const judged = useMemo(() => validateJob(body, { baseUrl: location.origin }), [body])
  const upload = body.cloud_credentials.input['cloud_provider'] === 'file-upload'
  const found = (judged.ok ? [] : judged.problems).map((problem) =>
    upload && problem.field === 'input' ? { ...problem, message: 'Choose a file to upload first.' } : problem,
  )
  // What the service found beyond that: an upload that is gone, a source that it may not read.
  const answered = failure instanceof ApiError ? failure.problems : []
  // Nobody is told that something is missing before having had the time to give it.
  const problems = tried
    ? [...found, ...answered]
    : found.filter(({ code }) => code !== 'required' && code !== 'invalid_length')
  // One wish has one name, so that sending it twice makes one job.
  const once = useMemo(() => crypto.randomUUID(), [body])

  const send = async (kind: Kind): Promise<void> => {
    setTried(true)
    setFailure(null)
    if (!judged.ok) return onRefused()
    setBusy(kind)
    try {
      if (kind === 'create') {
        const made = await createJob(body, false, once)
        navigate(`/jobs/${made._auto_generated_id_}`)
        return
      }
      asked.current?.abort()
      asked.current = new AbortController()
      setEstimate(null)
      await dryRun(body, asked.current.signal, setEstimate)
    } catch (error) {
      setFailure(error instanceof ApiError ? error : asError(error))
      onRefused()
    }
    setBusy(null)
  }
  const warnings = judged.ok ? judged.warnings : []
  return { found, problems, warnings, tried, busy, failure, estimate, send, forget: () => setFailure(null) }
}
