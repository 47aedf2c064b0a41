// In charge of: what the holder of a share sees: the page, the embedded player, their media, and the same 404 for every
// invalid share.
// Not in charge of: creating shares (shareRoutes.ts), the content of the page (web/share.html, web/src/share/).
import { Hono, type Context } from 'hono'
import type { SharedMedia } from '#contract/api/answers.ts'
import { openedShare } from '#contract/api/requestBodies.ts'
import { escapeHtml } from '#contract/api/sharedMedia.ts'
import { SHARE_PASSWORDS_PER_MINUTE } from '#contract/limits.ts'
import { settings } from '../env.ts'
import { publicBaseUrl, type AppEnv } from '../http/context.ts'
import { readJson } from '../http/jsonBody.ts'
import { takeToken } from '../http/rateLimit.ts'
import { RequestError } from '../http/requestError.ts'
import { parseFields } from '../http/validationErrors.ts'
import { sharedMediaOf, findSharedJob, isSharePassword, type SharedJob } from './shareAccess.ts'
import { crossOriginHeaders } from '../delivery/objectRoutes.ts'

/** A share can be revoked at any time, and its address gives access: no caching, no indexing, no referrer. */
const notFoundHeaders = {
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-robots-tag': 'noindex, nofollow',
}

export const sharedPageRoutes = new Hono<AppEnv>()
  .get('/:token', (c) => servePage(c, false))
  .get('/:token/embed', (c) => servePage(c, true))
  .get('/:token/data', async (c) => {
    const found = await requireShare(c)
    if (found.share.password_hash !== null) {
      const message = 'This page needs its password: send it as {"password": "…"} with POST.'
      throw new RequestError('unauthorized', message, { headers: dataHeaders })
    }
    return serveData(c, found)
  })
  .post('/:token/data', async (c) => {
    const found = await requireShare(c)
    const { password } = parseFields(openedShare, (await readJson(c, MAX_PASSWORD_BYTES)).value, {
      password: { expects: 'the password of the share', hidden: true },
    })
    if (found.share.password_hash !== null) {
      takeToken(`share ${found.share.id}`, SHARE_PASSWORDS_PER_MINUTE, Date.now(), 'This page')
      if (!(await isSharePassword(c.env, found.share, password))) {
        throw new RequestError('unauthorized', 'The password is wrong.', { headers: dataHeaders })
      }
    }
    return serveData(c, found)
  })

const MAX_PASSWORD_BYTES = 4096
const dataHeaders = { ...notFoundHeaders, ...crossOriginHeaders }

async function requireShare(c: Context<AppEnv, '/:token/data'>): Promise<SharedJob> {
  const found = await findSharedJob(c.env, c.req.param('token'))
  if (found) return found
  throw new RequestError('not_found', 'This page does not exist, or it is no longer shared.', { headers: dataHeaders })
}

async function serveData(c: Context<AppEnv>, found: SharedJob): Promise<Response> {
  return c.json(await sharedMediaOf(c.env, found, publicBaseUrl(c)), 200, dataHeaders)
}

type Preview = Pick<SharedMedia, 'title' | 'poster_url' | 'sources'>
const HIDDEN: Preview = { title: 'Protected video', poster_url: null, sources: [] }

async function servePage(c: Context<AppEnv>, isEmbedded: boolean): Promise<Response> {
  const token = c.req.param('token') ?? ''
  const found = await findSharedJob(c.env, token)
  const headers = new Headers({
    ...notFoundHeaders,
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': contentSecurityPolicy(settings(c.env).baseUrl, isEmbedded),
    'permissions-policy': 'camera=(), microphone=(), geolocation=()',
    ...(isEmbedded
      ? { 'cross-origin-resource-policy': 'cross-origin' }
      : { 'cross-origin-opener-policy': 'same-origin' }),
  })
  if (found === null) return new Response((await pageTemplate(c, '/share-gone')).body, { status: 404, headers })
  const page = await pageTemplate(c, '/share')
  const address = `${publicBaseUrl(c)}/s/${token}`
  // Without the password, a page shows neither its title nor its poster.
  const media = found.share.password_hash === null ? await sharedMediaOf(c.env, found, publicBaseUrl(c)) : HIDDEN
  return new Response(renderPage(page, media, address).body, { headers })
}

/** The file that scripts/buildWeb.ts wrote, without its headers. */
function pageTemplate(c: Context<AppEnv>, path: string): Promise<Response> {
  return c.env.ASSETS.fetch(new Request(new URL(path, c.req.url)))
}

/**
 * The dashboard's policy (web/public/_headers), plus media from the configured address of the service if the page was
 * opened at another one. Any site may frame the embedded player; none may frame the page.
 */
function contentSecurityPolicy(base: string | null, isEmbedded: boolean): string {
  const origin = base === null ? null : URL.parse(base)?.origin
  const service = origin ? ` ${origin}` : ''
  return [
    `default-src 'none'`,
    `script-src 'self'`,
    `style-src 'self'`,
    `img-src 'self' data: blob:${service}`,
    `font-src 'self'`,
    `connect-src 'self'${service}`,
    `media-src 'self' blob: data:${service}`,
    `worker-src 'self' blob:`,
    `manifest-src 'self'`,
    `base-uri 'none'`,
    `form-action 'none'`,
    `frame-ancestors ${isEmbedded ? '*' : `'none'`}`,
  ].join('; ')
}

/** The title and link previews (https://ogp.me). A property without a value is removed. */
function renderPage(page: Response, media: Preview, address: string): Response {
  const file = media.sources.find(({ kind }) => kind === 'file')
  const properties: Record<string, string | null> = {
    'og:title': media.title,
    'og:url': address,
    'og:image': media.poster_url,
    'og:video': file?.url ?? `${address}/embed`,
    'og:video:type': file?.content_type ?? 'text/html',
    'twitter:title': media.title,
    'twitter:image': media.poster_url,
    'twitter:player': `${address}/embed`,
  }
  return new HTMLRewriter()
    .on('title', { element: (title) => void title.setInnerContent(media.title) })
    .on('meta[property]', {
      element(meta) {
        const name = meta.getAttribute('property') ?? ''
        if (!Object.hasOwn(properties, name)) return
        const value = properties[name]
        // HTMLRewriter itself escapes only quotes.
        if (value) meta.setAttribute('content', escapeHtml(value))
        else meta.remove()
      },
    })
    .transform(page)
}
