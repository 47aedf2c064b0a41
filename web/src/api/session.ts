// In charge of: the API key of the signed-in user: in sessionStorage, until the tab closes; or in localStorage, until
// they sign out, if they chose to stay signed in.
// Not in charge of: sending it (api.ts).
import { useEffect, useState } from 'preact/hooks'

const NAME = 'splicepoint.key'
const SCOPE = 'splicepoint.scope'

/** `admin`: a key that manages keys and accounts and cannot use jobs. */
export type Scope = 'jobs' | 'admin'

export interface Session {
  key: string | null
  scope: Scope
  /** Why the user must sign in again. */
  notice: string | null
}

const stored = (name: string): string | null => sessionStorage.getItem(name) ?? localStorage.getItem(name)

function restored(): Session {
  return { key: stored(NAME), scope: stored(SCOPE) === 'admin' ? 'admin' : 'jobs', notice: null }
}

let session: Session = restored()
const listeners = new Set<() => void>()

function change(next: Session): void {
  session = next
  for (const listener of listeners) listener()
}

/** In both stores: a stored key must not outlive the one that replaced it. */
function forget(): void {
  for (const store of [sessionStorage, localStorage]) for (const name of [NAME, SCOPE]) store.removeItem(name)
}

export const currentKey = (): string | null => session.key

/** `keep`: stay signed in, in every tab of this browser, until signing out. */
export function signIn(key: string, scope: Scope = 'jobs', keep = false): void {
  forget()
  const store = keep ? localStorage : sessionStorage
  store.setItem(NAME, key)
  if (scope === 'admin') store.setItem(SCOPE, scope)
  change({ key, scope, notice: null })
}

export function signOut(notice: string | null = null): void {
  forget()
  change({ key: null, scope: 'jobs', notice })
}

// Signing in or out in another tab applies to this one too if the key is in localStorage.
addEventListener('storage', ({ storageArea, key }) => {
  if (storageArea === localStorage && (key === NAME || key === null)) change(restored())
})

/** Returns a function that ends the subscription. */
export function onSession(listener: (session: Session) => void): () => void {
  const notifyListeners = () => listener(session)
  listeners.add(notifyListeners)
  return () => void listeners.delete(notifyListeners)
}

export function useSession(): Session {
  const [seen, setSeen] = useState(session)
  useEffect(() => {
    const listener = () => setSeen(session)
    listeners.add(listener)
    // The session may have changed between the first render and now.
    listener()
    return () => void listeners.delete(listener)
  }, [])
  return seen
}
