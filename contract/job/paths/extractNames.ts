// In charge of: the names of stills, animated previews and waveforms below the job's destination, and their media types.
// Not in charge of: whether a path is allowed (outputNames.ts, rules/extracts.ts).
import type { AnimatedPreviewSpec, JobSpec, StillsSpec, WaveformSpec } from '../jobSpec.ts'
import { joinPath, normalisePath } from './outputNames.ts'

export const stillTypes = { jpeg: 'image/jpeg', webp: 'image/webp', avif: 'image/avif' } as const
export const previewTypes = { mp4: 'video/mp4', gif: 'image/gif', webp: 'image/webp' } as const
export const waveformTypes = { json: 'application/json', dat: 'application/octet-stream', png: 'image/png' } as const

/** The first one is used for derived names. */
export const stillExtensions = { jpeg: ['jpg', 'jpeg'], webp: ['webp'], avif: ['avif'] } as const

/** Digits of a still's number, so that names sort. */
const DIGITS = 4

export const derivedExtractName = {
  still: (index: number, number: number, format: StillsSpec['format']) =>
    `_still_${index}_${padded(number)}.${stillExtensions[format][0]}`,
  stillPattern: (index: number, format: StillsSpec['format']) =>
    `_still_${index}_\\d{${DIGITS}}\\.${stillExtensions[format][0]}`,
  preview: (format: AnimatedPreviewSpec['format']) => `_preview.${format}`,
  waveform: (format: WaveformSpec['format']) => `_waveform.${format}`,
} as const

/** `number` counts from 1. */
export function stillPath(spec: JobSpec, stills: StillsSpec, number: number): string {
  const { index, format, output, isSingle } = stills
  if (output === '') return below(spec, derivedExtractName.still(index, number, format))
  const path = normalisePath(output)
  return joinPath(spec.outputDirectory, isSingle ? path : path.replace(/(?=\.[^.]*$)/, `_${padded(number)}`))
}

/** The names that `stillPath` can give for `output`, as a pattern. */
export function stillNamePattern(output: string, isSingle: boolean): string {
  const escape = (text: string) => text.replaceAll(/[$()*+./?[\\\]^{|}]/g, '\\$&')
  const dot = output.lastIndexOf('.')
  return isSingle ? escape(output) : `${escape(output.slice(0, dot))}_\\d{${DIGITS}}${escape(output.slice(dot))}`
}

export function previewPath(spec: JobSpec, { format }: AnimatedPreviewSpec): string {
  return below(spec, derivedExtractName.preview(format))
}

export function waveformPath(spec: JobSpec, { format }: WaveformSpec): string {
  return below(spec, derivedExtractName.waveform(format))
}

function below(spec: JobSpec, name: string): string {
  return joinPath(spec.outputDirectory, `${spec.inputName}${name}`)
}

function padded(number: number): string {
  return String(number).padStart(DIGITS, '0')
}
