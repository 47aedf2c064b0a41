// In charge of: keys of a list: / to its search, j and k through its rows. Enter opens a row, as it is a link.
import type { RefObject } from 'preact'
import { useEffect } from 'preact/hooks'

/** Writing goes before. */
const isWriting = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable || target.matches('input:not([type=checkbox], [type=radio]), select, textarea'))

export function useListKeys(list: RefObject<HTMLElement | null>, search: string): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      const { key, target, altKey, ctrlKey, metaKey } = event
      if (altKey || ctrlKey || metaKey || isWriting(target)) return
      if (key === '/') {
        const field = document.getElementById(search)
        if (field === null) return
        event.preventDefault()
        field.focus()
      }
      if (key === 'j' || key === 'k') {
        const links = [...(list.current?.querySelectorAll<HTMLElement>('.what a') ?? [])]
        const at = links.findIndex((link) => link.closest('li')?.contains(document.activeElement) === true)
        links[key === 'j' ? at + 1 : Math.max(0, at - 1)]?.focus()
      }
    }
    document.addEventListener('keydown', onKey)
    return () => document.removeEventListener('keydown', onKey)
  }, [list, search])
}
