// In charge of: all settings that a preset decides, collapsed at first, each part with a summary of its values.
import type { ComponentChildren } from 'preact'
import type { Problem } from '#contract/errors.ts'
import { AUDIO_CODECS, audioRules } from '#contract/codecs.ts'
import { AUDIO_PROFILES, CAPTIONS, VIDEO_PROFILES } from '#contract/limits.ts'
import { Icon } from '../parts/icon.tsx'
import { membersAt, withMember, type FormBody, type JobFields } from './model/formBody.ts'
import { Extracts, extractSummary } from './extracts.tsx'
import { Fields } from './field.tsx'
import { fieldsOfGroup } from '#contract/job/fields/job.ts'
import { Metadata } from './metadata.tsx'
import { OptionalObject } from './optionalObject.tsx'
import { Profiles } from './profiles.tsx'
import { infoAt, infosOf, valueLabel, type FieldInfo } from './model/schema.ts'
import { ChooseStore, Credentials, storeName } from './storage.tsx'
import type { FieldGroup } from '#contract/job/fields/field.ts'

interface SettingsProps {
  body: FormBody
  problems: readonly Problem[]
  onChange: (body: FormBody) => void
  /** The profiles of the automatic ladder for this source; empty = not known yet. */
  planned: readonly JobFields[]
}

const jobInfosOf = (names: readonly string[]): FieldInfo[] => names.flatMap((name) => infoAt(name) ?? [])
const renditionFields = fieldsOfGroup('renditions')
const audioFields = fieldsOfGroup('audio')
const destinationFields = fieldsOfGroup('destination')

export function Settings({ body, problems, onChange, planned }: SettingsProps) {
  const set = (name: string, value: unknown) => onChange(withMember(body, name, value))
  const fieldsOf = (infos: readonly FieldInfo[]) => (
    <Fields infos={infos} members={body} problems={problems} onChange={set} />
  )
  const { input: source, output: destination } = body.cloud_credentials
  return (
    <div class="box accordion">
      <Part
        id="renditions"
        title="Renditions"
        summary={renditionSummary(body)}
        hasProblem={isWrong(problems, ['videoProfiles', ...renditionFields])}
      >
        <Ladder body={body} onChange={onChange} planned={planned} />
        {body['ladder'] === 'auto' ? null : (
          <>
            {body.videoProfiles.length === 0 ? <p class="help">The job makes no video, only audio.</p> : null}
            <Profiles
              list="videoProfiles"
              singular="Rendition"
              infos={infosOf('videoProfiles[]')}
              first={['output', 'width', 'height', 'video_bitrate', 'video_bitrate_mode']}
              value={body.videoProfiles}
              bounds={VIDEO_PROFILES}
              initialProfile={FRESH}
              problems={problems}
              onChange={(videoProfiles) => onChange({ ...body, videoProfiles })}
            />
            {fieldsOf(jobInfosOf(renditionFields))}
          </>
        )}
      </Part>
      <Part
        id="audio"
        title="Audio"
        summary={audioSummary(body)}
        hasProblem={isWrong(problems, ['audioProfiles', ...audioFields])}
      >
        {body.audioProfiles.length === 0 ? <p class="help">The outputs have no audio.</p> : null}
        <Profiles
          list="audioProfiles"
          singular="Audio track"
          infos={infosOf('audioProfiles[]')}
          first={['audio_codec', 'audio_channels', 'audio_bitrate', 'source_stream', 'source_channels', 'optional']}
          value={body.audioProfiles}
          bounds={AUDIO_PROFILES}
          initialProfile={{
            audio_codec: 'aac',
            audio_channels: '2',
            audio_bitrate: '128',
            source_stream: '1',
            optional: true,
          }}
          problems={problems}
          onChange={(audioProfiles) => onChange({ ...body, audioProfiles })}
        />
        {fieldsOf(jobInfosOf(audioFields))}
      </Part>
      <Part
        id="captions"
        title="Caption files"
        summary={captionSummary(body)}
        hasProblem={isWrong(problems, ['captions', 'burn_in_captions'])}
      >
        <Profiles
          list="captions"
          singular="Caption file"
          infos={infosOf('captions[]')}
          first={['input', 'language', 'label']}
          value={body.captions ?? []}
          bounds={CAPTIONS}
          initialProfile={{ input: '', language: '' }}
          problems={problems}
          onChange={(captions) => set('captions', captions.length === 0 ? undefined : captions)}
        />
        <OptionalObject
          name="burn_in_captions"
          label="Burned-in captions"
          help="Draws the text of a caption file, or of a subtitle stream of the source, into the video."
          infos={infosOf('burn_in_captions')}
          body={body}
          problems={problems}
          onChange={onChange}
        />
      </Part>
      {FIELD_PARTS.map(({ id, title }) => {
        const fields = fieldsOfGroup(id)
        const infos = jobInfosOf(fields)
        return (
          <Part
            key={id}
            id={id}
            title={title}
            summary={givenSummary(body, infos)}
            hasProblem={isWrong(problems, fields)}
          >
            {fieldsOf(infos)}
          </Part>
        )
      })}
      <Part
        id="extracts"
        title="Stills, preview and waveform"
        summary={extractSummary(body)}
        hasProblem={isWrong(problems, ['stills', 'animated_preview', 'waveform'])}
      >
        <Extracts body={body} problems={problems} onChange={onChange} />
      </Part>
      <Part
        id="destination"
        title="Destination"
        summary={storeName('output', destination['cloud_provider'])}
        hasProblem={isWrong(problems, ['cloud_credentials.output', ...destinationFields])}
      >
        <ChooseStore
          side="output"
          legend="Destination"
          value={destination}
          onChoose={(provider) =>
            onChange({ ...body, cloud_credentials: { input: source, output: { cloud_provider: provider } } })
          }
        />
        <Credentials
          side="output"
          value={destination}
          problems={problems}
          onChange={(output) => onChange({ ...body, cloud_credentials: { input: source, output } })}
        />
        {fieldsOf(jobInfosOf(destinationFields))}
      </Part>
      <Metadata
        value={body['metadata']}
        problems={problems}
        onChange={(value) => set('metadata', value)}
        wrap={(summary, children) => (
          <Part id="metadata" title="Metadata" summary={summary} hasProblem={isWrong(problems, ['metadata'])}>
            {children}
          </Part>
        )}
      />
    </div>
  )
}

