// In charge of: the source: new uploads, earlier uploads, or an address.
// Not in charge of: the details of each (sourceCard.tsx), sending files (../transfers/).
import { useEffect, useId, useState } from 'preact/hooks'
import type { ListedUpload } from '#contract/api/answers.ts'
import type { Problem } from '#contract/errors.ts'
import { listUploads } from '../api/api.ts'
import { DropZone } from '../parts/dropZone.tsx'
import { upload } from '../transfers/store.ts'
import { formatAge, formatBytes } from '../text/format.ts'
import type { Analysis } from './model/sourceAnalysis.ts'
import { problemAt, withMember, withSource, type FormBody } from './model/formBody.ts'
import { Field } from './field.tsx'
import { exampleOf } from './model/messages.ts'
import { jobInfos } from './model/schema.ts'
import { SourceCard } from './sourceCard.tsx'
import { isUpload, type Chosen, type Source as OneSource } from './model/sources.ts'
import { ChooseStore, Credentials } from './storage.tsx'

interface SourceProps {
  body: FormBody
  onBody: (body: FormBody) => void
  selected: readonly Chosen[]
  onChosen: (change: (selected: readonly Chosen[]) => readonly Chosen[]) => void
  sources: readonly OneSource[]
  analyses: ReadonlyMap<string, Analysis>
  problems: readonly Problem[]
  /** Called when the address is complete and may be read. */
  onAddress: () => void
  /** Started from an earlier job, whose secrets are not known. */
  isRerun: boolean
}

export function Source(props: SourceProps) {
  const { body, onBody, selected, onChosen, sources, analyses, problems, onAddress, isRerun } = props
  const { input: credentials } = body.cloud_credentials
  const uploads = isUpload(body)
  const problem = problemAt(problems, 'input')
  return (
    <>
      <ChooseStore
        side="input"
        legend="Location of the source"
        value={credentials}
        onChoose={(provider) => onBody(withSource(body, { cloud_provider: provider }))}
      />
      {uploads ? null : (
        <Address
          body={body}
          onBody={onBody}
          problems={problems}
          onAddress={onAddress}
          isRerun={isRerun}
          analyses={analyses}
          sources={sources}
        />
      )}
      {sources.length === 0 || (!uploads && !sources.some(({ key }) => analyses.has(key))) ? null : (
        <ul class="source-cards">
          {sources.map((source, index) => (
            <SourceCard
              key={source.key}
              source={source}
              analysis={analyses.get(source.key)}
              onRemove={
                uploads
                  ? () => onChosen((before) => before.filter((each) => each !== chosenOf(before, source, index)))
                  : null
              }
            />
          ))}
        </ul>
      )}
      {uploads ? (
        <div class="field" data-path="input">
          <DropZone
            compact={sources.length > 0}
            problem={problem?.message}
            onFiles={(files) => {
              const ids = upload(files)
              onChosen((before) => [...before, ...ids.map((id) => ({ transfer: id }))])
            }}
          />
          <EarlierUploads
            selected={selected}
            onChoose={(found) => onChosen((before) => [...before, { upload: found }])}
            empty={sources.length === 0}
          />
        </div>
      ) : null}
    </>
  )
}

function chosenOf(all: readonly Chosen[], { key }: OneSource, _index: number): Chosen | undefined {
  return all.find((each) => ('upload' in each ? `upload:${each.upload.input}` : `transfer:${each.transfer}`) === key)
}

type AddressProps = Pick<SourceProps, 'body' | 'onBody' | 'problems' | 'onAddress' | 'isRerun' | 'analyses' | 'sources'>

function Address({ body, onBody, problems, onAddress, isRerun, analyses, sources }: AddressProps) {
  const { input: credentials } = body.cloud_credentials
  const provider = String(credentials['cloud_provider'])
  const info = jobInfos.get('input')
  const busy = sources.some(({ key }) => analyses.get(key)?.busy === true)
  if (!info) return null
  return (
    <>
      {isRerun ? (
        <p class="help">The service does not return secrets. Enter passwords, keys and signed addresses again.</p>
      ) : null}
      <div class="address-line">
        <Field
          info={{
            ...info,
            label: provider === 'http' ? 'Address' : 'Location',
            description: `For example ${exampleOf(provider) ?? ''}`,
          }}
          path="input"
          value={body['input']}
          problem={problemAt(problems, 'input')}
          onChange={(value) => onBody(withMember(body, 'input', value))}
          // Other providers need credentials first.
          {...(provider === 'http' ? { onCommit: onAddress } : {})}
        />
        <button type="button" disabled={busy || !body['input']} onClick={onAddress}>
          {busy ? 'Analysing …' : 'Analyse source'}
        </button>
      </div>
      <Credentials
        side="input"
        value={credentials}
        problems={problems}
        onChange={(next) => onBody(withSource(body, next))}
      />
    </>
  )
}

interface EarlierUploadsProps {
  selected: readonly Chosen[]
  onChoose: (upload: ListedUpload) => void
  /** Nothing is chosen yet: earlier uploads are one of two ways to start. */
  empty: boolean
}

/** Optional: without an answer the form works without the list. */
function EarlierUploads({ selected, onChoose, empty }: EarlierUploadsProps) {
  const id = useId()
  const [uploads, setUploads] = useState<ListedUpload[]>([])
  useEffect(() => {
    const stopped = new AbortController()
    listUploads({ state: 'ready' }, stopped.signal).then(
      (page) => setUploads(page.uploads),
      () => undefined,
    )
    return () => stopped.abort()
  }, [])
  const left = uploads.filter(({ input }) => !selected.some((each) => 'upload' in each && each.upload.input === input))
  if (!empty || left.length === 0) return null
  return (
    <div class="earlier">
      <label for={id}>Or use an earlier upload</label>
      <select
        id={id}
        value=""
        onChange={({ currentTarget: { value } }) => {
          const found = uploads.find(({ input }) => input === value)
          if (found) onChoose(found)
        }}
      >
        <option value="">Choose an upload</option>
        {left.map(({ input, name, size, created_at: at }) => (
          <option key={input} value={input}>
            {name} ({formatBytes(size ?? 0)}, {formatAge(at, Date.now())})
          </option>
        ))}
      </select>
    </div>
  )
}
