// In charge of: the lists of renditions, of audio tracks and of caption files, with the fields of their schema.
import type { Problem } from '#contract/errors.ts'
import { problemAt, withMember, type JobFields } from './model/formBody.ts'
import { Fields } from './field.tsx'
import { renameForHeight } from './model/renditionNames.ts'
import type { FieldInfo } from './model/schema.ts'

interface ProfilesProps {
  list: 'videoProfiles' | 'audioProfiles' | 'captions' | 'stills'
  singular: string
  infos: ReadonlyMap<string, FieldInfo>
  /** The others are under "More". */
  first: readonly string[]
  value: readonly JobFields[]
  bounds: { minimum: number; maximum: number }
  /** Initial values of a new entry. */
  initialProfile: JobFields
  onChange: (value: JobFields[]) => void
  problems: readonly Problem[]
}

/** Sets the member and updates the height in the name. */
function changed(profile: JobFields, name: string, value: unknown): JobFields {
  const next = withMember(profile, name, value)
  return name === 'height' ? withMember(next, 'output', renameForHeight(profile['output'], value)) : next
}

export function Profiles(props: ProfilesProps) {
  const { list, singular, infos, first, value, bounds, initialProfile, onChange, problems } = props
  const problem = problemAt(problems, list)
  // The descriptions are under "More"; rows would repeat them for each entry.
  const brief = [...infos.values()].map((info) => ({ ...info, description: '' }))
  return (
    <>
      {value.map((profile, index) => {
        const path = `${list}[${index}]`
        const own = problemAt(problems, path)
        const show = (shown: readonly FieldInfo[]) => (
          <Fields
            infos={shown}
            at={path}
            members={profile}
            problems={problems}
            onChange={(name, next) => onChange(value.with(index, changed(profile, name, next)))}
          />
        )
        const others = [...infos.values()].filter(({ name }) => !first.includes(name))
        const wrong = others.some(({ name }) => problemAt(problems, `${path}.${name}`))
        return (
          // oxlint-disable-next-line react/no-array-index-key -- a profile is its position; nothing else names it
          <fieldset key={index} class="box stack profile" data-path={path}>
            <legend>
              {singular} {index + 1}
            </legend>
            <button
              type="button"
              class="quiet small remove"
              disabled={value.length <= bounds.minimum}
              aria-label={`Remove ${singular.toLowerCase()} ${index + 1}`}
              onClick={() => onChange(value.toSpliced(index, 1))}
            >
              Remove
            </button>
            {own ? <p class="problem">{own.message}</p> : null}
            {show(brief.filter(({ name }) => first.includes(name)))}
            <details open={wrong || undefined}>
              <summary>
                More<span class="hidden"> settings of {`${singular.toLowerCase()} ${index + 1}`}</span>
              </summary>
              {show(others)}
            </details>
          </fieldset>
        )
      })}
      {problem ? <p class="problem">{problem.message}</p> : null}
      <button
        type="button"
        class="add"
        disabled={value.length >= bounds.maximum}
        onClick={() =>
          onChange([
            ...value,
            list === 'captions'
              ? initialProfile
              : { ...(value.at(-1) ?? initialProfile), ...('output' in initialProfile ? { output: '' } : {}) },
          ])
        }
      >
        Add {singular.toLowerCase()}
      </button>
    </>
  )
}
