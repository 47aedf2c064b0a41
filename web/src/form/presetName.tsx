// In charge of: asking for the name and the description of a preset.
import { useState } from 'preact/hooks'
import type { Failure } from '../api/api.ts'
import { Dialog } from '../parts/dialog.tsx'
import { ConnectionNotice } from '../parts/notice.tsx'

interface NameDialogProps {
  title: string
  action: string
  name: string
  description: string
  failure: Failure | null
  onSave: (name: string, description: string) => void
  onClose: () => void
}

export function NameDialog({ title, action, failure, onSave, onClose, ...before }: NameDialogProps) {
  const [name, setName] = useState(before.name)
  const [description, setDescription] = useState(before.description)
  return (
    <Dialog title={title} onClose={onClose}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault()
          event.stopPropagation()
          onSave(name.trim(), description.trim())
        }}
      >
        <label class="stack tight">
          Name
          <input
            type="text"
            required
            maxLength={80}
            value={name}
            onInput={(event) => setName(event.currentTarget.value)}
          />
        </label>
        <label class="stack tight">
          Description
          <input
            type="text"
            maxLength={500}
            placeholder="Optional"
            value={description}
            onInput={(event) => setDescription(event.currentTarget.value)}
          />
        </label>
        <p class="help">
          A preset keeps all output settings except the source, the destination’s credentials and metadata.
        </p>
        {failure ? <ConnectionNotice failure={failure} /> : null}
        <div class="line actions">
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class="primary">
            {action}
          </button>
        </div>
      </form>
    </Dialog>
  )
}
