// In charge of: the page for unknown addresses.
import { Empty } from '../parts/empty.tsx'
import { Link, PATHS } from '../parts/router.tsx'

export function NotFound() {
  return (
    <>
      <h1 class="hidden">Page not found</h1>
      <Empty icon="search" title="Page not found">
        <p>There is no page at this address. It may have been mistyped or moved.</p>
        <Link to={PATHS.jobs} class="button primary">
          Go to jobs
        </Link>
      </Empty>
    </>
  )
}
