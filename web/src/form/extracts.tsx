// In charge of: the part of the form for files that are made besides the renditions: stills, an animated preview, a
// waveform.
// Not in charge of: single fields (field.tsx).
import type { Problem } from '#contract/errors.ts'
import { STILLS } from '#contract/limits.ts'
import { listText, membersAt, stillsOf, textList, withMember, type FormBody } from './model/formBody.ts'
import { OptionalObject } from './optionalObject.tsx'
import { Profiles } from './profiles.tsx'
import { infosOf } from './model/schema.ts'

interface ExtractsProps {
  body: FormBody
  problems: readonly Problem[]
  onChange: (body: FormBody) => void
}

export function Extracts({ body, problems, onChange }: ExtractsProps) {
  const stills = stillsOf(body)
  return (
    <>
      <Profiles
        list="stills"
        singular="Set of stills"
        infos={infosOf('stills[]')}
        first={['at_seconds', 'every_seconds', 'count', 'width', 'format']}
        value={stills.map((each) => ({ ...each, at_seconds: listText(each['at_seconds']) }))}
        bounds={{ minimum: 0, maximum: STILLS.maximum }}
        initialProfile={{ count: 10, output: '' }}
        problems={problems}
        onChange={(value) => {
          const next = value.map((each) => withMember(each, 'at_seconds', textList(each['at_seconds'])))
          onChange(withMember(body, 'stills', next.length === 0 ? undefined : next))
        }}
      />
      <OptionalObject
        name="animated_preview"
        label="Animated preview"
        help="A short animation of several parts, without audio."
        infos={infosOf('animated_preview')}
        body={body}
        problems={problems}
        onChange={onChange}
      />
      <OptionalObject
        name="waveform"
        label="Waveform"
        help="The peaks of the audio, as data for players or as an image."
        infos={infosOf('waveform')}
        body={body}
        problems={problems}
        onChange={onChange}
      />
    </>
  )
}

/** For the title of the part. */
export function extractSummary(body: FormBody): string {
  const stills = stillsOf(body).length
  const named = [
    ...(stills === 0 ? [] : ['Stills']),
    ...(membersAt(body, 'animated_preview') === null ? [] : ['Animated preview']),
    ...(membersAt(body, 'waveform') === null ? [] : ['Waveform']),
  ]
  return named.join(', ') || 'None'
}
