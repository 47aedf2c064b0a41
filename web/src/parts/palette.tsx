// In charge of: the palette (Ctrl-K): a page by its name, a job by its number or what the list's search finds.
import { useEffect, useState } from 'preact/hooks'
import type { ListedJob } from '#contract/api/answers.ts'
import { listJobs } from '../api/api.ts'
import { addressOf, ALL } from '../api/jobFilters.ts'
import { sleep } from '../api/jobWatch.ts'
import { Dialog } from './dialog.tsx'
import { navigate } from './router.tsx'

const TYPING_MS = 200

type Entry = readonly [path: string, name: string]

interface PaletteProps {
  pages: readonly Entry[]
  searchesJobs: boolean
  onClose: () => void
}

export function Palette({ pages, searchesJobs, onClose }: PaletteProps) {
  const [text, setText] = useState('')
  const [found, setFound] = useState<readonly ListedJob[]>([])
  const wanted = text.trim()
  useEffect(() => {
    setFound([])
    if (wanted === '' || !searchesJobs) return
    const stopped = new AbortController()
    const search = async (): Promise<void> => {
      await sleep(TYPING_MS, stopped.signal)
      if (!stopped.signal.aborted) setFound((await listJobs({ search: wanted, limit: 6 }, stopped.signal)).jobs)
    }
    // Without an answer the pages are offered all the same.
    search().catch(() => undefined)
    return () => stopped.abort()
  }, [wanted])
  const entries: Entry[] = [
    ...pages.filter(([, name]) => name.toLowerCase().includes(wanted.toLowerCase())),
    ...found.map(({ _auto_generated_id_: id, status }): Entry => [`/jobs/${id}`, `${status.input_name} #${id}`]),
    ...(wanted === '' || !searchesJobs
      ? []
      : [[addressOf({ ...ALL, search: wanted }), `Search the jobs for “${wanted}”`] satisfies Entry]),
  ]
  const open = ([path]: Entry): void => {
    onClose()
    navigate(path)
  }
  const move = (event: KeyboardEvent): void => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step === undefined) return
    event.preventDefault()
    const places = [...(event.currentTarget as HTMLElement).querySelectorAll<HTMLElement>('input, li > button')]
    places.at((places.indexOf(document.activeElement as HTMLElement) + step) % places.length)?.focus()
  }
  return (
    <Dialog title="Go to" onClose={onClose}>
      <form
        class="stack"
        onKeyDown={move}
        onSubmit={(event) => {
          event.preventDefault()
          if (entries[0]) open(entries[0])
        }}
      >
        <input
          type="search"
          aria-label="Page or job"
          placeholder="A page, or a job’s number, file or metadata"
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
        <ul class="stack tight">
          {entries.map((entry) => (
            <li key={entry.join(' ')} class="stack">
              <button type="button" class="small quiet pick" onClick={() => open(entry)}>
                <span class="cut">{entry[1]}</span>
              </button>
            </li>
          ))}
        </ul>
        <p class="hidden" role="status">
          {entries.length} {entries.length === 1 ? 'match' : 'matches'}
        </p>
      </form>
    </Dialog>
  )
}
