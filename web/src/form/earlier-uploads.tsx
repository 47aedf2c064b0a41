// In charge of: choosing a file that is with the service already.
import { useEffect, useId, useState } from 'preact/hooks'
import type { ListedUpload } from '#contract/answers.ts'
import { listUploads } from '../api.ts'
import { bytes } from '../words.ts'

interface EarlierUploadsProps {
  input: string
  onInput: (input: string) => void
  disabled: boolean
}

/** `/uploads/12`, the whole address and the bare number mean the same. */
const numberOf = (input: string): string => /(\d+)$/.exec(input)?.[1] ?? ''

export function EarlierUploads({ input, onInput, disabled }: EarlierUploadsProps) {
  const id = useId()
  const [uploads, setUploads] = useState<ListedUpload[]>([])
  // Once more when a file was sent: it is one of them then.
  useEffect(() => {
    const stopped = new AbortController()
    listUploads({ state: 'ready' }, stopped.signal).then(
      (page) => setUploads(page.uploads),
      // A convenience: the form goes without.
      () => undefined,
    )
    return () => stopped.abort()
  }, [input])
  const chosen = numberOf(input)
  const known = uploads.some(({ uploaded_file_number: number }) => String(number) === chosen)
  if (uploads.length === 0 && chosen === '') return null
  return (
    <div class="field">
      <label for={id}>Or a file that is here already</label>
      <select
        id={id}
        disabled={disabled}
        value={chosen}
        onChange={({ currentTarget: { value } }) => onInput(value === '' ? '' : `${location.origin}/uploads/${value}`)}
      >
        <option value="">None</option>
        {chosen !== '' && !known ? <option value={chosen}>Upload {chosen}</option> : null}
        {uploads.map(({ uploaded_file_number: number, name, size }) => (
          <option key={number} value={String(number)}>
            {name} ({bytes(size ?? 0)}, number {number})
          </option>
        ))}
      </select>
    </div>
  )
}
