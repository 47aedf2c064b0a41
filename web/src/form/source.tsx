// In charge of: the source: a file that is uploaded now, or an address.
import { useEffect, useId, useRef, useState } from 'preact/hooks'
import type { Problem } from '#contract/errors.ts'
import { asError, Notice, type Failure } from '../parts/notice.tsx'
import { Bar } from '../parts/progress.tsx'
import { uploadFile } from '../upload.ts'
import { bytes } from '../words.ts'
import { problemAt, type Members } from './body.ts'
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
      <Store
        side="input"
        value={credentials}
        problems={problems}
        onChange={(value) => {
          onInput('')
          onCredentials(value)
        }}
      />
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

type Stage = { file: File; sent: number; done: boolean } | null

function Upload({ input, onInput, problem }: UploadProps) {
  const id = useId()
  const [stage, setStage] = useState<Stage>(null)
  const [failure, setFailure] = useState<Failure | null>(null)
  const [over, setOver] = useState(false)
  const running = useRef<AbortController | null>(null)
  useEffect(() => () => running.current?.abort(), [])

  const take = async (file: File | undefined): Promise<void> => {
    if (!file) return
    running.current?.abort()
    setFailure(null)
    onInput('')
    const stopped = new AbortController()
    running.current = stopped
    setStage({ file, sent: 0, done: false })
    try {
      const uploaded = await uploadFile(file, (sent) => setStage({ file, sent, done: false }), stopped.signal)
      setStage({ file, sent: 1, done: true })
      onInput(uploaded.input)
    } catch (error) {
      if (stopped.signal.aborted) return
      setStage(null)
      setFailure(asError(error))
    }
  }
  const drop = (event: DragEvent) => {
    event.preventDefault()
    setOver(false)
    void take(event.dataTransfer?.files[0])
  }
  const known = typeof input === 'string' && input !== ''

  return (
    <div class="field" data-path="input">
      <div
        class={over ? 'drop over' : 'drop'}
        onDragOver={(event) => {
          event.preventDefault()
          setOver(true)
        }}
        onDragLeave={() => setOver(false)}
        onDrop={drop}
      >
        <label for={id}>Media file</label>
        <input
          id={id}
          type="file"
          accept="video/*,audio/*,.ts,.mxf,.mkv,.mov"
          aria-describedby={`${id}-help`}
          onChange={(event) => void take(event.currentTarget.files?.[0])}
        />
        <p class="help" id={`${id}-help`}>
          Choose a file or drop it here. It is sent at once.
        </p>
        {stage ? (
          <Bar
            label={stage.done ? `${stage.file.name} is uploaded` : `Sending ${stage.file.name}`}
            percent={Math.floor(stage.sent * 100)}
          >
            {bytes(stage.file.size)}
          </Bar>
        ) : known ? (
          <p>
            Uploaded before: <code>{input}</code>
          </p>
        ) : null}
      </div>
      <div aria-live="polite">
        {failure ? <Notice kind="error">{failure.message}</Notice> : null}
        {problem && !stage ? <p class="problem">Choose a file to upload first.</p> : null}
        {problem && stage && !stage.done ? <p class="problem">The file is still being sent.</p> : null}
      </div>
    </div>
  )
}
