// In charge of: the frame around every page: sign-in, navigation, titles, and focus.
// Not in charge of: the account menu (parts/accountMenu.tsx), uploads in progress (transfers/tray.tsx).
import { useEffect, useRef, useState } from 'preact/hooks'
import { lazyPage } from './parts/lazyPage.tsx'
import { Menu } from './parts/accountMenu.tsx'
import { Job } from './pages/job.tsx'
import { Jobs } from './pages/jobs.tsx'
import { NotFound } from './pages/notFound.tsx'
import { SignIn } from './pages/signIn.tsx'
import { Uploads } from './pages/uploads.tsx'
import { Icon, type IconName } from './parts/icon.tsx'
import { Link, PATHS, useRoute, type Route } from './parts/router.tsx'
import { useSession, type Scope } from './api/session.ts'
import { Tray } from './transfers/tray.tsx'

// These pages validate input with the service's own rules, which are most of the dashboard's script.
const NewJob = lazyPage(async () => (await import('./pages/new.tsx')).NewJob)
const Keys = lazyPage(async () => (await import('./pages/keys.tsx')).Keys)
const UsagePage = lazyPage(async () => (await import('./pages/usage.tsx')).UsagePage)
const Accounts = lazyPage(async () => (await import('./pages/accounts.tsx')).Accounts)
const Presets = lazyPage(async () => (await import('./pages/presets.tsx')).Presets)
const Webhooks = lazyPage(async () => (await import('./pages/webhooks.tsx')).Webhooks)
const Transcoders = lazyPage(async () => (await import('./pages/transcoders.tsx')).Transcoders)
const Limits = lazyPage(async () => (await import('./pages/limits.tsx')).Limits)
const Palette = lazyPage(async () => (await import('./parts/palette.tsx')).Palette)

const titles: Readonly<Record<Route['page'], string>> = {
  jobs: 'Jobs',
  job: 'Job',
  new: 'Create job',
  uploads: 'Uploads',
  presets: 'Presets',
  webhooks: 'Webhooks',
  transcoders: 'Transcoders',
  keys: 'API keys',
  accounts: 'Accounts',
  usage: 'Usage',
  limits: 'Limits',
  nowhere: 'Page not found',
}

/** An admin key cannot use jobs: those pages would only show errors. */
const navigation = {
  jobs: ['jobs', 'uploads', 'presets', 'webhooks', 'transcoders', 'usage', 'keys'],
  admin: ['keys', 'accounts', 'transcoders', 'usage'],
} as const

const icons: Readonly<Record<(typeof navigation)[Scope][number], IconName>> = {
  jobs: 'film',
  uploads: 'upload',
  presets: 'preset',
  webhooks: 'send',
  transcoders: 'machine',
  usage: 'chart',
  keys: 'key',
  accounts: 'people',
}

function Page({ route, visitCount, scope }: { route: Route; visitCount: number; scope: Scope }) {
  switch (route.page) {
    case 'jobs':
      // Each visit starts with the filters of its address.
      return <Jobs key={visitCount} initial={route.filters} />
    case 'job':
      return <Job key={route.id} id={route.id} />
    case 'new':
      return <NewJob key={visitCount} {...route} />
    case 'uploads':
      return <Uploads />
    case 'presets':
      return <Presets />
    case 'webhooks':
      return <Webhooks />
    case 'transcoders':
      return <Transcoders scope={scope} />
    case 'keys':
      return <Keys />
    case 'accounts':
      return <Accounts />
    case 'usage':
      return <UsagePage scope={scope} />
    case 'limits':
      return <Limits />
    case 'nowhere':
      return <NotFound />
  }
}

export function App() {
  const { key, scope, notice } = useSession()
  const { route, visitCount } = useRoute()
  const main = useRef<HTMLElement>(null)
  const signedIn = key !== null
  const title = signedIn ? `${titles[route.page]}${route.page === 'job' ? ` ${route.id}` : ''}` : 'Sign in'
  useEffect(() => void (document.title = `${title} · Splicepoint`), [title])
  // A screen reader announces the new page, and Tab continues at its top.
  useEffect(() => {
    if (visitCount > 0) main.current?.focus()
    // On a phone the navigation scrolls sideways.
    document.querySelector('nav [aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'nearest' })
  }, [visitCount])
  const [isFinding, setFinding] = useState(false)
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.key.toLowerCase() !== 'k' || event.altKey || event.ctrlKey === event.metaKey) return
      event.preventDefault()
      // A dialog keeps what it asks.
      setFinding((before) => !before && document.querySelector('dialog[open]') === null)
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [])
  if (!signedIn) return <SignIn notice={notice} />
  const skip = (event: MouseEvent) => {
    event.preventDefault()
    main.current?.focus()
  }
  return (
    <>
      <a class="skip" href="#main" onClick={skip}>
        Skip to content
      </a>
      <header class="bar">
        <Link to={scope === 'admin' ? PATHS.keys : PATHS.jobs} class="brand">
          <img src="/icon.svg" alt="" width="26" height="26" />
          <span class="word">Splicepoint</span>
        </Link>
        <nav aria-label="Main">
          {navigation[scope].map((page) => (
            <Link
              key={page}
              to={PATHS[page]}
              current={route.page === page || (page === 'jobs' && route.page === 'job')}
            >
              <Icon name={icons[page]} /> {titles[page]}
            </Link>
          ))}
        </nav>
        {scope === 'admin' || route.page === 'new' ? null : (
          <Link to={PATHS.new} class="button primary">
            <Icon name="plus" /> <span class="word">Create job</span>
          </Link>
        )}
        <button type="button" class="small quiet find" aria-keyshortcuts="Control+K" onClick={() => setFinding(true)}>
          <Icon name="search" size={16} /> Go to … <kbd>Ctrl K</kbd>
        </button>
        <Menu scope={scope} page={route.page} visitCount={visitCount} />
      </header>
      <main id="main" ref={main} tabIndex={-1} aria-label={title}>
        <Page route={route} visitCount={visitCount} scope={scope} />
      </main>
      <Tray page={route.page} />
      {isFinding ? (
        <Palette
          pages={[
            ...navigation[scope].map((page) => [PATHS[page], titles[page]] as const),
            ...(scope === 'admin' ? [] : [[PATHS.new, titles.new] as const]),
            [PATHS.limits, titles.limits],
          ]}
          searchesJobs={scope !== 'admin'}
          onClose={() => setFinding(false)}
        />
      ) : null}
    </>
  )
}