const FRESH: JobFields = { output: '', width: 0, height: 720, video_bitrate: 2600, video_bitrate_mode: 'vbr' }

/** Problems of the fields themselves and of members below them. */
const isWrong = (problems: readonly Problem[], paths: readonly string[]): boolean =>
  problems.some(({ field }) =>
    paths.some((path) => field === path || (/^[.[]/.test(field.slice(path.length)) && field.startsWith(path))),
  )

interface PartProps {
  id: string
  title: string
  summary: string
  hasProblem: boolean
  children: ComponentChildren
}

function Part({ id, title, summary, hasProblem, children }: PartProps) {
  return (
    <details class={hasProblem ? 'part wrong' : 'part'} id={id} open={hasProblem || undefined}>
      <summary>
        <strong>{title}</strong>
        <span class="help cut">{hasProblem ? 'Needs attention' : summary}</span>
        <Icon name="down" size={16} />
      </summary>
      <div class="stack loose">{children}</div>
    </details>
  )
}

interface LadderProps {
  body: FormBody
  onChange: (body: FormBody) => void
  planned: readonly JobFields[]
}

/** Renditions that follow from the source, or chosen ones. */
function Ladder({ body, onChange, planned }: LadderProps) {
  const automatic = body['ladder'] === 'auto'
  const chosen = planned.length > 0 ? [...planned] : [FRESH]
  return (
    <>
      <fieldset class="segmented">
        <legend class="hidden">Renditions</legend>
        <label>
          <input
            type="radio"
            name="ladder"
            checked={automatic}
            onChange={() =>
              onChange({
                ...withMember(withMember(body, 'allow_upscaling', undefined), 'ladder', 'auto'),
                videoProfiles: [],
              })
            }
          />
          <span>Automatic</span>
        </label>
        <label>
          <input
            type="radio"
            name="ladder"
            checked={!automatic}
            onChange={() =>
              onChange({ ...withMember(body, 'ladder', undefined), allow_upscaling: false, videoProfiles: chosen })
            }
          />
          <span>Custom</span>
        </label>
      </fieldset>
      {automatic ? (
        <p class="help">
          Resolutions and bitrates are chosen from the source’s size and frame rate, and never exceed the source.
          {planned.length > 0
            ? ` For this source: ${planned.map(({ height }) => `${String(height)}p`).join(', ')}.`
            : ''}
        </p>
      ) : null}
    </>
  )
}

const isLossless = (codec: unknown): boolean =>
  AUDIO_CODECS.some((known) => known === codec && audioRules(known).bitrates === null)

function renditionSummary(body: FormBody): string {
  if (body['ladder'] === 'auto') return 'Automatic'
  if (body.videoProfiles.length === 0) return 'No video'
  return body.videoProfiles
    .map(({ width, height }) =>
      Number(height) > 0 ? `${Number(height)}p` : Number(width) > 0 ? `${Number(width)} wide` : 'Source size',
    )
    .join(', ')
}

function captionSummary(body: FormBody): string {
  const { captions = [] } = body
  const nameOf = ({ language, label }: JobFields) => [label, language].find((name) => typeof name === 'string') ?? '?'
  const burnedIn = membersAt(body, 'burn_in_captions') === null ? [] : ['Burned in']
  return [...captions.map(nameOf), ...burnedIn].join(', ') || 'None'
}

function audioSummary({ audioProfiles }: FormBody): string {
  return (
    audioProfiles
      .map(({ audio_codec: codec = 'aac', audio_channels: channels = '2', audio_bitrate: kbps = '256' }) =>
        [
          valueLabel(infoAt('audioProfiles[].audio_codec'), String(codec)),
          valueLabel(infoAt('audioProfiles[].audio_channels'), String(channels)).toLowerCase(),
          ...(isLossless(codec) ? [] : [`${String(kbps)} kbps`]),
        ].join(' '),
      )
      .join(', ') || 'None'
  )
}

/** Lists the fields that are set; if none is set, the fields that can be set. */
function givenSummary(body: FormBody, infos: readonly FieldInfo[]): string {
  const given = infos.flatMap((info) => {
    const { name, label } = info
    const value = body[name]
    if (typeof value !== 'string' && typeof value !== 'number' && value !== true) return []
    // The value of the container is clear without a label.
    if (name === 'output_container') return [valueLabel(info, String(value))]
    return [value === true ? label : `${label}: ${valueLabel(info, String(value))}`]
  })
  return given.length > 0 ? given.join(' · ') : 'Default'
}

export const FIELD_PARTS: readonly { id: FieldGroup; title: string }[] = [
  { id: 'packaging', title: 'Packaging' },
  { id: 'part', title: 'Part of the source' },
  { id: 'encoding', title: 'Video encoding' },
  { id: 'frame', title: 'Frame and logo' },
  { id: 'broadcast', title: 'Captions, SCTE-35 cues and programs' },
  { id: 'service', title: 'Transport stream' },
  { id: 'notice', title: 'Notification' },
]
