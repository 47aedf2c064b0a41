// In charge of: a button of the player with a menu of choices, by mouse, touch and keyboard (ARIA practices, menu button).
import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { Glyph, type GlyphName } from './glyph.tsx'

export interface Group {
  /** Heading of its choices, for a menu with several groups. */
  label: string
  selected: string
  items: readonly { id: string; label: string }[]
  onChoose: (id: string) => void
}

interface MenuProps {
  name: string
  icon: GlyphName
  /** Marked on the button: a choice other than the default is active. */
  on?: boolean
  groups: readonly Group[]
}

export function Menu({ name, icon, on, groups }: MenuProps) {
  const [open, setOpen] = useState(false)
  const root = useRef<HTMLDivElement>(null)
  const button = useRef<HTMLButtonElement>(null)
  const id = useId()
  const items = (): HTMLElement[] => [...(root.current?.querySelectorAll<HTMLElement>('[role=menuitemradio]') ?? [])]

  // Runs before the user can press anything else.
  useLayoutEffect(() => {
    if (!open) return
    const chosen = items().find((item) => item.ariaChecked === 'true')
    ;(chosen ?? items()[0])?.focus()
    const outside = (event: Event) => {
      if (event.target instanceof Node && !root.current?.contains(event.target)) setOpen(false)
    }
    document.addEventListener('pointerdown', outside)
    return () => document.removeEventListener('pointerdown', outside)
  }, [open])

  const close = (): void => {
    setOpen(false)
    button.current?.focus()
  }
  const keys = (event: KeyboardEvent): void => {
    if (!open) return
    const all = items()
    const at = all.indexOf(document.activeElement as HTMLElement)
    const to: Readonly<Record<string, number>> = {
      ArrowDown: (at + 1) % all.length,
      ArrowUp: (at - 1 + all.length) % all.length,
      Home: 0,
      End: all.length - 1,
    }
    // The player's own shortcuts use the same keys.
    event.stopPropagation()
    if (event.key === 'Escape') {
      event.preventDefault()
      close()
    } else if (event.key === 'Tab') setOpen(false)
    else if (event.key in to) {
      event.preventDefault()
      all[to[event.key] ?? 0]?.focus()
    }
  }
  return (
    <div class="player-menu" ref={root} onKeyDown={keys}>
      <button
        type="button"
        ref={button}
        class={on === true ? 'on' : ''}
        aria-label={name}
        title={name}
        aria-haspopup="menu"
        aria-expanded={open}
        aria-controls={open ? id : undefined}
        onClick={() => setOpen(!open)}
      >
        <Glyph name={icon} />
      </button>
      {open ? (
        <div id={id} role="menu" tabIndex={-1} aria-label={name} class="player-choices">
          {groups.map((group) => (
            <div key={group.label} role="group" aria-label={group.label}>
              {groups.length > 1 ? (
                <div class="player-legend" aria-hidden="true">
                  {group.label}
                </div>
              ) : null}
              {group.items.map((choice) => (
                <button
                  key={choice.id}
                  type="button"
                  role="menuitemradio"
                  tabIndex={-1}
                  aria-checked={choice.id === group.selected}
                  onClick={() => {
                    group.onChoose(choice.id)
                    close()
                  }}
                >
                  <span class="player-tick">{choice.id === group.selected ? <Glyph name="check" /> : null}</span>
                  {choice.label}
                </button>
              ))}
            </div>
          ))}
        </div>
      ) : null}
    </div>
  )
}
