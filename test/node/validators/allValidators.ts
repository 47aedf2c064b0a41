// In charge of: the list of validators.
import { dashMpd, mp4ff } from './programs/mp4ff.ts'
import { cml608 } from './programs/cml608.ts'
import { threefive } from './programs/threefive.ts'
import { firefox } from './programs/firefox.ts'
import { gstreamer } from './programs/gstreamer.ts'
import type { Validator } from './validator.ts'
import { ebur128 } from './programs/ebur128.ts'
import { mediaconch, mediainfo } from './programs/mediainfo.ts'
import { playlists } from './programs/hlsParsers.ts'
import { tr101290, tsreport } from './programs/tsAnalyzers.ts'
import { vlc } from './programs/vlc.ts'
import { webkit } from './programs/webkit.ts'

export const ALL_VALIDATORS: readonly Validator[] = [
  tsreport,
  tr101290,
  mp4ff,
  dashMpd,
  playlists,
  threefive,
  cml608,
  mediainfo,
  mediaconch,
  ebur128,
  gstreamer,
  vlc,
  firefox,
  webkit,
]
