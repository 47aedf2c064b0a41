// In charge of: hints for an unknown field: a spelling mistake, or a field of another level of the body.
// Not in charge of: reading fields (fieldReader.ts).
import { isSimilarName } from '../similarNames.ts'
import { REQUEST_MEMBERS, REQUEST_OBJECTS, requestObjectAt } from './fields/request.ts'

const levels = REQUEST_OBJECTS.map(({ path, fields }) => ({
  path: path.startsWith('cloud_credentials') ? 'cloud_credentials.input or .output' : path,
  names: path === '' ? REQUEST_MEMBERS : Object.keys(fields),
}))

/** Names that differ only in case, hyphens and underscores are equal. */
const plain = (name: string): string => name.toLowerCase().replace(/[^a-z0-9]/g, '')

/** Far longer than any field. Clients can send names of any length. */
const MAX_NAME = 100

/**
 * @param path of the object that has the field; '' = the body
 * @returns the part of the sentence "… is not a field here" from its semicolon on; '' if no known name is similar
 */
export function suggestField(name: string, path: string): string {
  if (name.length > MAX_NAME) return ''
  const given = plain(name)
  const here = path === '' ? REQUEST_MEMBERS : Object.keys(requestObjectAt(path)?.fields ?? {})
  const near = here.find((known) => isSimilarName(plain(known), given))
  if (near !== undefined) return `; did you mean ${near}?`
  for (const { path: place, names } of levels) {
    const known = names.find((each) => plain(each) === given)
    if (known !== undefined)
      return `; ${known} is a field of ${place === '' ? 'the job itself, at the level of videoProfiles' : place}`
  }
  return ''
}

/** Whether the body has a field of a similar name in place of this one. */
export function hasMisspelling(name: string, body: object): boolean {
  return Object.keys(body).some(
    (given) => given !== name && given.length <= MAX_NAME && isSimilarName(plain(name), plain(given)),
  )
}
