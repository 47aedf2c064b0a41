// In charge of: the filter form of the job list: text, state, time.
import type { ComponentChildren } from 'preact'
import { STATES, TIMES, type Filters } from '../api/jobFilters.ts'

/** The element that the key / leads to (../parts/listKeys.ts). */
export const SEARCH_FIELD = 'search-jobs'

interface SearchProps {
  filters: Filters
  onChange: (change: Partial<Filters>) => void
  /** Called on Enter in the text field. */
  onSubmit: () => void
}

export function Search({ filters, onChange, onSubmit }: SearchProps) {
  return (
    <form
      class="history"
      role="search"
      onSubmit={(event) => {
        event.preventDefault()
        onSubmit()
      }}
    >
      <div class="filters">
        <Labelled label="Search">
          <input
            type="search"
            id={SEARCH_FIELD}
            title="Press / to search"
            aria-keyshortcuts="/"
            placeholder="Number, job ID, file, address or metadata"
            maxLength={200}
            defaultValue={filters.search}
            onInput={(event) => onChange({ search: event.currentTarget.value.trim() })}
          />
        </Labelled>
        <Labelled label="Created">
          <select
            value={filters.created}
            onChange={({ currentTarget: { value } }) =>
              onChange({ created: TIMES.find(([each]) => each === value)?.[0] ?? '' })
            }
          >
            {TIMES.map(([value, label]) => (
              <option key={value} value={value}>
                {label}
              </option>
            ))}
          </select>
        </Labelled>
        {filters.created === 'dates'
          ? (['from', 'to'] as const).map((edge) => (
              <Labelled key={edge} label={edge === 'from' ? 'First day' : 'Last day'}>
                <input
                  type="date"
                  value={filters[edge]}
                  onChange={(event) => onChange({ [edge]: event.currentTarget.value })}
                />
              </Labelled>
            ))
          : null}
      </div>
      <fieldset class="tabs">
        <legend class="hidden">State</legend>
        {STATES.map(([value, label]) => (
          <label key={value}>
            <input
              type="radio"
              name="state"
              checked={filters.state === value}
              onChange={() => onChange({ state: value })}
            />
            <span>{label}</span>
          </label>
        ))}
      </fieldset>
    </form>
  )
}

function Labelled({ label, children }: { label: string; children: ComponentChildren }) {
  return (
    // oxlint-disable-next-line jsx-a11y/label-has-associated-control -- its only child is the control
    <label>
      <span>{label}</span>
      {children}
    </label>
  )
}
