// In charge of: a modal dialog: the browser's own element, which traps the focus, closes on Escape and restores the
// focus.
import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef } from 'preact/hooks'
import { Icon } from './icon.tsx'

interface DialogProps {
  title: string
  children: ComponentChildren
  onClose: () => void
  /** Wide enough for a form or a list, with a close button. */
  wide?: boolean
}

export function Dialog({ title, children, onClose, wide }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null)
  const id = useId()
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
    <dialog
      ref={dialog}
      class={wide === true ? 'wide' : ''}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault()
        onClose()
      }}
    >
      <div class="stack">
        <h2 id={id}>{title}</h2>
        {children}
      </div>
      {wide === true ? (
        <button type="button" class="small quiet dialog-close" aria-label="Close" title="Close" onClick={onClose}>
          <Icon name="close" />
        </button>
      ) : null}
    </dialog>
  )
}
