// In charge of: a confirmation dialog for what cannot be undone.
import { Dialog } from './dialog.tsx'

interface ConfirmProps {
  question: string
  consequence: string
  action: string
  /** Label of the other button. */
  keepLabel?: string
  onYes: () => void
  onNo: () => void
}

export function Confirm({ question, consequence, action, keepLabel = 'Keep it', onYes, onNo }: ConfirmProps) {
  return (
    <Dialog title={question} onClose={onNo}>
      <p>{consequence}</p>
      <div class="line actions">
        <button type="button" onClick={onNo}>
          {keepLabel}
        </button>
        <button type="button" class="danger" onClick={onYes}>
          {action}
        </button>
      </div>
    </Dialog>
  )
}
