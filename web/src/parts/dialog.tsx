// In charge of: a modal dialog: the browser's own, which keeps the focus inside, closes with Escape and gives the focus back.
import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef } from 'preact/hooks'
import { Icon } from './icon.tsx'

interface DialogProps {
  title: string
  children: ComponentChildren
  onClose: () => void
  /** Room for a form or a list, with a button that closes it. */
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
      <h2 id={id}>{title}</h2>
      {children}
      {wide === true ? (
        <button type="button" class="quiet dialog-close" aria-label="Close" title="Close" onClick={onClose}>
          <Icon name="close" />
        </button>
      ) : null}
    </dialog>
  )
}
