// In charge of: the account menu at the end of the header: less frequent pages, and signing out. It closes on Escape,
// on a click elsewhere and when a page is chosen.
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { Icon } from './icon.tsx'
import { Link, PATHS, type Route } from './router.tsx'
import { currentKey, signOut, type Scope } from '../api/session.ts'

/** What the list of keys shows of each. */
const KEY_ID = 15

interface MenuProps {
  scope: Scope
  page: Route['page']
  /** Changes with each visited page. */
  visitCount: number
}

export function Menu({ scope, page, visitCount }: MenuProps) {
  const [open, setOpen] = useState(false)
  const menu = useRef<HTMLDivElement>(null)
  const button = useRef<HTMLButtonElement>(null)
  useEffect(() => setOpen(false), [visitCount])
  // Before the menu is painted: a key pressed right after it opens must not be lost.
  useLayoutEffect(() => {
    if (!open) return
    const elsewhere = (event: Event) => {
      if (event.target instanceof Node && !menu.current?.contains(event.target)) setOpen(false)
    }
    const escape = (event: KeyboardEvent) => {
      if (event.key !== 'Escape') return
      setOpen(false)
      button.current?.focus()
    }
    // Focus as well as pointer: pressing Tab past the last entry closes it.
    const events = ['pointerdown', 'focusin'] as const
    for (const name of events) document.addEventListener(name, elsewhere)
    document.addEventListener('keydown', escape)
    return () => {
      for (const name of events) document.removeEventListener(name, elsewhere)
      document.removeEventListener('keydown', escape)
    }
  }, [open])
  return (
    <div class="menu" ref={menu}>
      <button
        type="button"
        class="quiet"
        ref={button}
        aria-label="Account"
        aria-expanded={open}
        aria-controls="account-menu"
        onClick={() => setOpen(!open)}
      >
        <Icon name="person" /> <span class="word">Account</span> <Icon name="down" size={14} />
      </button>
      <ul id="account-menu" class="stack tight menu-list" hidden={!open}>
        <li>
          <Link to={PATHS.limits} current={page === 'limits'}>
            Limits
          </Link>
        </li>
        <li>
          <a href="/docs">API reference</a>
        </li>
        <li class="stack menu-end">
          <span class="help">
            Signed in with {scope === 'admin' ? 'the admin key' : 'the API key'}{' '}
            <code>{currentKey()?.slice(0, KEY_ID)}…</code>
          </span>
          <button type="button" onClick={() => signOut()}>
            Sign out
          </button>
        </li>
      </ul>
    </div>
  )
}
