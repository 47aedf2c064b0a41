// In charge of: choosing a preset of the service or of the account, with how it fits the source; saving the settings as
// a preset, changing and deleting it.
import { useState } from 'preact/hooks'
import type { Preset } from '#contract/api/answers.ts'
import type { SourceReport } from '#contract/task/dryRunEstimate.ts'
import { changePreset, createPreset, deletePreset, asError, type Failure } from '../api/api.ts'
import { Confirm } from '../parts/confirm.tsx'
import { ConnectionNotice } from '../parts/notice.tsx'
import { jobOfPreset, type FormBody } from './model/formBody.ts'
import { presetFit } from './model/presetFit.ts'
import { NameDialog } from './presetName.tsx'

interface PresetsProps {
  presets: readonly Preset[]
  /** null = settings of an earlier job. */
  current: Preset | null
  body: FormBody
  source: SourceReport | null
  onChoose: (preset: Preset) => void
}

export function Presets({ presets, current, source, onChoose, body }: PresetsProps) {
  const modified = current !== null && isModified(body, current)
  return (
    <fieldset class="presets">
      <legend class="hidden">Preset</legend>
      {presets.map((preset) => {
        const { reason, notes } = presetFit(preset.job, source)
        const chosen = preset.preset_id === current?.preset_id
        return (
          <label key={preset.preset_id} class={`box stack tight preset${reason === null ? '' : ' unfit'}`}>
            <input
              type="radio"
              name="preset"
              checked={chosen}
              disabled={reason !== null}
              onChange={() => onChoose(preset)}
            />
            <span class="line">
              <strong>{preset.name}</strong>
              {preset.built_in ? null : <span class="badge">Saved</span>}
              {chosen && modified ? <span class="badge dry">Modified</span> : null}
            </span>
            <span class="help">{preset.description}</span>
            {reason === null ? null : <span class="preset-note unfit">{reason}</span>}
            {notes.map((note) => (
              <span key={note} class="preset-note">
                {note}
              </span>
            ))}
          </label>
        )
      })}
    </fieldset>
  )
}

/** The order of members makes no difference. */
function isModified(body: FormBody, { job }: Preset): boolean {
  const sorted = (value: object) => JSON.stringify(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
  return sorted(jobOfPreset(body)) !== sorted({ videoProfiles: [], audioProfiles: [], ...job })
}

interface ManageProps {
  body: FormBody
  current: Preset | null
  /** Reloads the presets. `chosen`: the preset to choose then; null = none. */
  onChanged: (chosen: Preset | null) => void
  onReset: (preset: Preset) => void
}

type Question = 'save' | 'rename' | 'delete'

/** Shown below the settings: actions on presets. */
export function ManagePresets({ body, current, onChanged, onReset }: ManageProps) {
  const [asking, setAsking] = useState<Question | null>(null)
  const [failure, setFailure] = useState<Failure | null>(null)
  const own = current !== null && !current.built_in ? current : null
  const modified = current !== null && isModified(body, current)
  const close = () => {
    setAsking(null)
    setFailure(null)
  }
  const run = async (work: () => Promise<Preset | null>): Promise<void> => {
    setFailure(null)
    try {
      onChanged(await work())
      setAsking(null)
    } catch (error) {
      setFailure(asError(error))
    }
  }
  const job = jobOfPreset(body)
  return (
    <div class="line">
      <button type="button" onClick={() => setAsking('save')}>
        Save as preset
      </button>
      {own && modified ? (
        <button
          type="button"
          onClick={() =>
            void run(() => changePreset(own.preset_id, { name: own.name, description: own.description, job }))
          }
        >
          Update “{own.name}”
        </button>
      ) : null}
      {current && modified ? (
        <button type="button" class="quiet" onClick={() => onReset(current)}>
          Discard changes
        </button>
      ) : null}
      {own ? (
        <>
          <button type="button" class="quiet" onClick={() => setAsking('rename')}>
            Rename
          </button>
          <button type="button" class="quiet" onClick={() => setAsking('delete')}>
            Delete preset
          </button>
        </>
      ) : null}
      {failure && asking === null ? <ConnectionNotice failure={failure} /> : null}
      {asking === 'save' ? (
        <NameDialog
          title="Save as preset"
          action="Save preset"
          name=""
          description=""
          failure={failure}
          onSave={(name, description) => void run(() => createPreset({ name, description, job }))}
          onClose={close}
        />
      ) : null}
      {asking === 'rename' && own ? (
        <NameDialog
          title="Rename preset"
          action="Rename"
          name={own.name}
          description={own.description}
          failure={failure}
          onSave={(name, description) =>
            void run(() => changePreset(own.preset_id, { name, description, job: own.job }))
          }
          onClose={close}
        />
      ) : null}
      {asking === 'delete' && own ? (
        <Confirm
          question={`Delete the preset “${own.name}”?`}
          consequence="Jobs that were created with it are not affected."
          action="Delete preset"
          onYes={() =>
            void run(async () => {
              await deletePreset(own.preset_id)
              return null
            })
          }
          onNo={close}
        />
      ) : null}
    </div>
  )
}
