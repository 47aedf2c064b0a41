// In charge of: the lists of renditions and of sound, each with the fields of its schema.
import type { Problem } from '#contract/errors.ts'
import { problemAt, withMember, type Members } from './body.ts'
import { Fields } from './field.tsx'
import type { FieldInfo } from './schema.ts'

interface ProfilesProps {
  list: 'videoProfiles' | 'audioProfiles'
  singular: string
  infos: ReadonlyMap<string, FieldInfo>
  /** The others are under "More". */
  first: readonly string[]
  value: readonly Members[]
  bounds: { minimum: number; maximum: number }
  /** A new one to start from. */
  fresh: Members
  onChange: (value: Members[]) => void
  problems: readonly Problem[]
}

export function Profiles(props: ProfilesProps) {
  const { list, singular, infos, first, value, bounds, fresh, onChange, problems } = props
  const problem = problemAt(problems, list)
  return (
    <>
      {value.map((profile, index) => {
        const path = `${list}[${index}]`
        const show = (shown: readonly FieldInfo[]) => (
          <Fields
            infos={shown}
            at={path}
            members={profile}
            problems={problems}
            onChange={(name, next) => onChange(value.with(index, withMember(profile, name, next)))}
          />
        )
        const all = [...infos.values()]
        const others = all.filter(({ name }) => !first.includes(name))
        const wrong = others.some(({ name }) => problemAt(problems, `${path}.${name}`))
        return (
          // oxlint-disable-next-line react/no-array-index-key -- a profile is its position; nothing else names it
          <fieldset key={index} class="profile">
            <legend>
              {singular} {index + 1}
            </legend>
            {show(all.filter(({ name }) => first.includes(name)))}
            <details open={wrong || undefined}>
              <summary>
                More<span class="hidden"> of {`${singular} ${index + 1}`}</span>
              </summary>
              {show(others)}
            </details>
            <button
              type="button"
              class="quiet remove"
              disabled={value.length <= bounds.minimum}
              aria-label={`Remove ${singular} ${index + 1}`}
              onClick={() => onChange(value.toSpliced(index, 1))}
            >
              Remove
            </button>
          </fieldset>
        )
      })}
      {problem ? <p class="problem">{problem.message}</p> : null}
      <button
        type="button"
        class="add"
        disabled={value.length >= bounds.maximum}
        onClick={() =>
          onChange([...value, { ...(value.at(-1) ?? fresh), ...('output' in fresh ? { output: '' } : {}) }])
        }
      >
        Add {singular.toLowerCase()}
      </button>
    </>
  )
}
