// In charge of: the source: new uploads, earlier uploads, or an address.
// Not in charge of: the details of each (sourceCard.tsx), sending files (../transfers/).
import { useEffect, useId, useState } from 'preact/hooks'
import { INPUTS } from '#contract/limits.ts'
import type { ListedUpload } from '#contract/api/answers.ts'
import type { Problem } from '#contract/errors.ts'
import { listUploads } from '../api/api.ts'
import { DropZone } from '../parts/dropZone.tsx'
import { upload } from '../transfers/store.ts'
import { IconButton } from '../transfers/progress.tsx'
import { formatAge, formatBytes } from '../text/format.ts'
import { runningTime } from '../text/mediaTerms.ts'
import type { Analysis } from './model/sourceAnalysis.ts'
import { problemAt, withMember, withSource, type FormBody, type JobFields } from './model/formBody.ts'
import {
  addressesOf,
  isJoined,
  JOINED,
  moved,
  pieceName,
  withAddresses,
  withAnotherAddress,
  type Joining,
} from './model/joined.ts'
import { Piece } from './pieces.tsx'
import { Field } from './field.tsx'
import { exampleOf } from './model/messages.ts'
import { infoAt } from './model/schema.ts'
import { SourceCard } from './sourceCard.tsx'
import { isUpload, keysOf, type Chosen, type Source as OneSource } from './model/sources.ts'
import { ChooseStore, Credentials } from './storage.tsx'

interface SourceProps {
  body: FormBody
  onBody: (body: FormBody) => void
  selected: readonly Chosen[]
  onChosen: (change: (selected: readonly Chosen[]) => readonly Chosen[]) => void
  sources: readonly OneSource[]
  joining: Joining
  onJoining: (joining: Joining) => void
  analyses: ReadonlyMap<string, Analysis>
  problems: readonly Problem[]
  /** Called when the address is complete and may be read. */
  onAddress: () => void
  /** Started from an earlier job, whose secrets are not known. */
  isRerun: boolean
}

export function Source(props: SourceProps) {
  const { body, onBody, selected, onChosen, sources, joining, onJoining, analyses, problems, onAddress, isRerun } =
    props
  const { input: credentials } = body.cloud_credentials
  const uploads = isUpload(body)
  const problem = problemAt(problems, 'input')
  const joined = isJoined(body, sources, joining)
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
      {uploads && sources.length > 1 ? (
        <JoinChoice isOn={joining.isOn} onChange={(isOn) => onJoining({ ...joining, isOn })} />
      ) : null}
      {joined ? <JoinedAnalysis analysis={analyses.get(JOINED)} /> : null}
      {sources.length === 0 || (!uploads && (joined || !sources.some(({ key }) => analyses.has(key)))) ? null : (
        <ul class="stack">
          {sources.map((source, index) => (
            <SourceCard
              key={source.key}
              source={source}
              analysis={ownAnalysis(analyses.get(source.key), joined)}
              onRemove={
                uploads
                  ? () => onChosen((before) => before.filter((_each, place) => keysOf(before)[place] !== source.key))
                  : null
              }
            >
              {joined && uploads ? (
                <Piece
                  name={source.name}
                  index={index}
                  count={sources.length}
                  members={joining.cuts.get(source.key) ?? {}}
                  problems={problems}
                  onChange={(members) =>
                    onJoining({ ...joining, cuts: new Map(joining.cuts).set(source.key, members) })
                  }
                  onMove={(by) => onChosen((before) => moved(before, keysOf(before).indexOf(source.key), by))}
                />
              ) : null}
            </SourceCard>
          ))}
        </ul>
      )}
      {uploads ? (
        <div class="stack" data-path="input">
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
            empty={sources.length === 0 || joined}
          />
        </div>
      ) : null}
    </>
  )
}

/** Joined sources are analysed together: the analysis of one alone was stopped. */
function ownAnalysis(analysis: Analysis | undefined, joined: boolean): Analysis | undefined {
  return analysis && joined ? { ...analysis, busy: false } : analysis
}

