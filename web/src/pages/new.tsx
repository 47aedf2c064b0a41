// In charge of: the page of a new job: what its form begins with.
// Not in charge of: the form (form/form.tsx).
import { useEffect, useState } from 'preact/hooks'
import { readJob } from '../api.ts'
import { bodyOf, type Body } from '../form/body.ts'
import { Form } from '../form/form.tsx'
import { offered, startOf } from '../form/start.ts'
import { Loading } from '../parts/loading.tsx'
import { asError, Trouble, type Failure } from '../parts/notice.tsx'

function begin(upload: number | null): Body | null {
  const [preset] = offered
  if (!preset) return null
  return { ...startOf(preset), ...(upload === null ? {} : { input: `${location.origin}/uploads/${upload}` }) }
}

/** `from` = number of an earlier job, `upload` = of a file. */
export function NewJob({ from, upload }: { from: number | null; upload: number | null }) {
  const [body, setBody] = useState(() => (from === null ? begin(upload) : null))
  const [failure, setFailure] = useState<Failure | null>(null)
  useEffect(() => {
    if (from === null) return
    readJob(from).then(
      ({ config }) => setBody(bodyOf(config)),
      (error: unknown) => setFailure(asError(error)),
    )
  }, [from])
  return (
    <>
      <div class="head">
        <h1>{from === null ? 'New job' : `Job ${from} again`}</h1>
      </div>
      {failure ? <Trouble failure={failure} /> : null}
      {body ? <Form body={body} setBody={setBody} from={from} /> : failure ? null : <Loading label="Loading the job" />}
    </>
  )
}
