// In charge of: the frame around every page: sign-in before all, navigation, titles, and where the focus goes.
import { useEffect, useRef } from 'preact/hooks'
import { Accounts } from './pages/accounts.tsx'
import { Job } from './pages/job.tsx'
import { Jobs } from './pages/jobs.tsx'
import { Keys } from './pages/keys.tsx'
import { Limits } from './pages/limits.tsx'
import { NewJob } from './pages/new.tsx'
import { SignIn } from './pages/sign-in.tsx'
import { Uploads } from './pages/uploads.tsx'
import { Link, PATHS, useRoute, type Route } from './router.tsx'
import { signOut, useSession } from './session.ts'

const titles: Readonly<Record<Route['page'], string>> = {
  jobs: 'Jobs',
  job: 'Job',
  new: 'New job',
  uploads: 'Uploads',
  keys: 'Keys',
  accounts: 'Accounts',
  limits: 'Limits',
  nowhere: 'Not found',
}

function Page({ route, visit }: { route: Route; visit: number }) {
  switch (route.page) {
    case 'jobs':
      // Each visit begins with the filters of its address.
      return <Jobs key={visit} initial={route.filters} />
    case 'job':
      return <Job key={route.id} id={route.id} />
    case 'new':
      return <NewJob key={visit} from={route.from} upload={route.upload} />
    case 'uploads':
      return <Uploads />
    case 'keys':
      return <Keys />
    case 'accounts':
      return <Accounts />
    case 'limits':
      return <Limits />
    case 'nowhere':
      return (
        <>
          <h1>Not found</h1>
          <p>
            There is no such page. <Link to="/">To the jobs</Link>
          </p>
        </>
      )
  }
}

export function App() {
  const { key, notice } = useSession()
  const { route, visit } = useRoute()
  const main = useRef<HTMLElement>(null)
  const signedIn = key !== null
  const title = signedIn ? `${titles[route.page]}${route.page === 'job' ? ` ${route.id}` : ''}` : 'Sign in'
  useEffect(() => void (document.title = `${title} · Splicepoint`), [title])
  // A reader of the screen is told of the new page, and Tab goes on from its top.
  useEffect(() => {
    if (visit > 0) main.current?.focus()
  }, [visit])
  if (!signedIn) return <SignIn notice={notice} />
  const skip = (event: MouseEvent) => {
    event.preventDefault()
    main.current?.focus()
  }
  return (
    <>
      <a class="skip" href="#main" onClick={skip}>
        Skip to the page
      </a>
      <header class="bar">
        <Link to="/" class="brand">
          <img src="/icon.svg" alt="" width="26" height="26" />
          Splicepoint
        </Link>
        <nav aria-label="Main">
          {(['jobs', 'new', 'uploads', 'keys', 'accounts', 'limits'] as const).map((page) => (
            <Link
              key={page}
              to={PATHS[page]}
              current={route.page === page || (page === 'jobs' && route.page === 'job')}
            >
              {titles[page]}
            </Link>
          ))}
        </nav>
        <a class="aside" href="/docs">
          API
        </a>
        <button type="button" class="quiet" onClick={() => signOut()}>
          Sign out
        </button>
      </header>
      <main id="main" ref={main} tabIndex={-1} aria-label={title}>
        <Page route={route} visit={visit} />
      </main>
    </>
  )
}
