// In charge of: the frame around every page: sign-in before all, navigation, titles, and where the focus goes.
import { useEffect, useRef } from 'preact/hooks'
import { Job } from './pages/job.tsx'
import { Jobs } from './pages/jobs.tsx'
import { Keys } from './pages/keys.tsx'
import { Limits } from './pages/limits.tsx'
import { NewJob } from './pages/new.tsx'
import { SignIn } from './pages/sign-in.tsx'
import { Link, useRoute, type Route } from './router.tsx'
import { signOut, useSession } from './session.ts'

const titles: Readonly<Record<Route['page'], string>> = {
  jobs: 'Jobs',
  job: 'Job',
  new: 'New job',
  keys: 'Keys',
  limits: 'Limits',
  nowhere: 'Not found',
}

function Page({ route }: { route: Route }) {
  switch (route.page) {
    case 'jobs':
      return <Jobs />
    case 'job':
      return <Job key={route.id} id={route.id} />
    case 'new':
      return <NewJob key={route.from} from={route.from} />
    case 'keys':
      return <Keys />
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
          <img src="/icon.svg" alt="" width="24" height="24" />
          Splicepoint
        </Link>
        <nav aria-label="Main">
          <Link to="/" current={route.page === 'jobs' || route.page === 'job'}>
            Jobs
          </Link>
          <Link to="/new" current={route.page === 'new'}>
            New job
          </Link>
          <Link to="/keys" current={route.page === 'keys'}>
            Keys
          </Link>
          <Link to="/limits" current={route.page === 'limits'}>
            Limits
          </Link>
        </nav>
        <button type="button" class="quiet" onClick={() => signOut()}>
          Sign out
        </button>
      </header>
      <main id="main" ref={main} tabIndex={-1} aria-label={title}>
        <Page route={route} />
      </main>
    </>
  )
}
