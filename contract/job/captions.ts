// In charge of: `captions` of a job: reading the list, and the addresses in it.
// Not in charge of: the fields of an element (fields/captions.ts), reading the files (transcoder/formats/captions).
import { assignChannels, CHANNELS_608, type Channel608 } from '../captions.ts'
import { CAPTIONS } from '../limits.ts'
import type { Findings } from './findings.ts'
import { readFields, readObjectList, presentMember, type JsonObject } from './fieldReader.ts'
import type { CaptionField } from './jobConfig.ts'
import { parseCaptionAddress } from './paths/captionAddress.ts'
import { isRedacted, printableValue, redactAddress, SEND_UNREDACTED } from './redact.ts'
import { captionFields } from './fields/captions.ts'
import type { CaptionFields } from './fields/request.ts'
import type { Provider } from './stores/registry.ts'

export function captionField(index: number): CaptionField {
  return `captions[${index}].input`
}

/** undefined = the body has none. */
export function readCaptionList(
  body: JsonObject,
  findings: Findings,
): { given: (JsonObject | null)[]; read: Partial<CaptionFields>[] } | undefined {
  if (presentMember(body, 'captions') === undefined) return undefined
  const given = readObjectList(body, 'captions', CAPTIONS, findings)
  const read = given.map((each, index) => readFields(captionFields, each, `captions[${index}]`, findings))
  const defaults = read.flatMap((each, index) => (each.default === true ? [index] : []))
  if (defaults.length > 1) {
    const message = `only one caption can be the default; captions[${defaults[0]}] is one already`
    findings.problem('conflict', `captions[${defaults[1]}].default`, message)
  }
  checkChannels(read, findings)
  return { given, read }
}

/** Two files cannot share a channel, and there are four. */
function checkChannels(captions: readonly Partial<CaptionFields>[], findings: Findings): void {
  const channels = assignChannels(captions)
  const seen = new Map<Channel608, number>()
  for (const [index, { embed, embed_channel: chosen }] of captions.entries()) {
    const channel = channels[index] ?? null
    if (embed === undefined) {
      if (chosen !== undefined)
        findings.warn(
          'no_effect',
          `captions[${index}].embed_channel`,
          `captions[${index}].embed_channel has no effect: embed is absent`,
        )
    } else if (channel === null)
      findings.problem(
        'conflict',
        `captions[${index}].embed`,
        `at most ${CHANNELS_608.length} caption files can be embedded`,
      )
    else if (seen.has(channel)) {
      const field = `captions[${index}].embed_channel`
      findings.problem('conflict', field, `${channel} is the channel of captions[${seen.get(channel)}] already`)
    } else seen.set(channel, index)
  }
}

/**
 * Checks the addresses, and replaces each by its stored form. Returns the full addresses of those with a query, by their
 * field.
 */
export function checkCaptionAddresses(
  captions: Partial<CaptionFields>[],
  { providers, baseUrl }: { providers: readonly (Provider | undefined)[]; baseUrl: string },
  findings: Findings,
): Record<CaptionField, string> {
  const full: Record<CaptionField, string> = {}
  for (const [index, caption] of captions.entries()) {
    if (caption.input === undefined) continue
    const field = captionField(index)
    const found = parseCaptionAddress(providers, caption.input, baseUrl)
    if ('message' in found) {
      findings.problem(found.code, field, `${field}: ${found.message}; ${printableValue(caption.input)} was given`)
      caption.input = redactAddress(caption.input)
      continue
    }
    if (found.provider === 'http' && isRedacted(caption.input))
      findings.problem('invalid_input_address', field, `${field} ${SEND_UNREDACTED}`)
    const redacted = redactAddress(found.stored)
    if (redacted !== found.stored) full[field] = found.stored
    caption.input = redacted
  }
  return full
}
