// In charge of: the presets of the service and of the account: starting a job from one, renaming and deleting one's own.
// Not in charge of: saving settings as a preset (../form/presets.tsx).
import { useEffect, useState } from 'preact/hooks'
import type { Preset } from '#contract/api/answers.ts'
import { asError, changePreset, deletePreset, listPresets, type Failure } from '../api/api.ts'
import { NameDialog } from '../form/presetName.tsx'
import { Confirm } from '../parts/confirm.tsx'
import { Icon } from '../parts/icon.tsx'
import { List } from '../parts/list.tsx'
import { Loading } from '../parts/loading.tsx'
import { ConnectionNotice } from '../parts/notice.tsx'
import { Link, PATHS } from '../parts/router.tsx'
import { formatAge, formatDateTime } from '../text/format.ts'

export function Presets() {
  const [presets, setPresets] = useState<readonly Preset[] | null>(null)
  const [failure, setFailure] = useState<Failure | null>(null)
  const [asking, setAsking] = useState<{ preset: Preset; about: 'rename' | 'delete' } | null>(null)
  const close = (): void => setAsking(null)
  const run = async (work: () => Promise<unknown>): Promise<void> => {
    setFailure(null)
    try {
      await work()
      close()
      setPresets(await listPresets())
    } catch (error) {
      setFailure(asError(error))
    }
  }
  const load = (): Promise<void> => run(() => Promise.resolve())
  useEffect(() => void load(), [])
  return (
    <>
      <div class="line apart">
        <h1>Presets</h1>
      </div>
      <p class="help">
        Output settings for everyone in this account, by name also in the API (<code>"preset"</code>). A new one is
        saved in the form: <Link to={PATHS.new}>choose the settings</Link>, then “Save as preset”.
      </p>
      {failure && asking === null ? <ConnectionNotice failure={failure} retry={() => void load()} /> : null}
      {presets === null ? (
        failure ? null : (
          <Loading label="Loading the presets" lines={5} />
        )
      ) : (
        <List heads={['Name', 'ID', 'Changed', '']}>
          {presets.map((preset) => (
            <Row key={preset.preset_id} of={preset} onAsk={(about) => setAsking({ preset, about })} />
          ))}
        </List>
      )}
      {asking?.about === 'rename' ? (
        <NameDialog
          title="Rename preset"
          action="Rename"
          name={asking.preset.name}
          description={asking.preset.description}
          failure={failure}
          onSave={(name, description) =>
            void run(() => changePreset(asking.preset.preset_id, { name, description, job: asking.preset.job }))
          }
          onClose={close}
        />
      ) : null}
      {asking?.about === 'delete' ? (
        <Confirm
          question={`Delete the preset “${asking.preset.name}”?`}
          consequence="Jobs that were created with it are not affected."
          action="Delete preset"
          onYes={() => void run(() => deletePreset(asking.preset.preset_id))}
          onNo={close}
        />
      ) : null}
    </>
  )
}

function Row({ of, onAsk }: { of: Preset; onAsk: (about: 'rename' | 'delete') => void }) {
  const { preset_id: id, name, description, built_in: isBuiltIn, updated_at: at } = of
  return (
    <li class="row">
      <div class="what">
        <strong>{name}</strong>
        <span class="help">{description}</span>
      </div>
      <div class="cells">
        <code class="help">{id}</code>
        {at === null ? (
          <span class="help">Built in</span>
        ) : (
          <time class="help" dateTime={at} title={formatDateTime(at)}>
            {formatAge(at, Date.now())}
          </time>
        )}
        <div class="line actions">
          {isBuiltIn ? null : (
            <>
              <button type="button" class="small quiet" title={`Rename ${name}`} onClick={() => onAsk('rename')}>
                <Icon name="edit" size={16} />
                <span class="hidden">Rename {name}</span>
              </button>
              <button type="button" class="small quiet" title={`Delete ${name}`} onClick={() => onAsk('delete')}>
                <Icon name="trash" size={16} />
                <span class="hidden">Delete {name}</span>
              </button>
            </>
          )}
          <Link to={`${PATHS.new}?preset=${encodeURIComponent(id)}`} class="button small">
            Create job<span class="hidden"> with {name}</span>
          </Link>
        </div>
      </div>
    </li>
  )
}
