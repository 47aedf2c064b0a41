// In charge of: fields of a form: the label of each, its control by kind, its meaning and what is wrong with it.
import { useId } from 'preact/hooks'
import type { Problem } from '#contract/errors.ts'
import { problemAt, secretMembers, type Members } from './body.ts'
import type { FieldInfo } from './schema.ts'

interface FieldProps {
  info: FieldInfo
  /** Where it stands in the body: problems name it so. */
  path: string
  value: unknown
  onChange: (value: unknown) => void
  problem: Problem | undefined
  /** In place of what the schema says. */
  values?: readonly { value: string; label: string }[]
}

const asText = (value: unknown): string =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? String(value) : ''

/** What is typed, as the number that it is; anything else stays as it is, for the schema to judge. */
function numberOf(text: string): unknown {
  return text.trim() === '' ? undefined : Number.isFinite(Number(text)) ? Number(text) : text
}

export function Field(props: FieldProps) {
  const { info, path, problem } = props
  const id = useId()
  const describedBy = problem ? `${id}-help ${id}-problem` : `${id}-help`
  return (
    <div class={problem ? 'field wrong' : 'field'} data-path={path}>
      <label for={id}>
        {info.label} <code>{info.name}</code>
      </label>
      <Control {...props} id={id} describedBy={describedBy} />
      <p class="help" id={`${id}-help`}>
        {info.description}
      </p>
      {problem ? (
        <p class="problem" id={`${id}-problem`}>
          {problem.message}
        </p>
      ) : null}
    </div>
  )
}

interface FieldsProps {
  infos: readonly FieldInfo[]
  /** Where they stand in the body. Empty = at its top. */
  at?: string
  members: Members
  problems: readonly Problem[]
  onChange: (name: string, value: unknown) => void
  /** What is offered of a field in place of what the schema says. */
  offered?: Readonly<Record<string, FieldProps['values']>>
}

export function Fields({ infos, at = '', members, problems, onChange, offered = {} }: FieldsProps) {
  return (
    <div class="fields">
      {infos.map((info) => {
        const path = at === '' ? info.name : `${at}.${info.name}`
        const values = offered[info.name]
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
  problem,
  values,
  id,
  describedBy,
}: FieldProps & { id: string; describedBy: string }) {
  const common = { id, 'aria-describedby': describedBy, 'aria-invalid': problem !== undefined }
  if (info.kind === 'flag') {
    const absent = info.preset === undefined ? 'Not set' : `Default: ${info.preset === true ? 'yes' : 'no'}`
    return (
      <select
        {...common}
        value={asText(value)}
        onChange={({ currentTarget: { value: text } }) => onChange(text === '' ? undefined : text === 'true')}
      >
        <option value="">{absent}</option>
        <option value="true">Yes</option>
        <option value="false">No</option>
      </select>
    )
  }
  if (info.kind === 'choice') {
    const offered = values ?? info.values.map((each) => ({ value: each, label: each }))
    const absent = info.preset === undefined ? 'Not set' : `Default: ${asText(info.preset)}`
    return (
      <select {...common} value={asText(value)} onChange={(event) => onChange(event.currentTarget.value)}>
        {values ? null : <option value="">{absent}</option>}
        {offered.map(({ value: each, label }) => (
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
  }
  if (secretMembers.some((name) => name === info.name)) return <input {...typed} type="password" />
  const inputMode = info.kind === 'number' ? 'decimal' : 'text'
  return <input {...typed} type="text" inputMode={inputMode} placeholder={asText(info.preset)} />
}
