// In charge of: which versions of the documentation there are, and where each stands on a host: the latest at the root, each
// released one in a folder of its own. The root's versions.json has the list; pages of every version read it there, so that an
// old one offers the new ones.
// Not in charge of: choosing one (theme/versions.js).

export interface Version {
  name: string
  /** Below the root. */
  path: string
}

/** The latest, and what the changelog says was released, newest first. */
export function versionsOf(changelog: string, version: string): Version[] {
  const released = [...changelog.matchAll(/^## \[(\d[^\]]*)\]/gm)].map(([, name]) => name!)
  const latest = released.includes(version) ? 'latest' : `${version} (unreleased)`
  return [{ name: latest, path: '' }, ...released.map((name) => ({ name, path: `${name}/` }))]
}

/** @param base of a build: one that ends with the version's own folder is for that folder, any other one for the root */
export function placeOf(base: string, version: string): { root: string; path: string } {
  const path = base.endsWith(`/${version}/`) ? `${version}/` : ''
  return { root: base.slice(0, base.length - path.length), path }
}
