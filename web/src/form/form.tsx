// In charge of: the layout of the form and its shared state: source, preset and settings on one side, the resulting
// outputs on the other; and moving the focus to the first problem.
// Not in charge of: the single parts.
import { isSegmented } from '#contract/containers.ts'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { builtInPresets } from '#contract/job/builtInPresets.ts'
import type { Preset } from '#contract/api/answers.ts'
import type { Problem } from '#contract/errors.ts'
import { ApiError, listPresets, asError } from '../api/api.ts'
import { currentTransfers, useTransfers } from '../transfers/store.ts'
import { useAnalyses, type Readable } from './model/sourceAnalysis.ts'
import { ApiNames } from './apiNames.ts'
import { bodyWith, withInput, type FormBody } from './model/formBody.ts'
import { createJobs, createJoinedJob } from './model/createJobs.ts'
import { isJoined, joinedBody, joinedSource, type Joining } from './model/joined.ts'
import { plannedProfiles } from './model/estimate.ts'
import { validateForm, providerOf, spoken } from './model/validate.ts'
import { ManagePresets, Presets } from './presets.tsx'
import { Request } from './request.tsx'
import { Settings } from './settings.tsx'
import { Source } from './source.tsx'
import { isUpload, sourcesOf, type Chosen } from './model/sources.ts'
import { Summary } from './summary.tsx'

interface FormProps {
  initial: FormBody
  chosen: readonly Chosen[]
  joining: Joining
  /** The earlier job whose settings it starts with. */
  from: number | null
  /** The preset to begin with. */
  preset: string | null
  /** The field to begin at. */
  field: string | undefined
}

/** The parts of the settings in which the text occurs, opened; all of them for none. */
function showParts(text: string): void {
  const wanted = text.trim().toLowerCase()
  for (const part of document.querySelectorAll<HTMLDetailsElement>('.part')) {
    part.hidden = !part.textContent.toLowerCase().includes(wanted)
    if (wanted !== '') part.open = !part.hidden
  }
}

/** Problems that are not shown before the user had time to fill in the field. */
const EARLY: readonly string[] = ['required', 'invalid_length']

