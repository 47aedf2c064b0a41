// In charge of: one source: its poster, its properties, and the progress of its upload and analysis.
import type { ComponentChildren } from 'preact'
import type { SourceReport } from '#contract/task/dryRunEstimate.ts'
import { bitrate, containerName } from '../text/mediaDetails.ts'
import { channelsName, codecName, dimensions, framesPerSecond, languageName, runningTime } from '../text/mediaTerms.ts'
import { Icon } from '../parts/icon.tsx'
import { IconButton, TransferButtons, TransferProgress } from '../transfers/progress.tsx'
import { formatBytes } from '../text/format.ts'
import type { Analysis } from './model/sourceAnalysis.ts'
import { displaySize } from './model/presetFit.ts'
import type { Source } from './model/sources.ts'

interface SourceCardProps {
  source: Source
  analysis: Analysis | undefined
  onRemove: (() => void) | null
  /** Below the properties. */
  children?: ComponentChildren
}

export function SourceCard({ source, analysis, onRemove, children }: SourceCardProps) {
  const { name, transfer } = source
  const report = analysis?.source ?? null
  const preview = transfer?.preview ?? null
  const poster = analysis?.poster ?? preview?.url ?? null
  const seconds = report?.duration_seconds ?? preview?.durationSeconds ?? null
  return (
    <li class="box line source-card">
      <span class="thumb">
        {poster === null ? <Icon name="film" size={28} /> : <img src={poster} alt={`Preview of ${name}`} />}
        {seconds !== null && Number.isFinite(seconds) ? <span class="thumb-time">{runningTime(seconds)}</span> : null}
      </span>
      <div class="stack grow">
        <div class="line">
          <h3>{name}</h3>
          <Standing source={source} analysis={analysis} />
        </div>
        {transfer !== null && transfer.state !== 'stored' ? <TransferProgress transfer={transfer} /> : null}
        {report ? <Report report={report} size={source.size} /> : <p class="help">{beforeAnalysis(source)}</p>}
        {analysis?.failure && !analysis.busy ? (
          <p class="problem">
            {analysis.failure.message} {analysis.failure.advice}
          </p>
        ) : null}
        {children}
      </div>
      {transfer ? (
        <TransferButtons transfer={transfer} {...(onRemove ? { onRemove } : {})} />
      ) : onRemove ? (
        <IconButton icon="close" label={`Remove ${name}`} onClick={onRemove} />
      ) : null}
    </li>
  )
}

function beforeAnalysis({ size, transfer }: Source): string {
  const preview = transfer?.preview
  // The upload progress shows the file size.
  const stored = transfer === null || transfer.state === 'stored'
  const parts = [
    preview ? dimensions(preview.width, preview.height) : null,
    stored && size !== null ? formatBytes(size) : null,
  ]
  return parts.filter((part) => part !== null).join(' · ')
}

function Standing({ source, analysis }: { source: Source; analysis: Analysis | undefined }) {
  const [kind, text] = standing(source, analysis)
  return text === '' ? null : (
    <span class={`badge ${kind}`} role="status">
      {text}
    </span>
  )
}

function standing({ transfer }: Source, analysis: Analysis | undefined): [kind: string, text: string] {
  switch (transfer?.state) {
    case 'sending':
      return ['running', 'Uploading']
    case 'waiting':
      return ['queued', 'Waiting']
    case 'paused':
      return ['queued', 'Paused']
    case 'failed':
      return ['failed', 'Upload failed']
    default:
  }
  if (analysis?.source) return ['completed', 'Source analysed']
  if (analysis?.busy === true) return ['running', analysis.phase ?? 'Analysing']
  if (analysis?.failure) return ['failed', 'Not readable']
  return transfer ? ['completed', 'Uploaded'] : ['', '']
}

function Report({ report, size }: { report: SourceReport; size: number | null }) {
  const { video, audio, other } = report
  const length = size ?? report.size_bytes
  return (
    <dl class="stack tight facts streams">
      <Line name="Video">{video ? videoWords(video) : 'None'}</Line>
      <Line name="Audio">
        {audio.length === 0
          ? 'None'
          : audio.map((stream) => <span key={stream.source_stream}>{audioWords(stream, audio.length)}</span>)}
      </Line>
      {video?.has_captions ? <Line name="Captions">{video.captions.join(', ') || 'Embedded'}</Line> : null}
      {other.some(({ type }) => type === 'subtitle') ? (
        <Line name="Subtitles">
          {other
            .flatMap(({ type, language }) =>
              type === 'subtitle' ? [language ? languageName(language) : 'Unknown'] : [],
            )
            .join(', ')}
        </Line>
      ) : null}
      <Line name="File">
        {[
          containerName(report.formats),
          length === null ? null : formatBytes(length),
          report.bitrate_kbps === null ? null : bitrate(report.bitrate_kbps),
        ]
          .filter((part) => part !== null)
          .join(' · ')}
      </Line>
    </dl>
  )
}

function Line({ name, children }: { name: string; children: ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}

function videoWords(video: NonNullable<SourceReport['video']>): string {
  const size = displaySize(video)
  const parts = [
    codecName(video.codec),
    dimensions(size.width, size.height),
    video.frame_rate === null
      ? null
      : `${framesPerSecond(video.frame_rate)}${video.variable_frame_rate ? ' (variable)' : ''}`,
    video.scan === 'progressive' ? null : video.scan,
    video.hdr ? 'HDR' : null,
    video.rotation === 0 ? null : `rotated ${video.rotation}°`,
  ]
  return parts.filter((part) => part !== null).join(' · ')
}

function audioWords(stream: SourceReport['audio'][number], count: number): string {
  const parts = [
    codecName(stream.codec),
    channelsName(stream.channels),
    `${stream.sample_rate / 1000} kHz`,
    stream.language && stream.language !== 'und' ? languageName(stream.language) : null,
  ]
  const words = parts.filter((part) => part !== null).join(' · ')
  return count > 1 ? `${stream.source_stream}. ${words}` : words
}
