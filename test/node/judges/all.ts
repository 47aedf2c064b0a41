// In charge of: which judges there are.
import { dash, mp4ff } from './boxes.ts'
import { cml608 } from './captions.ts'
import { threefive } from './cues.ts'
import { firefox } from './firefox.ts'
import { gstreamer } from './gstreamer.ts'
import type { Judge } from './judge.ts'
import { ebur128 } from './loudness.ts'
import { mediaconch, mediainfo } from './mediainfo.ts'
import { playlists } from './playlists.ts'
import { transport, tsreport } from './transport.ts'
import { vlc } from './vlc.ts'
import { webkit } from './webkit.ts'

export const ALL: readonly Judge[] = [
  tsreport,
  transport,
  mp4ff,
  dash,
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
