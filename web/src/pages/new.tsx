// In charge of: the form for a new job: filled from a preset or from an earlier job, judged by the rules of the service
// itself, shown as it will be sent. Not in charge of: single parts of it (form/).
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { validateJob } from '#contract/job.ts'
import { AUDIO_PROFILES, VIDEO_PROFILES } from '#contract/limits.ts'
import { ApiError, createJob, readJob } from '../api.ts'
import { bodyOf, curlLine, problemAt, shownBody, withMember, type Body } from '../form/body.ts'
import { dryRun, type DryRun } from '../form/dry-run.ts'
import { Field } from '../form/field.tsx'
import { groups } from '../form/groups.ts'
import { presets, type Preset } from '../form/presets.ts'
import { Profiles } from '../form/profiles.tsx'
import { audioInfos, jobInfos, videoInfos } from '../form/schema.ts'
import { Source } from '../form/source.tsx'
import { Store } from '../form/store.tsx'
import { EstimateView } from '../parts/estimate.tsx'
import { asError, Notice, Trouble, type Failure } from '../parts/notice.tsx'
import { navigate } from '../router.tsx'
import { situation } from '../words.ts'

const stores = () => ({ input: { cloud_provider: 'file-upload' }, output: { cloud_provider: 'vendor-store' } })

function start(preset: Preset): Body {
  return { ...structuredClone(preset.body), cloud_credentials: stores() }
}

/** Presets that this version can carry out. */
const offered = presets.filter((preset) => {
  const judged = validateJob({ ...start(preset), input: '1' }, { baseUrl: location.origin })
  return judged.ok || judged.problems.every(({ code }) => code !== 'not_available')
})

export function NewJob({ from }: { from: number | null }) {
  const [body, setBody] = useState<Body | null>(from === null && offered[0] ? start(offered[0]) : null)
  const [failure, setFailure] = useState<Failure | null>(null)
  useEffect(() => {
    if (from === null) return
    readJob(from).then(
      ({ config }) => setBody(bodyOf(config)),
      (error: unknown) => setFailure(asError(error)),
    )
  }, [from])
  return (
    <>
      <h1>{from === null ? 'New job' : `Job ${from} again`}</h1>
      {failure ? <Trouble failure={failure} /> : null}
      {body ? (
        <Form body={body} setBody={setBody} from={from} />
      ) : failure ? null : (
        <div class="skeleton" role="status" aria-label="Loading the job" />
      )}
    </>
  )
}

interface FormProps {
  body: Body
  setBody: (body: Body) => void
  from: number | null
}

