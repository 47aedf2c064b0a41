// In charge of: choosing a kind of store and giving what it needs. Not in charge of: uploads (source.tsx).
import { isProviderAvailable } from '#contract/availability.ts'
import type { Problem } from '#contract/errors.ts'
import { PROVIDERS, type Provider } from '#contract/request.ts'
import { problemAt, withMember, type Members } from './body.ts'
import { Fields } from './field.tsx'
import { credentialInfos } from './schema.ts'

const names: Readonly<Record<Provider, { input: string; output: string }>> = {
  'file-upload': { input: 'Upload a file', output: '' },
  http: { input: 'Web address', output: 'Web address (PUT)' },
  aws: { input: 'S3 bucket', output: 'S3 bucket' },
  oracle: { input: 'Oracle bucket', output: 'Oracle bucket' },
  gcloud: { input: 'Google bucket', output: 'Google bucket' },
  'vendor-store': { input: 'An output of an earlier job', output: 'The service’s own store' },
}

/** As people look for them. */
const order: readonly Provider[] = ['file-upload', 'http', 'aws', 'gcloud', 'oracle', 'vendor-store']
const offered = { input: order, output: order.toReversed() }

/** Which members mean something to which provider (specification 2.3). */
const members: Readonly<Record<Provider, readonly string[]>> = {
  'file-upload': [],
  'vendor-store': [],
  http: ['access_key', 'secret_key'],
  aws: ['access_key', 'secret_key', 'region', 'session_token', 'endpoint'],
  oracle: ['region', 'access_key', 'secret_key', 'tenancy_ocid', 'user_ocid', 'oci_fingerprint', 'private_key'],
  gcloud: ['access_key', 'secret_key', 'client_email', 'private_key', 'private_key_id', 'project_id', 'client_id'],
}

interface StoreProps {
  side: 'input' | 'output'
  value: Members
  onChange: (value: Members) => void
  problems: readonly Problem[]
}

export function Store({ side, value, onChange, problems }: StoreProps) {
  const provider = PROVIDERS.find((name) => name === value['cloud_provider'])
  const path = `cloud_credentials.${side}`
  const problem = problemAt(problems, path) ?? problemAt(problems, `${path}.cloud_provider`)
  const infos = credentialInfos[side]
  return (
    <>
      <fieldset class="choices">
        <legend>{side === 'input' ? 'Where is it?' : 'Where should the outputs go?'}</legend>
        {offered[side]
          .filter((name) => names[name][side] !== '' && isProviderAvailable(side, name))
          .map((name) => (
            <label key={name} class="choice">
              <input
                type="radio"
                name={`${side}-provider`}
                checked={provider === name}
                onChange={() => onChange({ cloud_provider: name })}
              />
              {names[name][side]}
            </label>
          ))}
      </fieldset>
      {problem ? <p class="problem">{problem.message}</p> : null}
      <Fields
        infos={(provider === undefined ? [] : members[provider]).flatMap((name) => infos.get(name) ?? [])}
        at={path}
        members={value}
        problems={problems}
        onChange={(name, next) => onChange(withMember(value, name, next))}
      />
    </>
  )
}