function JoinChoice({ isOn, onChange }: { isOn: boolean; onChange: (isOn: boolean) => void }) {
  return (
    <fieldset class="segmented">
      <legend class="hidden">What becomes of several sources</legend>
      {[
        { on: false, label: 'One job for each' },
        { on: true, label: 'Join in this order' },
      ].map(({ on, label }) => (
        <label key={label}>
          <input type="radio" name="join" checked={isOn === on} onChange={() => onChange(on)} />
          <span>{label}</span>
        </label>
      ))}
    </fieldset>
  )
}

function JoinedAnalysis({ analysis }: { analysis: Analysis | undefined }) {
  const seconds = analysis?.source?.duration_seconds ?? null
  if (analysis === undefined) return null
  const text = analysis.busy
    ? (analysis.phase ?? 'Analysing the joined sources …')
    : analysis.failure
      ? [analysis.failure.message, analysis.failure.advice].join(' ')
      : seconds === null
        ? 'The joined sources are analysed.'
        : `Joined: ${runningTime(seconds)}`
  return (
    <p class={analysis.failure && !analysis.busy ? 'problem' : 'help'} role="status">
      {text}
    </p>
  )
}

type AddressProps = Pick<SourceProps, 'body' | 'onBody' | 'problems' | 'onAddress' | 'isRerun' | 'analyses' | 'sources'>

function Address({ body, onBody, problems, onAddress, isRerun, analyses, sources }: AddressProps) {
  const { input: credentials } = body.cloud_credentials
  const provider = String(credentials['cloud_provider'])
  const info = infoAt('input')
  const pieces = addressesOf(body)
  const keys = pieces === null ? sources.map(({ key }) => key) : [JOINED]
  const busy = keys.some((key) => analyses.get(key)?.busy === true)
  if (!info) return null
  const addressInfo = {
    ...info,
    label: provider === 'http' ? 'Address' : 'Location',
    description: `For example ${exampleOf(provider) ?? ''}`,
  }
  const isEmpty = pieces === null ? !body['input'] : sources.length < pieces.length
  const analyse = (
    <button type="button" disabled={busy || isEmpty} onClick={onAddress}>
      {busy ? 'Analysing …' : pieces === null ? 'Analyse source' : 'Analyse sources'}
    </button>
  )
  return (
    <>
      {isRerun ? (
        <p class="help">The service does not return secrets. Enter passwords, keys and signed addresses again.</p>
      ) : null}
      {pieces === null ? (
        <div class="line">
          <div class="grow">
            <Field
              info={addressInfo}
              path="input"
              value={body['input']}
              problem={problemAt(problems, 'input')}
              onChange={(value) => onBody(withMember(body, 'input', value))}
              // Other providers need credentials first.
              {...(provider === 'http' ? { onCommit: onAddress } : {})}
            />
          </div>
          {analyse}
        </div>
      ) : (
        <ol class="stack">
          {pieces.map((piece, index) => {
            const name = pieceName(piece, index)
            const change = (members: JobFields) => onBody(withAddresses(body, pieces.with(index, members)))
            return (
              // oxlint-disable-next-line react/no-array-index-key -- a piece is its position; nothing else names it
              <li key={index} class="box line low">
                <Field
                  info={{ ...addressInfo, label: `${addressInfo.label} ${index + 1}`, description: '' }}
                  path={`inputs[${index}].input`}
                  value={piece['input']}
                  problem={problemAt(problems, `inputs[${index}].input`)}
                  onChange={(value) => change(withMember(piece, 'input', value))}
                />
                <Piece
                  name={name}
                  index={index}
                  count={pieces.length}
                  members={piece}
                  problems={problems}
                  onChange={change}
                  onMove={(by) => onBody(withAddresses(body, moved(pieces, index, by)))}
                />
                <IconButton
                  icon="close"
                  label={`Remove ${name}`}
                  onClick={() => onBody(withAddresses(body, pieces.toSpliced(index, 1)))}
                />
              </li>
            )
          })}
        </ol>
      )}
      <div class="line">
        <button
          type="button"
          class="add"
          disabled={(pieces?.length ?? 1) >= INPUTS.maximum}
          onClick={() => onBody(withAnotherAddress(body))}
        >
          Join with another source
        </button>
        {pieces === null ? null : analyse}
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
    <div class="line">
      <label class="help" for={id}>
        Or use an earlier upload
      </label>
      <select
        class="grow"
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
