// In charge of: choosing or dropping a file and sending it at once, with its progress.
// Not in charge of: how it is sent (upload.ts).
import { useEffect, useId, useRef, useState } from 'preact/hooks'
import { uploadFile, type Uploaded } from '../upload.ts'
import { bytes, quarter } from '../words.ts'
import { Icon } from './icon.tsx'
import { asError, Notice, type Failure } from './notice.tsx'
import { Bar } from './progress.tsx'

export interface Stage {
  file: File
  /** 0 to 1. */
  sent: number
  done: boolean
}

interface UploadBoxProps {
  onUploaded: (uploaded: Uploaded) => void
  /** Another file was chosen; what was uploaded before is no longer meant. */
  onStage?: ((stage: Stage | null) => void) | undefined
}

export function UploadBox({ onUploaded, onStage }: UploadBoxProps) {
  const id = useId()
  const [stage, setStage] = useState<Stage | null>(null)
  const [failure, setFailure] = useState<Failure | null>(null)
  const [over, setOver] = useState(false)
  const running = useRef<AbortController | null>(null)
  useEffect(() => () => running.current?.abort(), [])
  // The form around it may be changed while a file is on its way: what is called is what belongs to the form as it is then.
  const latest = useRef({ onUploaded, onStage })
  latest.current = { onUploaded, onStage }

  const enter = (next: Stage | null): void => {
    setStage(next)
    latest.current.onStage?.(next)
  }
  const take = async (file: File | undefined): Promise<void> => {
    if (!file) return
    running.current?.abort()
    setFailure(null)
    const stopped = new AbortController()
    running.current = stopped
    enter({ file, sent: 0, done: false })
    try {
      const uploaded = await uploadFile(file, (sent) => setStage({ file, sent, done: false }), stopped.signal)
      enter({ file, sent: 1, done: true })
      latest.current.onUploaded(uploaded)
    } catch (error) {
      if (stopped.signal.aborted) return
      enter(null)
      setFailure(asError(error))
    }
  }
  const drop = (event: DragEvent) => {
    event.preventDefault()
    setOver(false)
    void take(event.dataTransfer?.files[0])
  }
  const percent = stage ? Math.floor(stage.sent * 100) : 0

  return (
    <div class="upload-box">
      <div
        class={over ? 'drop over' : 'drop'}
        onDragOver={(event) => {
          event.preventDefault()
          setOver(true)
        }}
        onDragLeave={() => setOver(false)}
        onDrop={drop}
      >
        <Icon name="upload" size={28} />
        <div class="field">
          <label for={id}>Media file</label>
          <input
            id={id}
            type="file"
            accept="video/*,audio/*,.ts,.mxf,.mkv,.mov"
            aria-describedby={`${id}-help`}
            onChange={(event) => void take(event.currentTarget.files?.[0])}
          />
          <p class="help" id={`${id}-help`}>
            Choose a file or drop it here. It is sent at once, and goes on where it was when the line breaks.
          </p>
        </div>
        {stage ? (
          <Bar label={stage.done ? `${stage.file.name} is uploaded` : `Sending ${stage.file.name}`} percent={percent}>
            {bytes(stage.file.size)}
          </Bar>
        ) : null}
      </div>
      <p class="hidden" role="status">
        {stage ? `Upload of ${stage.file.name}: ${stage.done ? 'complete' : `${quarter(percent)} %`}.` : ''}
      </p>
      <div aria-live="polite">{failure ? <Notice kind="error">{failure.message}</Notice> : null}</div>
    </div>
  )
}
