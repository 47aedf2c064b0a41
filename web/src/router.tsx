// In charge of: which page an address shows, and going from one to another without loading anew.
// worker/routes/dashboard.ts answers the same addresses when they are reloaded.
import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'

export type Route =
  | { page: 'jobs' }
  | { page: 'job'; id: number }
  | { page: 'new'; from: number | null }
  | { page: 'keys' }
  | { page: 'limits' }
  | { page: 'nowhere' }

export function routeOf(address: URL): Route {
  const path = address.pathname.replace(/(?<=.)\/+$/, '')
  if (path === '/') return { page: 'jobs' }
  const id = /^\/jobs\/([1-9]\d{0,14})$/.exec(path)?.[1]
  if (id !== undefined) return { page: 'job', id: Number(id) }
  if (path === '/new') {
    const from = Number(address.searchParams.get('from'))
    return { page: 'new', from: Number.isInteger(from) && from > 0 ? from : null }
  }
  return path === '/keys' || path === '/limits' ? { page: path === '/keys' ? 'keys' : 'limits' } : { page: 'nowhere' }
}

export function navigate(path: string): void {
  history.pushState(null, '', path)
  dispatchEvent(new PopStateEvent('popstate'))
}

export function useRoute(): { route: Route; visit: number } {
  const [seen, setSeen] = useState(() => ({ route: routeOf(new URL(location.href)), visit: 0 }))
  useEffect(() => {
    const listener = () => setSeen(({ visit }) => ({ route: routeOf(new URL(location.href)), visit: visit + 1 }))
    addEventListener('popstate', listener)
    return () => removeEventListener('popstate', listener)
  }, [])
  return seen
}

interface LinkProps {
  to: string
  children: ComponentChildren
  class?: string
  current?: boolean
}

/** An ordinary link that stays in the page unless the person asks for a new tab. */
export function Link({ to, children, class: name, current }: LinkProps) {
  const follow = (event: MouseEvent) => {
    if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
    event.preventDefault()
    navigate(to)
    scrollTo(0, 0)
  }
  return (
    <a href={to} class={name} aria-current={current === true ? 'page' : undefined} onClick={follow}>
      {children}
    </a>
  )
}
