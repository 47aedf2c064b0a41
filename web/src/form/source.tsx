// In charge of: the source: a file that is uploaded now or was before, or an address.
// Not in charge of: sending the file (parts/upload-box.tsx).
import { useState } from 'preact/hooks'
import type { Problem } from '#contract/errors.ts'
import { UploadBox, type Stage } from '../parts/upload-box.tsx'
import { problemAt, type Members } from './body.ts'
import { EarlierUploads } from './earlier-uploads.tsx'
import { Field } from './field.tsx'
import { jobInfos } from './schema.ts'
import { Store } from './store.tsx'

interface SourceProps {
  input: unknown
  credentials: Members
  onInput: (input: string) => void
  onCredentials: (credentials: Members) => void
  problems: readonly Problem[]
}

const FORMS: Readonly<Record<string, string>> = {
  http: 'https://example.com/film.mp4',
  aws: 's3://bucket/film.mp4',
  oracle: 'oci://namespace/bucket/film.mp4',
  gcloud: 'gs://bucket/film.mp4',
  'vendor-store': 'out/5f0c…/film.mp4, the location that the job’s outputs show',
}

export function Source({ input, credentials, onInput, onCredentials, problems }: SourceProps) {
  const provider = String(credentials['cloud_provider'])
  const info = jobInfos.get('input')
  const form = FORMS[provider]
  return (
    <>
      <Store side="input" value={credentials} problems={problems} onChange={onCredentials} />
      {provider === 'file-upload' ? (
        <Upload input={input} onInput={onInput} problem={problemAt(problems, 'input')} />
      ) : info ? (
        <Field
          info={{ ...info, label: 'Address', description: form ? `Like ${form}` : info.description }}
          path="input"
          value={input}
          problem={problemAt(problems, 'input')}
          onChange={(value) => onInput(typeof value === 'string' ? value : '')}
        />
      ) : null}
    </>
  )
}

interface UploadProps {
  input: unknown
  onInput: (input: string) => void
  problem: Problem | undefined
}

function Upload({ input, onInput, problem }: UploadProps) {
  const [stage, setStage] = useState<Stage | null>(null)
  const sending = stage !== null && !stage.done
  return (
    <div class="field" data-path="input">
      <UploadBox
        onStage={(next) => {
          setStage(next)
          if (next && !next.done) onInput('')
        }}
        onUploaded={(uploaded) => onInput(uploaded.input)}
      />
      <EarlierUploads input={typeof input === 'string' ? input : ''} onInput={onInput} disabled={sending} />
      <div aria-live="polite">
        {problem ? <p class="problem">{sending ? 'The file is still being sent.' : problem.message}</p> : null}
      </div>
    </div>
  )
}
