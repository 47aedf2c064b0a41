// In charge of: the signalling of ts files: DVB and ATSC, names, identifiers, PIDs.
/* oxlint-disable unicorn/no-useless-spread -- fields that belong together stay on one line */
import { readFile } from 'node:fs/promises'
import { readSections } from '../../support/mpegts/psiSections.ts'
import { measurement, type JobChange, type Row } from '../row.ts'

const AUDIO = [{ audio_codec: 'ac3', audio_channels: '2', audio_bitrate: '192', source_stream: '1' }]

interface Tables {
  stream: number
  program: number
  mapPid: number
  clockPid: number
  /** stream_type and PID of each stream, as `0x02 256`. */
  streams: string[]
  sdt: string | null
  tables: number
}

async function tablesOf(file: string): Promise<Tables> {
  const bytes = await readFile(file)
  const pat = readSections(bytes, 0)[0]!
  const mapPid = pat.readUInt16BE(10) & 0x1fff
  const map = readSections(bytes, mapPid)[0]!
  const streams: string[] = []
  for (let at = 12 + (map.readUInt16BE(10) & 0xfff); at < map.length - 4; at += 5 + (map.readUInt16BE(at + 3) & 0xfff))
    streams.push(`0x${map[at]!.toString(16).padStart(2, '0')} ${map.readUInt16BE(at + 1) & 0x1fff}`)
  return {
    ...{ stream: pat.readUInt16BE(3), program: pat.readUInt16BE(8), mapPid, clockPid: map.readUInt16BE(8) & 0x1fff },
    ...{
      streams,
      sdt: readSections(bytes, 0x11)[0]?.toString('latin1') ?? null,
      tables: readSections(bytes, 0x1ffb).length,
    },
  }
}

function row(
  path: string,
  value: unknown,
  expected: string,
  look: (tables: Tables) => [string, boolean],
  more: JobChange = {},
): Row {
  return {
    ...{ path, value, expected },
    job: { output_container: 'ts', audioProfiles: AUDIO, [path]: value, ...more },
    quick: true,
    measure: async (bench) => measurement(...look(await tablesOf(await bench.file()))),
  }
}

const named = (path: string, value: string, shown: string): Row =>
  row(path, value, `the SDT has ${shown}`, ({ sdt }) => {
    const has = sdt?.includes(shown) === true
    return [`${has ? '' : 'not '}${shown}`, has]
  })

const pids = (path: string, value: number, wanted: string, more: JobChange = {}): Row =>
  row(
    path,
    value,
    `PMT, video, audio on ${wanted}`,
    ({ mapPid, streams }) => {
      const measured = [mapPid, ...streams.map((stream) => stream.split(' ')[1])].join(', ')
      return [measured, measured === wanted]
    },
    more,
  )

export const service: Row[] = [
  row('ts_profile', 'dvb', 'AC-3 as private data (0x06), an SDT', ({ streams, sdt }) => {
    const audio = streams[1]!.split(' ')[0]!
    return [`${audio}, ${sdt === null ? 'no SDT' : 'an SDT'}`, audio === '0x06' && sdt !== null]
  }),
  row('ts_profile', 'atsc', 'AC-3 as 0x81, MGT and TVCT, no SDT', ({ streams, sdt, tables }) => {
    const audio = streams[1]!.split(' ')[0]!
    const measured = `${audio}, ${tables} tables of PSIP, ${sdt === null ? 'no SDT' : 'an SDT'}`
    return [measured, audio === '0x81' && sdt === null && tables === 2]
  }),
  named('service_name', 'Channel One', 'Channel One'),
  named('service_name', '', 'clip'),
  named('service_provider', 'Network', 'Network'),
  named('service_provider', '', 'Splicepoint'),
  ...[1, 65_535].map((id) =>
    row('service_id', id, `program ${id}`, ({ program }) => [`program ${program}`, program === id]),
  ),
  ...[0, 65_535].map((id) =>
    row('transport_stream_id', id, `${id} in the PAT`, ({ stream }) => [`${stream} in the PAT`, stream === id]),
  ),
  pids('pmt_pid', 32, '32, 256, 257'),
  pids('pmt_pid', 8186, '8186, 256, 257'),
  pids('video_pid', 32, '4096, 32, 33'),
  pids('video_pid', 8186, '4096, 8186, 8000', { audio_pid: 8000 }),
  pids('audio_pid', 32, '4096, 256, 32'),
  pids('audio_pid', 8186, '4096, 256, 8186'),
]
