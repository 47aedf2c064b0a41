// In charge of: choosing files or dropping them.
// Not in charge of: what happens with them.
import { useId, useRef, useState } from 'preact/hooks'
import { Icon } from './icon.tsx'

interface DropZoneProps {
  onFiles: (files: File[]) => void
  /** Smaller, shown next to files that are already chosen. */
  compact?: boolean
  problem?: string | undefined
}

export function DropZone({ onFiles, compact = false, problem }: DropZoneProps) {
  const id = useId()
  const input = useRef<HTMLInputElement>(null)
  const [over, setOver] = useState(false)
  const take = (list: FileList | null | undefined): void => {
    const files = [...(list ?? [])]
    if (files.length > 0) onFiles(files)
    // Allows choosing the same file again.
    if (input.current) input.current.value = ''
  }
  return (
    <div
      class={`${compact ? 'box line' : 'drop'}${over ? ' over' : ''}`}
      onDragOver={(event) => {
        event.preventDefault()
        setOver(true)
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault()
        setOver(false)
        take(event.dataTransfer?.files)
      }}
    >
      {compact ? null : (
        <>
          <Icon name="upload" size={32} />
          <strong>Drop video files here</strong>
        </>
      )}
      <input
        id={id}
        ref={input}
        class="hidden"
        type="file"
        multiple
        accept="video/*,audio/*,.ts,.mts,.m2ts,.mxf,.mkv,.mov"
        aria-describedby={`${id}-help${problem === undefined ? '' : ` ${id}-problem`}`}
        aria-invalid={problem !== undefined}
        onChange={(event) => take(event.currentTarget.files)}
      />
      <label for={id} class={compact ? 'button small' : 'button'}>
        {compact ? (
          <>
            <Icon name="plus" size={16} /> Add files
          </>
        ) : (
          'Choose files'
        )}
      </label>
      {compact ? <span class="help">or drop them here</span> : null}
      <p class={compact ? 'hidden' : 'help'} id={`${id}-help`}>
        MP4, MOV, MKV, MXF, TS and more, up to 100 GB each. Uploading starts at once.
      </p>
      {problem === undefined ? null : (
        <p class="problem" id={`${id}-problem`}>
          {problem}
        </p>
      )}
    </div>
  )
}
