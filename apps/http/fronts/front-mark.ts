// The mark of a front's answers. A client of Weir lets a call run only after an answer with the mark, so a
// foreign server on the port of a front allows nothing.
// Owns: the header, and the proof. The clients that cannot import this file repeat the proof: the command
// of a hook (host.ts), integrations/weir-hooks.ts and integrations/litellm.
// A client that can read the secret of its user sends a nonce. The answer then proves that its server
// has the secret too, for this nonce, path, request and answer. An error has no proof.

import { createHash, randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import type { HttpBindings } from '@hono/node-server'
import type { MiddlewareHandler } from 'hono'
import { ownSecret, ownSecretFile } from '../../../shared/lib/files/folder-owner.ts'
import { jsonBytes } from '../request-body.ts'
import type { HttpApp } from '../server.ts'

export const markHeader = 'x-weir-mark'
export const nonceHeader = 'x-weir-nonce'
/** The protocol of the fronts, and its version. */
export const markName = 'weir/1'

type Bytes = string | Uint8Array

/** `target`: the path from `/v1/` on, with the query. */
type Exchange = { nonce: string; target: string; request: Bytes; answer: Bytes }

/** Adds the mark to each answer of the routes after it. Add it first. */
export function markedRoutes(app: HttpApp): void {
  app.use('*', async ({ env: { outgoing } }, next) => {
    outgoing.setHeader(markHeader, markName)
    await next()
  })
  for (const path of ['/v1/hooks/*', '/v1/guest/*']) app.use(path, proving)
}

const proving: MiddlewareHandler<{ Bindings: HttpBindings }> = async (context, next) => {
  await next()
  const { incoming, outgoing } = context.env
  const nonce = context.req.header(nonceHeader)
  const secret = nonce === undefined ? undefined : ownSecret()
  if (nonce === undefined || secret === undefined || !context.res.ok) return
  const answer = Buffer.from(await context.res.clone().arrayBuffer())
  const request = jsonBytes.get(incoming) ?? ''
  const target = targetOf(incoming.url ?? '')
  outgoing.setHeader(markHeader, markWith(secret, { nonce, target, request, answer }))
}

/** Asks `url` for its answer to GET. `name`: without the proof that clients of this user need. */
export async function markOf(
  url: string,
  signal: AbortSignal,
): Promise<{ mark: 'proved' | 'name' | 'none'; text: string }> {
  const isNeeded = process.env.WEIR_PROOF !== 'off' && existsSync(ownSecretFile())
  const secret = isNeeded ? ownSecret() : undefined
  const nonce = secret === undefined ? '' : randomBytes(16).toString('hex')
  const headers = secret === undefined ? {} : { [nonceHeader]: nonce }
  const answer = await fetch(url, { headers, signal, redirect: 'manual' })
  const text = await answer.text()
  const given = answer.headers.get(markHeader) ?? ''
  const isNamed = given === markName || given.startsWith(`${markName} `)
  const exchange = { nonce, target: targetOf(url), request: '', answer: text }
  if (!isNamed) return { mark: 'none', text }
  const isProved = secret === undefined ? !isNeeded : given === markWith(secret, exchange)
  return { mark: isProved ? 'proved' : 'name', text }
}

/** The path of a front's route, without the path of a proxy in front. */
export function targetOf(url: string): string {
  return url.slice(Math.max(0, url.indexOf('/v1/')))
}

/** A hash between two secrets, which a shell can compute: an HMAC would show its key in a list of processes. */
function markWith(secret: string, { nonce, target, request, answer }: Exchange): string {
  const lines = [secret, nonce, target, sha256(request), sha256(answer), secret]
  return `${markName} ${sha256(lines.map((line) => `${line}\n`).join(''))}`
}

function sha256(bytes: Bytes): string {
  return createHash('sha256').update(bytes).digest('hex')
}
