// In charge of: the page of a new job: the initial content of its form.
// Not in charge of: the form (../form/form.tsx).
import { useEffect, useState } from 'preact/hooks'
import { builtInPresets } from '#contract/job/builtInPresets.ts'
import { listUploads, readJob, asError, type Failure } from '../api/api.ts'
import { bodyOf, bodyWith, withInput, withMember, type FormBody } from '../form/model/formBody.ts'
import { addressesOf, isOneStore, notJoined, type Joining } from '../form/model/joined.ts'
import { Form } from '../form/form.tsx'
import { isUpload, keysOf, type Chosen } from '../form/model/sources.ts'
import { Loading } from '../parts/loading.tsx'
import type { Route } from '../parts/router.tsx'
import { takeDropped } from '../transfers/store.ts'
import { ConnectionNotice, Notice } from '../parts/notice.tsx'

type NewJobProps = Omit<Extract<Route, { page: 'new' }>, 'page'>

interface Beginning {
  body: FormBody
  chosen: readonly Chosen[]
  joining: Joining
  /** Sources of the earlier job that the form cannot show. */
  isIncomplete?: boolean
  /** The field at which the earlier job failed. */
  field?: string | undefined
}

const fresh = (): FormBody => bodyWith(builtInPresets[0]?.job ?? {}, null)

const numberOf = (input: string): number => Number(/(\d+)$/.exec(input)?.[1])

/**
 * An upload by its number; if it is no longer listed, the number is used, and the service reports that it does not
 * exist.
 */
async function uploadOf(number: number): Promise<Chosen> {
  const { uploads } = await listUploads({ state: 'ready' })
  const found = uploads.find(({ uploaded_file_number: each }) => each === number)
  const input = `${location.origin}/uploads/${number}`
  return { upload: found ?? { input, name: `Upload ${number}`, size: null } }
}

async function begin({ from, upload, isAudioOptional }: Omit<NewJobProps, 'preset'>): Promise<Beginning> {
  if (upload !== null) return { body: fresh(), chosen: [await uploadOf(upload)], joining: notJoined }
  if (from === null) return { body: fresh(), chosen: [], joining: notJoined }
  const { config, status } = await readJob(from)
  const stored = bodyOf(config)
  const body = isAudioOptional
    ? { ...stored, audioProfiles: stored.audioProfiles.map((profile) => ({ ...profile, optional: true })) }
    : stored
  const field = isAudioOptional ? undefined : status.error?.field
  if (!isOneStore(config)) return { ...withoutSources(body), isIncomplete: true, field }
  if (!isUpload(body)) return { body, chosen: [], joining: notJoined, field }
  const pieces = addressesOf(body) ?? [{ input: config.input }]
  const chosen = await Promise.all(pieces.map(({ input }) => uploadOf(numberOf(String(input)))))
  const keys = keysOf(chosen)
  const cuts = new Map(pieces.map(({ input: _input, ...members }, index) => [keys[index]!, members]))
  return { ...withoutSources(body), chosen, joining: { isOn: chosen.length > 1, cuts }, field }
}

function withoutSources(body: FormBody): Beginning {
  return { body: withMember(withInput(body, null), 'inputs', undefined), chosen: [], joining: notJoined }
}

export function NewJob({ from, upload, preset, isAudioOptional }: NewJobProps) {
  const [beginning, setBeginning] = useState<Beginning | null>(() =>
    from === null && upload === null
      ? { body: fresh(), chosen: takeDropped().map((transfer) => ({ transfer })), joining: notJoined }
      : null,
  )
  const [failure, setFailure] = useState<Failure | null>(null)
  useEffect(() => {
    if (from === null && upload === null) return
    begin({ from, upload, isAudioOptional }).then(setBeginning, (error: unknown) => setFailure(asError(error)))
  }, [from, upload])
  return (
    <>
      <div class="head line apart">
        <h1>{from === null ? 'Create job' : `Create job from job ${from}`}</h1>
      </div>
      {failure ? <ConnectionNotice failure={failure} /> : null}
      {beginning?.isIncomplete === true ? (
        <Notice kind="warning">
          <p>
            The sources of this job are in several stores, which this form cannot join. Choose them again, or use the
            API.
          </p>
        </Notice>
      ) : null}
      {beginning ? (
        <Form
          initial={beginning.body}
          chosen={beginning.chosen}
          joining={beginning.joining}
          from={from}
          preset={preset}
          field={beginning.field}
        />
      ) : failure ? null : (
        <Loading label={from === null ? 'Loading the upload' : 'Loading the job'} />
      )}
    </>
  )
}
