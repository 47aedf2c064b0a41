// In charge of: the API key while its tab is open: in sessionStorage alone, gone with the tab or by signing out.
// Not in charge of: sending it (api.ts).
import { useEffect, useState } from 'preact/hooks'

const NAME = 'splicepoint.key'

export interface Session {
  key: string | null
  /** Why somebody who was signed in is asked again. */
  notice: string | null
}

let session: Session = { key: sessionStorage.getItem(NAME), notice: null }
const listeners = new Set<() => void>()

function change(next: Session): void {
  session = next
  for (const listener of listeners) listener()
}

export const currentKey = (): string | null => session.key

export function signIn(key: string): void {
  sessionStorage.setItem(NAME, key)
  change({ key, notice: null })
}

export function signOut(notice: string | null = null): void {
  sessionStorage.removeItem(NAME)
  change({ key: null, notice })
}

export function useSession(): Session {
  const [seen, setSeen] = useState(session)
  useEffect(() => {
    const listener = () => setSeen(session)
    listeners.add(listener)
    // It may have changed between the first render and now.
    listener()
    return () => void listeners.delete(listener)
  }, [])
  return seen
}
