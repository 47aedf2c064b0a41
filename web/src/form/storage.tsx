// In charge of: the fields that a store needs for reading or writing.
// Not in charge of: choosing its kind (source.tsx, settings.tsx).
import { PROVIDERS, rulesOf, type Provider } from '#contract/job/stores/registry.ts'
import type { Problem } from '#contract/errors.ts'
import { problemAt, withMember, type JobFields } from './model/formBody.ts'
import { Fields } from './field.tsx'
import { httpLabels, infoAt, type FieldInfo } from './model/schema.ts'

/** In the order in which people look for them: this computer, the web, their bucket, this service. */
const buckets = PROVIDERS.filter((name) => rulesOf(name).outputForm !== null && name !== 'http').toSorted()
const order: readonly Provider[] = ['file-upload', 'http', ...buckets, 'vendor-store']
const orders = { input: order, output: order.toReversed() }

export type Side = 'input' | 'output'

/** Providers that can be read from or written to. */
export const providersOf = (side: Side): { value: Provider; label: string }[] =>
  orders[side]
    .filter((name) => rulesOf(name).labels[side] !== '')
    .map((name) => ({ value: name, label: rulesOf(name).labels[side] }))

export const storeName = (side: Side, provider: unknown): string =>
  PROVIDERS.flatMap((name) => (name === provider ? [rulesOf(name).labels[side]] : [])).join('')

interface CredentialsProps {
  side: Side
  value: JobFields
  onChange: (value: JobFields) => void
  problems: readonly Problem[]
}

function infosFor(side: Side, provider: Provider): FieldInfo[] {
  return rulesOf(provider).members.flatMap((name) => {
    const info = infoAt(`cloud_credentials.${side}.${name}`)
    return info ? [{ ...info, ...(provider === 'http' ? httpLabels[name] : { description: '' }) }] : []
  })
}

export function Credentials({ side, value, onChange, problems }: CredentialsProps) {
  const provider = PROVIDERS.find((name) => name === value['cloud_provider'])
  const path = `cloud_credentials.${side}`
  const problem = problemAt(problems, path) ?? problemAt(problems, `${path}.cloud_provider`)
  const infos = provider === undefined ? [] : infosFor(side, provider)
  const fields = (
    <Fields
      infos={infos}
      at={path}
      members={value}
      problems={problems}
      onChange={(name, next) => onChange(withMember(value, name, next))}
    />
  )
  const wrong = infos.some(({ name }) => problemAt(problems, `${path}.${name}`))
  const given = infos.some(({ name }) => value[name] !== undefined)
  return (
    <>
      {problem ? <p class="problem">{problem.message}</p> : null}
      {infos.length === 0 ? null : provider === 'http' ? (
        // Most addresses need no credentials.
        <details open={wrong || given || undefined}>
          <summary>Password-protected address</summary>
          {fields}
        </details>
      ) : (
        fields
      )}
    </>
  )
}

interface ChooseStoreProps {
  side: Side
  legend: string
  value: JobFields
  onChoose: (provider: Provider) => void
}

/** One tab stop; the arrow keys move between the options. */
export function ChooseStore({ side, legend, value, onChoose }: ChooseStoreProps) {
  return (
    <fieldset class="segmented">
      <legend class="hidden">{legend}</legend>
      {providersOf(side).map(({ value: name, label }) => (
        <label key={name}>
          <input
            type="radio"
            name={`${side}-provider`}
            checked={value['cloud_provider'] === name}
            onChange={() => onChoose(name)}
          />
          <span>{label}</span>
        </label>
      ))}
    </fieldset>
  )
}
