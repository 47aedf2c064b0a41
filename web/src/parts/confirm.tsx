// In charge of: asking before something that cannot be undone.
import { useEffect, useId, useRef } from 'preact/hooks'

interface ConfirmProps {
  question: string
  consequence: string
  action: string
  onYes: () => void
  onNo: () => void
}

/** The browser's own modal dialog: it keeps the focus inside, closes with Escape and gives the focus back. */
export function Confirm({ question, consequence, action, onYes, onNo }: ConfirmProps) {
  const dialog = useRef<HTMLDialogElement>(null)
  const title = useId()
  useEffect(() => {
    const opened = dialog.current
    const before = document.activeElement
    opened?.showModal()
    return () => {
      opened?.close()
      if (before instanceof HTMLElement) before.focus()
    }
  }, [])
  return (
    <dialog ref={dialog} aria-labelledby={title} onCancel={onNo}>
      <h2 id={title}>{question}</h2>
      <p>{consequence}</p>
      <div class="actions">
        <button type="button" onClick={onNo}>
          Keep it
        </button>
        <button type="button" class="danger" onClick={onYes}>
          {action}
        </button>
      </div>
    </dialog>
  )
}
