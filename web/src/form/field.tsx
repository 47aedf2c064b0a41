// In charge of: the fields of a form: label, control by kind, description and error message.
import { useContext, useId } from 'preact/hooks'
import type { Problem } from '#contract/errors.ts'
import { ApiNames } from './apiNames.ts'
import { problemAt, secretMembers, type JobFields } from './model/formBody.ts'
import { valueLabel, type FieldInfo } from './model/schema.ts'

interface FieldProps {
  info: FieldInfo
  /** Path in the body; problems refer to it. */
  path: string
  value: unknown
  onChange: (value: unknown) => void
  problem: Problem | undefined
  /** Called when the input is final: when the field loses focus. */
  onCommit?: () => void
  /** Replaces the values of the schema. */
  values?: readonly { value: string; label: string }[]
}

const asText = (value: unknown): string =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? String(value) : ''

/** The typed text as a number; text that is no number is kept for the schema to reject. */
function numberOf(text: string): unknown {
  return text.trim() === '' ? undefined : Number.isFinite(Number(text)) ? Number(text) : text
}

export function Field(props: FieldProps) {
  const { info, path, problem } = props
  const names = useContext(ApiNames)
  const id = useId()
  const help = info.description === '' ? '' : `${id}-help`
  const describedBy = `${problem ? `${id}-problem ` : ''}${help}`.trim()
  const control = <Control {...props} id={id} describedBy={describedBy} />
  const name = names ? <code class="help">{info.name}</code> : null
  const explained = (
    <>
      {problem ? (
        <p class="problem" id={`${id}-problem`}>
          {problem.message}
        </p>
      ) : null}
      {help === '' ? null : (
        <p class="help" id={help}>
          {info.description}
        </p>
      )}
    </>
  )
  if (isSwitch(info)) {
    return (
      <div class="stack tight" data-path={path}>
        <div class="check">
          {control}
          <label for={id}>{info.label}</label>
          {name}
        </div>
        {explained}
      </div>
    )
  }
  return (
    <div class="stack tight" data-path={path}>
      <label for={id}>{info.label}</label>
      {name}
      {control}
      {explained}
    </div>
  )
}

/** A yes/no field whose absence means one of the two. */
const isSwitch = ({ kind, preset }: FieldInfo): boolean => kind === 'flag' && typeof preset === 'boolean'

interface FieldsProps {
  infos: readonly FieldInfo[]
  /** Path in the body. Empty = top level. */
  at?: string
  members: JobFields
  problems: readonly Problem[]
  onChange: (name: string, value: unknown) => void
  /** Values to offer instead of those in the schema. */
  options?: Readonly<Record<string, FieldProps['values']>>
}

export function Fields({ infos, at = '', members, problems, onChange, options = {} }: FieldsProps) {
  return (
    <div class="fields">
      {infos.map((info) => {
        const path = at === '' ? info.name : `${at}.${info.name}`
        const values = options[info.name]
        return (
          <Field
            key={info.name}
            info={info}
            path={path}
            value={members[info.name]}
            problem={problemAt(problems, path)}
            onChange={(value) => onChange(info.name, value)}
            {...(values ? { values } : {})}
          />
        )
      })}
    </div>
  )
}

function Control({
  info,
  value,
  onChange,
  onCommit,
  problem,
  values,
  id,
  describedBy,
}: FieldProps & { id: string; describedBy: string }) {
  const common = {
    id,
    'aria-invalid': problem !== undefined,
    ...(describedBy === '' ? {} : { 'aria-describedby': describedBy }),
  }
  if (isSwitch(info)) {
    return (
      <input
        {...common}
        type="checkbox"
        checked={(value ?? info.preset) === true}
        onChange={({ currentTarget: { checked } }) => onChange(checked === info.preset ? undefined : checked)}
      />
    )
  }
  if (info.kind === 'flag') {
    return (
      <select
        {...common}
        value={asText(value)}
        onChange={({ currentTarget: { value: text } }) => onChange(text === '' ? undefined : text === 'true')}
      >
        <option value="">{valueLabel(info, '')}</option>
        <option value="true">Yes</option>
        <option value="false">No</option>
      </select>
    )
  }
  if (info.kind === 'choice') {
    const spell = (each: string) => valueLabel(info, each)
    const options = values ?? info.values.map((each) => ({ value: each, label: spell(each) }))
    const absent = info.preset === undefined ? 'Default' : `${spell(asText(info.preset))} (default)`
    return (
      <select {...common} value={asText(value)} onChange={(event) => onChange(event.currentTarget.value)}>
        {values ? null : <option value="">{absent}</option>}
        {options.map(({ value: each, label }) => (
          <option key={each} value={each}>
            {label}
          </option>
        ))}
      </select>
    )
  }
  if (info.name === 'private_key') {
    return (
      <textarea
        {...common}
        rows={3}
        autocomplete="off"
        spellcheck={false}
        value={asText(value)}
        onInput={(event) => onChange(event.currentTarget.value)}
      />
    )
  }
  const typed = {
    ...common,
    autocomplete: 'off',
    spellcheck: false,
    value: asText(value),
    onInput: ({ currentTarget: { value: text } }: { currentTarget: HTMLInputElement }) =>
      onChange(info.kind === 'number' ? numberOf(text) : text),
    ...(onCommit ? { onChange: onCommit } : {}),
  }
  if (secretMembers.some((name) => name === info.name)) return <input {...typed} type="password" />
  const inputMode = info.kind === 'number' ? 'decimal' : 'text'
  return <input {...typed} type="text" inputMode={inputMode} placeholder={asText(info.preset)} />
}
