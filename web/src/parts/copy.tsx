// In charge of: copying a text to the clipboard.
import { useEffect, useRef, useState } from 'preact/hooks'
import { Icon } from './icon.tsx'

interface CopyProps {
  text: string
  /** What is copied, for screen readers: "the SHA-256 of film.mp4". */
  what: string
  /** Shown on the button, next to the icon: "Copy link". */
  label?: string
}

/** How long the confirmation is shown. */
const SAID_MS = 4000

export function Copy({ text, what, label }: CopyProps) {
  const [state, setState] = useState<'copied' | 'refused' | null>(null)
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined)
  useEffect(() => () => clearTimeout(timer.current), [])
  const copy = async (): Promise<void> => {
    clearTimeout(timer.current)
    try {
      await navigator.clipboard.writeText(text)
      setState('copied')
      timer.current = setTimeout(() => setState(null), SAID_MS)
    } catch {
      // A page served without https has no clipboard; the text itself can be selected.
      setState('refused')
    }
  }
  const copied = state === 'copied'
  const name = copied ? `Copied ${what}` : `Copy ${what}`
  return (
    <>
      <button
        type="button"
        class={label === undefined ? 'small quiet' : 'small'}
        aria-label={name}
        title={name}
        onClick={() => void copy()}
      >
        <Icon name={copied ? 'check' : 'copy'} size={16} />
        {label === undefined ? null : copied ? 'Copied' : label}
      </button>
      <span class="hidden" role="status">
        {copied ? name : ''}
      </span>
      {state === 'refused' ? (
        <span class="help" role="alert">
          This browser does not allow the page to copy. Select the text and copy it yourself.
        </span>
      ) : null}
    </>
  )
}
