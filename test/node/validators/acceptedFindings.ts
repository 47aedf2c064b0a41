// In charge of: validator findings that are accepted, each with the paragraph of the standard and the reason.
// Not in charge of: the validators. An exception that no finding needs fails the tests.
import type { Finding } from './validator.ts'
import type { JobName } from './validatedJobs.ts'

export interface AcceptedFinding {
  validator: string
  /** Absent: every job that the validator checks. */
  jobs?: readonly JobName[]
  /** Matched against the finding as "rule: sentence". */
  finding: RegExp
  paragraph: string
  reason: string
}

const EM_DATA = {
  paragraph:
    'ATSC A/53 part 4:2009, 6.2.3.1: the bit and the byte are reserved; CTA-708-E, 4.4: decoders ignore em_data',
  reason:
    'ffmpeg writes cc_data with the reserved bit 0 and em_data 0 instead of 1 and 0xff; captions are read all the same',
}
const NEGATIVE_OFFSETS = {
  paragraph:
    'ISO/IEC 14496-12, 8.8.8: track runs of version 1 have signed composition offsets; ISO/IEC 23000-19, 7.5.17',
  reason:
    'players that read CMAF with qtdemux, which moves each fragment by its lowest offset, show video up to one frame late ' +
    '(docs/segmented.md); others play frame 0 at 0',
}

export const ACCEPTED_FINDINGS: readonly AcceptedFinding[] = [
  {
    validator: 'tsreport',
    finding: /PID\(600\): Error looking for PTS|PES packet start code prefix is 00 fc 30/,
    paragraph: 'ANSI/SCTE 35, 8.1: cues are sections, of stream_type 0x86; they have no PES packets',
    reason: 'tstools looks for PES packets on every PID of the program map',
  },
  {
    validator: 'mp4ff',
    jobs: ['mp4-hevc', 'cmaf-hevc'],
    finding: /unknown box: .*fiel/,
    paragraph: 'ISO/IEC 14496-12, 4.2: unknown boxes are ignored',
    reason: "ffmpeg writes QuickTime's box for the order of fields beside hvc1; mp4ff does not know it",
  },
  { validator: 'gstreamer', finding: /CEA_708_PROCESS_EM_DATA_FLAG|em data does not equal 0xFF/, ...EM_DATA },
  {
    validator: 'gstreamer',
    finding: /qtdemux: +unknown QuickTime node type/,
    paragraph: 'ISO/IEC 14496-12, 4.2, 8.9; ISO/IEC 14496-12 8.11: sgpd, sbgp, ac-3 and uuid are registered',
    reason: 'its table of names is for its log only; the boxes are read where it needs them',
  },
  {
    validator: 'gstreamer',
    finding: /qtdemux: failed to find fragment defaults/,
    paragraph: 'ISO/IEC 14496-12, 8.8.1: mvex is for movies with fragments',
    reason: 'it looks for defaults of fragments in whole files and Smooth Streaming too',
  },
  {
    validator: 'gstreamer',
    finding: /EXT-X-MEDIA description is missing required attributes/,
    paragraph: 'RFC 8216bis, 4.4.6.1: closed captions have TYPE, GROUP-ID, NAME and INSTREAM-ID, and no URI',
    reason: 'version 1.22 leaves closed captions out of its renditions',
  },
  {
    validator: 'gstreamer',
    jobs: ['cmaf'],
    finding: /Unknown mime type in the representation/,
    paragraph: 'DASH-IF IOP 4.3, 6.2.6: thumbnails are an adaptation set of images',
    reason: 'version 1.22 has no thumbnails, and plays the rest',
  },
  { validator: 'gstreamer', jobs: ['cmaf', 'cmaf-hevc'], finding: /frame 7[56] comes/, ...NEGATIVE_OFFSETS },
  {
    validator: 'gstreamer',
    jobs: ['hls-ts-separate'],
    finding: /audio until 5\.93/,
    paragraph: 'RFC 8216bis, 3.1.1, 6.2.4: renditions share one timeline of time stamps',
    reason:
      'version 1.22 begins each rendition at 0: the audio, whose encoder delay comes before the first frame, and the video, which ' +
      'begins with the decoding time of its first frame',
  },
  {
    validator: 'vlc',
    jobs: ['cmaf'],
    finding: /adaptive demux: Failed to create demuxer/,
    paragraph: 'DASH-IF IOP 4.3, 6.2.6: thumbnails are an adaptation set of images',
    reason: 'version 3 has no thumbnails, and plays the rest',
  },
  { validator: 'webkit', jobs: ['cmaf', 'cmaf-hevc', 'smooth'], finding: /duration: .* 6\.04 s/, ...NEGATIVE_OFFSETS },
  ...['firefox', 'webkit'].map((validator): AcceptedFinding => ({
    validator,
    jobs: ['hls-ts', 'hls-ts-separate'],
    finding: /duration: hls, .* 6\.08 s/,
    paragraph: 'RFC 8216bis, 3.1.1: presentation begins with the first frame',
    reason: 'hls.js begins a transport stream at its first decoding time, two frames earlier (docs/segmented.md)',
  })),
]

const covers = (exception: AcceptedFinding, validator: string, job: JobName, { rule, says }: Finding): boolean =>
  exception.validator === validator &&
  (exception.jobs === undefined || exception.jobs.includes(job)) &&
  exception.finding.test(`${rule}: ${says}`)

/** Findings without an exception; exceptions that matched are added to `needed`. */
export function unacceptedFindings(
  exceptions: readonly AcceptedFinding[],
  validator: string,
  job: JobName,
  findings: readonly Finding[],
  needed: Set<AcceptedFinding>,
): Finding[] {
  return findings.filter((finding) => {
    const found = exceptions.filter((exception) => covers(exception, validator, job, finding))
    for (const one of found) needed.add(one)
    return found.length === 0
  })
}

/** Exceptions that no finding needed, for validators that checked all their jobs. */
export function unusedAcceptances(
  exceptions: readonly AcceptedFinding[],
  asked: ReadonlySet<string>,
  needed: ReadonlySet<AcceptedFinding>,
): AcceptedFinding[] {
  return exceptions.filter((exception) => asked.has(exception.validator) && !needed.has(exception))
}
