// In charge of: putting a text where it can be pasted from.
import { useState } from 'preact/hooks'
import { Icon } from './icon.tsx'

/** `what` is said to readers of the screen: "Copy the hash of film.mp4". */
export function Copy({ text, what }: { text: string; what: string }) {
  const [state, setState] = useState<'copied' | 'refused' | null>(null)
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text)
      setState('copied')
    } catch {
      // A page that is served without https has no clipboard; the text itself can be selected.
      setState('refused')
    }
  }
  const label = state === 'copied' ? `Copied ${what}` : `Copy ${what}`
  return (
    <>
      <button type="button" class="small quiet" aria-label={label} title={label} onClick={() => void copy()}>
        <Icon name={state === 'copied' ? 'check' : 'copy'} size={16} />
      </button>
      {state === 'refused' ? (
        <span class="help" role="alert">
          The browser does not let this page copy: select the text yourself.
        </span>
      ) : null}
    </>
  )
}