export function Form({ initial, chosen: before, joining: beginning, from, preset, field: failed }: FormProps) {
  const [body, setBody] = useState(initial)
  const [joining, setJoining] = useState(beginning)
  // Uploads from an earlier visit that have no job yet are offered again.
  const [chosen, setChosen] = useState<readonly Chosen[]>(() =>
    before.length > 0 || from !== null
      ? before
      : currentTransfers().flatMap(({ id, order }) => (order === null ? [{ transfer: id }] : [])),
  )
  const [presets, setPresets] = useState<readonly Preset[]>(builtInPresets)
  const [presetId, setPresetId] = useState(from === null ? (builtInPresets[0]?.preset_id ?? null) : null)
  const [names, setNames] = useState(false)
  const [tried, setTried] = useState(false)
  const [busy, setBusy] = useState(false)
  const [failure, setFailure] = useState<unknown>(null)
  /** The complete address with its credentials, which may be read. */
  const [confirmed, setConfirmed] = useState<string | null>(null)
  const form = useRef<HTMLDivElement>(null)
  const readPresets = async (wanted: string | null): Promise<void> => {
    const all = await listPresets().catch(() => null)
    if (all === null) return
    setPresets(all)
    const found = all.find(({ preset_id: id }) => id === wanted)
    if (found) choose(found)
  }
  useEffect(() => void readPresets(preset), [])

  const transfers = useTransfers()
  const sources = useMemo(() => sourcesOf(body, chosen, transfers), [body, chosen, transfers])
  const judged = useMemo(() => validateForm(body, sources, joining, location.origin), [body, sources, joining])
  const right = judged.problems.length === 0
  const uploads = isUpload(body)
  const joined = isJoined(body, sources, joining)
  /** One for each job. */
  const jobs = joined ? [joinedSource(sources)] : sources
  const request = joined
    ? joinedBody(body, sources, joining, '')
    : uploads && sources[0]?.input != null
      ? withInput(body, sources[0].input)
      : body
  const addressKey = joined ? JSON.stringify(sources.map(({ key }) => key)) : (sources[0]?.key ?? null)
  const readable = jobs.flatMap(({ key, input }): Readable[] =>
    input !== null && (uploads || addressKey === confirmed)
      ? [{ key, members: joined ? { inputs: request['inputs'] } : { input } }]
      : [],
  )
  const analyses = useAnalyses(readable, right ? body : null)
  const [first] = jobs
  const source = first ? (analyses.get(first.key)?.source ?? null) : null
  const estimate = first ? (analyses.get(first.key)?.estimate ?? null) : null

  // What only the service can find: an upload that no longer exists, a source that it may not read.
  const answered = failure instanceof ApiError ? spoken(failure.problems, body) : []
  const all = [...judged.problems, ...answered]
  const problems = tried ? all : all.filter(({ code }) => !EARLY.includes(code))
  // One key per request, so that sending it twice makes one job.
  const once = useMemo(() => crypto.randomUUID(), [body, chosen, joining])
  const current = presets.find(({ preset_id: id }) => id === presetId) ?? null

  const change = (next: FormBody): void => {
    setBody(next)
    setFailure(null)
  }
  const choose = (preset: Preset): void => {
    setPresetId(preset.preset_id)
    change(bodyWith(preset.job, body))
  }
  const show = ({ field }: Pick<Problem, 'field'>): void => {
    requestAnimationFrame(() => {
      const places = [...(form.current?.querySelectorAll<HTMLElement>('[data-path]') ?? [])]
      const place =
        places.find((each) => each.dataset['path'] === field) ??
        places.find((each) => field.startsWith(each.dataset['path'] ?? '-'))
      const target =
        place?.querySelector<HTMLElement>('input, select, textarea, button') ??
        form.current?.querySelector<HTMLElement>('.problem')
      for (let around = place?.closest('details'); around; around = around.parentElement?.closest('details'))
        around.open = true
      target?.focus()
      target?.scrollIntoView({ block: 'center' })
    })
  }
  useEffect(() => {
    if (failed !== undefined) show({ field: failed })
  }, [])
  const create = async (): Promise<void> => {
    setTried(true)
    setFailure(null)
    const [wrong] = judged.problems
    if (wrong) return show(wrong)
    setBusy(true)
    try {
      if (joined) await createJoinedJob(sources, request, once)
      else await createJobs(sources, body, once)
    } catch (error) {
      setFailure(error)
      setBusy(false)
      const [found] = error instanceof ApiError ? error.problems : []
      if (found) show(found)
    }
  }

  return (
    <ApiNames.Provider value={names}>
      <div class="stack loose columns create" ref={form}>
        <section class="card stack" aria-labelledby="source">
          <h2 id="source">Source</h2>
          <Source
            body={body}
            onBody={change}
            selected={chosen}
            onChosen={(next) => {
              setChosen(next)
              setFailure(null)
            }}
            sources={sources}
            joining={joining}
            onJoining={(next) => {
              setJoining(next)
              setFailure(null)
            }}
            analyses={analyses}
            problems={problems}
            onAddress={() => setConfirmed(addressKey)}
            isRerun={from !== null}
          />
        </section>
        <section class="card stack" aria-labelledby="output-settings">
          <h2 id="output-settings">Output settings</h2>
          <Presets presets={presets} current={current} body={body} source={source} onChoose={choose} />
        </section>
        <div class="area-summary">
          <Summary
            sources={jobs}
            isJoined={joined}
            analyses={analyses}
            problems={tried ? all : []}
            warnings={judged.warnings}
            provider={providerOf(body)}
            busy={busy}
            failure={failure && answered.length === 0 ? asError(failure) : null}
            onCreate={() => void create()}
            onShow={show}
          />
        </div>
        <section class="card stack" aria-labelledby="customise">
          <div class="line apart">
            <h2 id="customise">Customise</h2>
            <input
              class="grow find-setting"
              type="search"
              aria-label="Find a setting"
              placeholder="Find a setting"
              onInput={(event) => showParts(event.currentTarget.value)}
            />
          </div>
          <Settings
            body={body}
            problems={problems}
            onChange={change}
            planned={
              estimate
                ? plannedProfiles(
                    estimate,
                    isSegmented({ ...body, output_container: body['output_container'] }),
                    body['output_container'],
                  )
                : []
            }
          />
          <ManagePresets
            body={body}
            current={current}
            onReset={choose}
            onChanged={(made) => {
              void readPresets(null)
              if (made) {
                setPresets((known) => [...known.filter(({ preset_id: id }) => id !== made.preset_id), made])
                setPresetId(made.preset_id)
              } else setPresetId(null)
            }}
          />
        </section>
        <Request body={request} names={names} onNames={setNames} />
      </div>
    </ApiNames.Provider>
  )
}
