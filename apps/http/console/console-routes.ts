// The routes of the console: its page, its state, its stream, and the requests of a person.
// It shows all conversations of the log, so a principal with a tenant is refused.
// A request that changes something is JSON with the page's own Origin. Another site
// can send neither.
// A decision names the hash of the arguments that the person saw, and carries the
// name of the principal.
// One retry of a dead letter runs at a time, so two pages write its record once.
// Values that the rules of agents hide need the role `unredacted`. A call that waits for
// a person has its exact arguments.

import { Hono } from 'hono'
import { pageAsked } from '../../../client/conversation/conversation.ts'
import { parseConversationId } from '../../../shared/contract/ids.ts'
import { limits } from '../../../shared/contract/limits.ts'
import { createSlots } from '../../../shared/lib/slots.ts'
import type { Sort } from '../../../shared/view/filter/turn-filter.ts'
import { withMoney } from '../../history/conversations/conversations.ts'
import { newestLetters, shownLetter } from '../../history/dead-letters/list.ts'
import { retryDeadLetter } from '../../history/dead-letters/retry.ts'
import { moneyReader } from '../../history/money.ts'
import { refuseSession } from '../edge/access/access.ts'
import { requireRole } from '../edge/access/principal.ts'
import { type Decision, decideFor } from '../edge/approval-decisions.ts'
import { consolePath } from '../edge/console-path.ts'
import type { EdgeContext } from '../edge/edge-context.ts'
import { sseResponse } from '../edge/sse.ts'
import { bad, HttpError } from '../http-error.ts'
import { textIn } from '../request-body.ts'
import type { HttpApp, HttpContext } from '../server.ts'
import { auditApi } from './audit-routes.ts'
import { consoleAssets, pagePolicy } from './console-assets.ts'
import type { ConsoleParts } from './console-parts.ts'
import { conversationApi } from './conversation-routes.ts'
import { operatorApi } from './operator-routes.ts'
import type { ConversationsData, MeData } from './page/console-state.ts'
import { bodyOf, isUnredacted, within } from './route-parts.ts'
import { conversationsPage, filtersOf, treeData } from './state/conversations-page.ts'
import { conversationEvents, stateEvents } from './state/live-events.ts'

/** Dead letters in the console. `weir dead-letters` has no such limit. */
const consoleLettersMax = 200

/** The files of the page. They hold no data. */
export function consoleFiles(): HttpApp {
  const app: HttpApp = new Hono()
  const assets = consoleAssets()
  app.get(`${consolePath}/`, (context) => context.redirect(`..${consolePath}`))
  for (const [path, { type, body }] of assets)
    app.get(path, (context) =>
      context.body(body, 200, {
        'content-type': type,
        'content-security-policy': pagePolicy,
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
        'cache-control': 'no-cache',
      }),
    )
  return app
}

