// In charge of: the logo over the video.
import { readYuvAt } from '../../support/media/testLogo.ts'
import { measurement, storedConfigRow, type JobChange, type Row } from '../row.ts'

const URL = 'https://logo.example.test/logo.png'
const LOGO = { logo_url: URL }
const RED = [81, 90, 240]
const GREY = [126, 128, 128]
const MIXED = RED.map((value, index) => (value + GREY[index]!) / 2)

const names: [string, number[]][] = [
  ['red', RED],
  ['half red', MIXED],
  ['grey', GREY],
]
function nameOf(color: readonly number[]): string {
  const near = names.find(([, wanted]) => wanted.every((value, index) => Math.abs(value - color[index]!) <= 4))
  return near?.[0] ?? color.join(' ')
}

/** Inside the logo's red half, which is 48 × 24 with a margin of 3 %. */
const corner = { top_left: [20, 18], top_right: [272, 18], bottom_left: [20, 162], bottom_right: [272, 162] } as const

function drawn(path: string, value: unknown, change: JobChange, place: keyof typeof corner, color: string): Row {
  return {
    path,
    value,
    expected: `${color} at the ${place.replace('_', ' ')}, grey in the other corners`,
    job: { ...change, audioProfiles: [], videoProfiles: [{ video_bitrate: 2000 }] },
    source: 'grey',
    quick: true,
    measure: async (bench) => {
      const file = await bench.file()
      const seen = await Promise.all(
        Object.entries(corner).map(async ([name, [x, y]]) => [name, nameOf(await readYuvAt(file, x, y))] as const),
      )
      const measured = seen.map(([name, shade]) => `${name.replace('_', ' ')} ${shade}`).join(', ')
      return measurement(
        measured,
        seen.every(([name, shade]) => shade === (name === place ? color : 'grey')),
      )
    },
  }
}

export const logo: Row[] = [
  drawn('logo_url', URL, LOGO, 'top_right', 'red'),
  drawn('logo_url', '', { logo_url: '' }, 'top_right', 'grey'),
  drawn('logo_url', null, { logo_url: null }, 'top_right', 'grey'),
  storedConfigRow(
    { path: 'logo_url', value: `${URL}?key=1`, expected: 'a query is sealed', job: { logo_url: `${URL}?key=1` } },
    (config, { secrets }) =>
      measurement(
        `shown as ${config.logo_url}`,
        config.logo_url === `${URL}?…` && secrets.addresses.logo_url === `${URL}?key=1`,
      ),
  ),
  ...(Object.keys(corner) as (keyof typeof corner)[]).map((place) =>
    drawn('logo_position', place, { ...LOGO, logo_position: place }, place, 'red'),
  ),
  drawn('logo_opacity', 0, { ...LOGO, logo_opacity: 0 }, 'top_right', 'grey'),
  drawn('logo_opacity', 50, { ...LOGO, logo_opacity: 50 }, 'top_right', 'half red'),
  drawn('logo_opacity', 100, { ...LOGO, logo_opacity: 100 }, 'top_right', 'red'),
]
