// In charge of: asking before something that cannot be undone.
import { Dialog } from './dialog.tsx'

interface ConfirmProps {
  question: string
  consequence: string
  action: string
  /** What the other button says. */
  keep?: string
  onYes: () => void
  onNo: () => void
}

export function Confirm({ question, consequence, action, keep = 'Keep it', onYes, onNo }: ConfirmProps) {
  return (
    <Dialog title={question} onClose={onNo}>
      <p>{consequence}</p>
      <div class="actions">
        <button type="button" onClick={onNo}>
          {keep}
        </button>
        <button type="button" class="danger" onClick={onYes}>
          {action}
        </button>
      </div>
    </Dialog>
  )
}
