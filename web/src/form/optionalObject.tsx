// In charge of: an object that a job has or not, as a switch with its fields below.
// Not in charge of: single fields (field.tsx).
import type { Problem } from '#contract/errors.ts'
import { Fields } from './field.tsx'
import { membersAt, withMember, type FormBody } from './model/formBody.ts'
import type { FieldInfo } from './model/schema.ts'

interface OptionalObjectProps {
  name: 'animated_preview' | 'waveform' | 'burn_in_captions'
  label: string
  help: string
  infos: ReadonlyMap<string, FieldInfo>
  body: FormBody
  problems: readonly Problem[]
  onChange: (body: FormBody) => void
}

/** An object that the job has or not, with its fields. */
export function OptionalObject({ name, label, help, infos, body, problems, onChange }: OptionalObjectProps) {
  const members = membersAt(body, name)
  const id = `with-${name}`
  return (
    <fieldset class="box stack profile" data-path={name}>
      <legend class="hidden">{label}</legend>
      <div class="stack tight">
        <div class="check">
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