function Form({ body, setBody, from }: FormProps) {
  const [preset, setPreset] = useState(from === null ? (offered[0]?.id ?? '') : '')
  const [tried, setTried] = useState(false)
  const [busy, setBusy] = useState<'create' | 'dry' | null>(null)
  const [failure, setFailure] = useState<ApiError | Failure | null>(null)
  const [estimate, setEstimate] = useState<DryRun | null>(null)
  const form = useRef<HTMLFormElement>(null)
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
  const warnings = judged.ok ? judged.warnings : []
  // One wish has one name, so that sending it twice makes one job.
  const once = useMemo(() => crypto.randomUUID(), [body])

  const change = (next: Body) => {
    setBody(next)
    setFailure(null)
  }
  const set = (name: string, value: unknown) => change(withMember(body, name, value))
  const setCredentials = (side: 'input' | 'output', value: Record<string, unknown>) =>
    change({ ...body, cloud_credentials: { ...body.cloud_credentials, [side]: value } })

  const showFirst = () =>
    requestAnimationFrame(() => {
      const wrong = form.current?.querySelector<HTMLElement>('[aria-invalid="true"], .problem')
      wrong?.closest('details')?.setAttribute('open', '')
      const target = wrong?.matches('.problem')
        ? wrong.closest<HTMLElement>('[data-path]')?.querySelector('input')
        : wrong
      target?.focus()
      wrong?.scrollIntoView({ block: 'center' })
    })

  const submit = async (kind: 'create' | 'dry'): Promise<void> => {
    setTried(true)
    setFailure(null)
    if (!judged.ok) {
      showFirst()
      return
    }
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
      showFirst()
    }
    setBusy(null)
  }

  const choosePreset = (chosen: Preset) => {
    setPreset(chosen.id)
    const { input } = body
    change({ ...start(chosen), ...(input === undefined ? {} : { input }), cloud_credentials: body.cloud_credentials })
  }

  return (
    <form
      class="columns"
      ref={form}
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        void submit('create')
      }}
    >
      <div class="column">
        <section class="card" aria-labelledby="source">
          <h2 id="source">Source</h2>
          {from !== null && !upload ? (
            <p class="help">Keys and queries of addresses are not given back by the service: type them again.</p>
          ) : null}
          <Source
            input={body['input']}
            credentials={body.cloud_credentials.input}
            problems={problems}
            onInput={(input) => set('input', input)}
            onCredentials={(value) =>
              change(
                withMember(
                  { ...body, cloud_credentials: { ...body.cloud_credentials, input: value } },
                  'input',
                  undefined,
                ),
              )
            }
          />
        </section>
        <section class="card" aria-labelledby="wish">
          <h2 id="wish">What should become of it?</h2>
          <fieldset class="presets">
            <legend class="hidden">Preset</legend>
            {offered.map((each) => (
              <label key={each.id} class={preset === each.id ? 'preset chosen' : 'preset'}>
                <input type="radio" name="preset" checked={preset === each.id} onChange={() => choosePreset(each)} />
                <strong>{each.title}</strong>
                <span class="help">{each.description}</span>
              </label>
            ))}
          </fieldset>
        </section>
        <section class="card" aria-labelledby="renditions">
          <h2 id="renditions">Renditions</h2>
          <Profiles
            list="videoProfiles"
            singular="Rendition"
            infos={videoInfos}
            first={['output', 'width', 'height', 'video_bitrate', 'video_bitrate_mode']}
            value={body.videoProfiles}
            bounds={VIDEO_PROFILES}
            fresh={{ output: '', width: 0, height: 720, video_bitrate: 2600 }}
            problems={problems}
            onChange={(videoProfiles) => change({ ...body, videoProfiles })}
          />
        </section>
        <section class="card" aria-labelledby="tracks">
          <h2 id="tracks">Sound</h2>
          {body.audioProfiles.length === 0 ? <p class="help">Without sound.</p> : null}
          <Profiles
            list="audioProfiles"
            singular="Track"
            infos={audioInfos}
            first={['audio_codec', 'audio_channels', 'audio_bitrate', 'source_stream']}
            value={body.audioProfiles}
            bounds={AUDIO_PROFILES}
            fresh={{ audio_codec: 'aac', audio_channels: '2', audio_bitrate: '128', source_stream: '1' }}
            problems={problems}
            onChange={(audioProfiles) => change({ ...body, audioProfiles })}
          />
        </section>
        <section class="card" aria-labelledby="destination">
          <h2 id="destination">Destination</h2>
          <Store
            side="output"
            value={body.cloud_credentials.output}
            problems={problems}
            onChange={(value) => setCredentials('output', value)}
          />
        </section>
        <section class="card" aria-labelledby="options">
          <h2 id="options">Options</h2>
          {groups.map((group) => {
            const infos = group.fields.flatMap((name) => jobInfos.get(name) ?? [])
            if (infos.length === 0) return null
            const set_ = infos.filter(({ name }) => body[name] !== undefined).length
            const wrong = infos.some(({ name }) => problemAt(problems, name))
            return (
              <details key={group.id} open={wrong || undefined}>
                <summary>
                  {group.title} {set_ > 0 ? <span class="help">{set_} set</span> : null}
                </summary>
                <div class="fields">
                  {infos.map((info) => (
                    <Field
                      key={info.name}
                      info={info}
                      path={info.name}
                      value={body[info.name]}
                      problem={problemAt(problems, info.name)}
                      onChange={(value) => set(info.name, value)}
                    />
                  ))}
                </div>
              </details>
            )
          })}
        </section>
      </div>
      <div class="column side">
        <section class="card sticky" aria-labelledby="send">
          <h2 id="send">Send it</h2>
          <div class="actions">
            <button type="submit" class="primary" disabled={busy !== null}>
              {busy === 'create' ? 'Sending …' : 'Start the job'}
            </button>
            <button type="button" disabled={busy !== null} onClick={() => void submit('dry')}>
              {busy === 'dry' ? 'Estimating …' : 'Dry run'}
            </button>
          </div>
          <p class="help">A dry run tells what would be made and what it would take, and makes nothing.</p>
          <div aria-live="polite">
            {tried && found.length > 0 ? (
              <Notice kind="error">
                <p>{found.length === 1 ? 'One thing is' : `${found.length} things are`} not right yet:</p>
                <ul>
                  {found.slice(0, 5).map(({ field, message }) => (
                    <li key={field + message}>{message}</li>
                  ))}
                </ul>
              </Notice>
            ) : null}
            {failure ? <Trouble failure={failure} /> : null}
            {warnings.length > 0 ? (
              <Notice kind="warning">
                <ul>
                  {warnings.map(({ code, message }) => (
                    <li key={code + message}>{message}</li>
                  ))}
                </ul>
              </Notice>
            ) : null}
            {estimate ? <DryRunResult run={estimate} /> : null}
          </div>
          <details>
            <summary>The request as JSON</summary>
            <pre class="code" tabIndex={0} aria-label="The request as JSON">
              {shownBody(body)}
            </pre>
          </details>
          <details>
            <summary>The same with curl</summary>
            <pre class="code" tabIndex={0} aria-label="The request as a curl command">
              {curlLine(body, location.origin, false)}
            </pre>
          </details>
        </section>
      </div>
    </form>
  )
}

function DryRunResult({ run }: { run: DryRun }) {
  const { status } = run
  if (status.error) return <Trouble failure={status.error} />
  if (!status.estimate) return <p>{situation(status)}</p>
  return <EstimateView estimate={status.estimate} />
}