/** The data of the page, and its requests. */
export function consoleApi(edge: EdgeContext, parts: ConsoleParts): HttpApp {
  const { reader, log, settings } = parts
  const { weirOf, principalOf } = edge
  const app: HttpApp = new Hono()
  const reports = createSlots(limits.consoleReportsMax)
  const retries = createSlots(1)
  const money = moneyReader(log)
  const api = `${consolePath}/api`

  app.use(`${api}/*`, async (context, next) => {
    const principal = principalOf(context.req.raw)
    try {
      if (principal.tenant !== null)
        throw new HttpError(
          403,
          'console.tenant',
          'the console shows all conversations: use a key without a tenant',
        )
      requireRole(principal, 'read')
    } catch (error) {
      if (principal.isSession === true) refuseSession(error)
      throw error
    }
    if (context.req.method !== 'GET') refuseOtherSites(context)
    context.env.outgoing.setHeader('cache-control', 'no-store')
    context.env.outgoing.setHeader('x-content-type-options', 'nosniff')
    await next()
  })

  app.route('/', operatorApi(edge, parts, api))
  app.route('/', conversationApi(edge, parts, api))
  app.route('/', auditApi(edge, parts, api))

  app.get(`${api}/state`, async (context) => context.json(await reader.state()))

  app.get(`${api}/me`, (context) => {
    const { id: name, identity, isSession = false } = principalOf(context.req.raw)
    return context.json({ name, identity, isSession } satisfies MeData)
  })

  app.get(`${api}/live`, (context) => stream(context, (signal) => stateEvents(reader, signal)))

  app.get(`${api}/conversation-live`, (context) => {
    const id = parseConversationId(context.req.query('id') ?? '')
    return stream(context, (signal) => conversationEvents(reader, id, signal))
  })

  app.get(`${api}/dead-letters`, async (context) =>
    context.json(await within(reports, () => newestLetters(log, consoleLettersMax))),
  )

  app.get(`${api}/dead-letter`, async (context) => {
    const place = context.req.query('place') ?? ''
    const unredacted = isUnredacted(edge, context)
    return context.json(await within(reports, () => shownLetter({ ...log, unredacted }, place)))
  })

  app.get(`${api}/filters`, async (context) => context.json(await filtersOf(parts)))

  app.get(`${api}/conversations`, async (context) => {
    const { limit = '100', after = '0', sort = 'time', ...where } = context.req.query()
    const asked = pageAsked({ where, sort: sort as Sort, limit: Number(limit), after })
    const page = await conversationsPage(parts, asked)
    const conversations = await withMoney(page.conversations, money)
    return context.json({ ...page, conversations } satisfies ConversationsData)
  })

  app.get(`${api}/tree`, async (context) => {
    const id = parseConversationId(context.req.query('id') ?? '')
    return context.json(await within(reports, () => treeData(id, { ...parts, money })))
  })

  app.post(`${api}/decide`, async (context) => {
    const principal = principalOf(context.req.raw)
    const body = await bodyOf(context)
    const answer = textIn(body, 'answer')
    if (answer !== 'allow' && answer !== 'deny') throw bad('answer must be allow or deny')
    const decision = { id: textIn(body, 'id'), hash: textIn(body, 'hash') }
    const reason = answer === 'allow' ? '' : textIn(body, 'reason')
    const values = answer === 'allow' && 'values' in body ? { values: textIn(body, 'values') } : {}
    const answered: Decision = { ...decision, answer, reason, ...values }
    return context.json(await decideFor(edge, principal, answered))
  })

  app.post(`${api}/cancel`, async (context) => {
    const principal = principalOf(context.req.raw)
    const body = await bodyOf(context)
    const isAgent = 'agent' in body
    requireRole(principal, isAgent ? 'operate' : 'ask')
    const where = isAgent
      ? { agent: textIn(body, 'agent') }
      : { conversation: textIn(body, 'conversation') }
    const messages = reader.openMessages(where)
    for (const message of messages) await weirOf(principal).cancel(message)
    return context.json({ cancelled: messages.length })
  })

  app.post(`${api}/retry-dead-letter`, async (context) => {
    const principal = principalOf(context.req.raw, 'operate')
    const body = await bodyOf(context)
    const place = textIn(body, 'place')
    const { text, isWritten } = await within(retries, () => retryDeadLetter(place, settings))
    edge.log.info({ by: principal.id, place, isWritten }, 'a dead letter was retried')
    return context.json({ text, isWritten })
  })

  function stream(
    { env }: HttpContext,
    events: (signal: AbortSignal) => ReturnType<typeof stateEvents>,
  ): Response {
    if (reader.viewers.count >= limits.consoleViewersMax)
      throw new HttpError(429, 'console.viewers', 'too many pages of the console are open')
    const gone = new AbortController()
    return sseResponse(edge, env.outgoing, {
      items: events(gone.signal),
      eventsOf: (event) => [event],
      onLeave: () => gone.abort(),
    })
  }

  return app
}

export function refuseOtherSites({ env, req }: HttpContext): void {
  const { origin, host } = env.incoming.headers
  const isOwn = origin !== undefined && URL.parse(origin)?.host === host
  if (!isOwn)
    throw new HttpError(403, 'console.origin', 'only the page of this server may change something')
  if (!/^application\/json\b/.test(req.header('content-type') ?? ''))
    throw new HttpError(415, 'http.body', 'the body must be application/json')
}
