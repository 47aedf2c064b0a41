// In charge of: the part of the form for files that are made besides the renditions: stills, an animated preview, a
// waveform.
// Not in charge of: single fields (field.tsx).
import type { Problem } from '#contract/errors.ts'
import { STILLS } from '#contract/limits.ts'
import { Fields } from './field.tsx'
import { listText, membersAt, stillsOf, textList, withMember, type FormBody } from './model/formBody.ts'
import { Profiles } from './profiles.tsx'
import { previewInfos, stillsInfos, waveformInfos, type FieldInfo } from './model/schema.ts'

interface ExtractsProps {
  body: FormBody
  problems: readonly Problem[]
  onChange: (body: FormBody) => void
}

export function Extracts({ body, problems, onChange }: ExtractsProps) {
  const stills = stillsOf(body)
  return (
    <>
      <Profiles
        list="stills"
        singular="Set of stills"
        infos={stillsInfos}
        first={['at_seconds', 'every_seconds', 'count', 'width', 'format']}
        value={stills.map((each) => ({ ...each, at_seconds: listText(each['at_seconds']) }))}
        bounds={{ minimum: 0, maximum: STILLS.maximum }}
        initialProfile={{ count: 10, output: '' }}
        problems={problems}
        onChange={(value) => {
          const next = value.map((each) => withMember(each, 'at_seconds', textList(each['at_seconds'])))
          onChange(withMember(body, 'stills', next.length === 0 ? undefined : next))
        }}
      />
      <Optional
        name="animated_preview"
        label="Animated preview"
        help="A short animation of several parts, without audio."
        infos={previewInfos}
        body={body}
        problems={problems}
        onChange={onChange}
      />
      <Optional
        name="waveform"
        label="Waveform"
        help="The peaks of the audio, as data for players or as an image."
        infos={waveformInfos}
        body={body}
        problems={problems}
        onChange={onChange}
      />
    </>
  )
}

interface OptionalProps extends ExtractsProps {
  name: 'animated_preview' | 'waveform'
  label: string
  help: string
  infos: ReadonlyMap<string, FieldInfo>
}

/** An object that the job has or not, with its fields. */
function Optional({ name, label, help, infos, body, problems, onChange }: OptionalProps) {
  const members = membersAt(body, name)
  const id = `with-${name}`
  return (
    <fieldset class="profile" data-path={name}>
      <legend class="hidden">{label}</legend>
      <div class="field toggle">
        <div class="toggle-line">
          <input
            id={id}
            type="checkbox"
            checked={members !== null}
            aria-describedby={`${id}-help`}
            onChange={(event) => onChange(withMember(body, name, event.currentTarget.checked ? {} : undefined))}
          />
          <label for={id}>{label}</label>
        </div>
        <p class="help" id={`${id}-help`}>
          {help}
        </p>
      </div>
      {members === null ? null : (
        <Fields
          infos={[...infos.values()]}
          at={name}
          members={members}
          problems={problems}
          onChange={(field, value) => onChange({ ...body, [name]: withMember(members, field, value) })}
        />
      )}
    </fieldset>
  )
}

/** For the title of the part. */
export function extractSummary(body: FormBody): string {
  const stills = stillsOf(body).length
  const named = [
    ...(stills === 0 ? [] : ['Stills']),
    ...(membersAt(body, 'animated_preview') === null ? [] : ['Animated preview']),
    ...(membersAt(body, 'waveform') === null ? [] : ['Waveform']),
  ]
  return named.join(', ') || 'None'
}
