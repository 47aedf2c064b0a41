// In charge of: the parts of the form, one below the other, and leading to the first thing that is not right.
// Not in charge of: judging and sending (sending.ts), single parts.
import { useRef, useState } from 'preact/hooks'
import { AUDIO_PROFILES, VIDEO_PROFILES } from '#contract/limits.ts'
import { withMember, withSource, type Body } from './body.ts'
import { Options } from './options.tsx'
import { Profiles } from './profiles.tsx'
import { audioInfos, videoInfos } from './schema.ts'
import { Send } from './send.tsx'
import { useSending } from './sending.ts'
import { Source } from './source.tsx'
import { offered, withPreset } from './start.ts'
import { Store } from './store.tsx'

interface FormProps {
  body: Body
  setBody: (body: Body) => void
  /** The earlier job that it began with. */
  from: number | null
}

export function Form({ body, setBody, from }: FormProps) {
  const [preset, setPreset] = useState(from === null ? (offered[0]?.id ?? '') : '')
  const form = useRef<HTMLFormElement>(null)
  const showFirst = () =>
    requestAnimationFrame(() => {
      const wrong = form.current?.querySelector<HTMLElement>('[aria-invalid="true"], .problem')
      wrong?.closest('details')?.setAttribute('open', '')
      const target = wrong?.matches('.problem')
        ? wrong.closest<HTMLElement>('[data-path]')?.querySelector('input')
        : wrong
      target?.focus()
      wrong?.scrollIntoView({ block: 'center' })
    })
  const sending = useSending(body, showFirst)
  const { problems } = sending
  const change = (next: Body) => {
    setBody(next)
    sending.forget()
  }
  const { input: source, output: destination } = body.cloud_credentials

  return (
    <form
      class="columns"
      ref={form}
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        void sending.send('create')
      }}
    >
      <div class="column">
        <section class="card" aria-labelledby="source">
          <h2 id="source">Source</h2>
          {from !== null && source['cloud_provider'] !== 'file-upload' ? (
            <p class="help">Keys and queries of addresses are not given back by the service: type them again.</p>
          ) : null}
          <Source
            input={body['input']}
            credentials={source}
            problems={problems}
            onInput={(input) => change(withMember(body, 'input', input))}
            onCredentials={(credentials) => change(withSource(body, credentials))}
          />
        </section>
        <section class="card" aria-labelledby="wish">
          <h2 id="wish">What should become of it?</h2>
          <fieldset class="presets">
            <legend class="hidden">Preset</legend>
            {offered.map((each) => (
              <label key={each.id} class="preset">
                <input
                  type="radio"
                  name="preset"
                  checked={preset === each.id}
                  onChange={() => {
                    setPreset(each.id)
                    change(withPreset(body, each))
                  }}
                />
                <strong>{each.title}</strong>
                <span class="help">{each.description}</span>
              </label>
            ))}
          </fieldset>
        </section>
        <section class="card" aria-labelledby="renditions">
          <h2 id="renditions">Renditions</h2>
          <Profiles
            list="videoProfiles"
            singular="Rendition"
            infos={videoInfos}
            first={['output', 'width', 'height', 'video_bitrate', 'video_bitrate_mode']}
            value={body.videoProfiles}
            bounds={VIDEO_PROFILES}
            fresh={{ output: '', width: 0, height: 720, video_bitrate: 2600 }}
            problems={problems}
            onChange={(videoProfiles) => change({ ...body, videoProfiles })}
          />
        </section>
        <section class="card" aria-labelledby="tracks">
          <h2 id="tracks">Sound</h2>
          {body.audioProfiles.length === 0 ? <p class="help">Without sound.</p> : null}
          <Profiles
            list="audioProfiles"
            singular="Track"
            infos={audioInfos}
            first={['audio_codec', 'audio_channels', 'audio_bitrate', 'source_stream']}
            value={body.audioProfiles}
            bounds={AUDIO_PROFILES}
            fresh={{ audio_codec: 'aac', audio_channels: '2', audio_bitrate: '128', source_stream: '1' }}
            problems={problems}
            onChange={(audioProfiles) => change({ ...body, audioProfiles })}
          />
        </section>
        <section class="card" aria-labelledby="destination">
          <h2 id="destination">Destination</h2>
          <Store
            side="output"
            value={destination}
            problems={problems}
            onChange={(output) => change({ ...body, cloud_credentials: { input: source, output } })}
          />
        </section>
        <section class="card" aria-labelledby="options">
          <h2 id="options">Options</h2>
          <Options body={body} problems={problems} onChange={(name, value) => change(withMember(body, name, value))} />
        </section>
      </div>
      <div class="column side">
        <Send body={body} sending={sending} />
      </div>
    </form>
  )
}
