// In charge of: which page an address shows, and navigation without reloading. worker/service/dashboardRoutes.ts serves
// the same addresses on a reload.
import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { filtersOf, type Filters } from '../api/jobFilters.ts'

export type Route =
  | { page: 'jobs'; filters: Filters }
  | { page: 'job'; id: number }
  /** Like an earlier job (`from`), also for a source that lacks its audio, of an uploaded file (`upload`), or with a preset. */
  | { page: 'new'; from: number | null; upload: number | null; preset: string | null; isAudioOptional: boolean }
  | { page: 'uploads' }
  | { page: 'presets' }
  | { page: 'webhooks' }
  | { page: 'transcoders' }
  | { page: 'keys' }
  | { page: 'accounts' }
  | { page: 'usage' }
  | { page: 'limits' }
  | { page: 'nowhere' }

/** `/uploads` itself is the API's. */
export const PATHS = {
  jobs: '/',
  new: '/new',
  uploads: '/files',
  presets: '/presets',
  webhooks: '/webhooks',
  transcoders: '/transcoders',
  keys: '/keys',
  accounts: '/accounts',
  usage: '/usage',
  limits: '/limits',
} as const

const LISTED = ['uploads', 'presets', 'webhooks', 'transcoders', 'keys', 'accounts', 'usage', 'limits'] as const

export function routeOf(address: URL): Route {
  const path = address.pathname.replace(/(?<=.)\/+$/, '')
  if (path === '/') return { page: 'jobs', filters: filtersOf(address.searchParams) }
  const id = /^\/jobs\/([1-9]\d{0,14})$/.exec(path)?.[1]
  if (id !== undefined) return { page: 'job', id: Number(id) }
  if (path === '/new') {
    const isAudioOptional = address.searchParams.get('audio') === 'optional'
    const preset = address.searchParams.get('preset')
    return {
      page: 'new',
      from: numberIn(address, 'from'),
      upload: numberIn(address, 'upload'),
      preset,
      isAudioOptional,
    }
  }
  return { page: LISTED.find((name) => path === PATHS[name]) ?? 'nowhere' }
}

function numberIn(address: URL, name: string): number | null {
  const number = Number(address.searchParams.get(name))
  return Number.isInteger(number) && number > 0 ? number : null
}

export function navigate(path: string): void {
  history.pushState(null, '', path)
  dispatchEvent(new PopStateEvent('popstate'))
}

export function useRoute(): { route: Route; visitCount: number } {
  const [seen, setSeen] = useState(() => ({ route: routeOf(new URL(location.href)), visitCount: 0 }))
  useEffect(() => {
    const listener = () =>
      setSeen(({ visitCount }) => ({ route: routeOf(new URL(location.href)), visitCount: visitCount + 1 }))
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

/** A plain link that navigates within the page unless the user opens a new tab. */
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
