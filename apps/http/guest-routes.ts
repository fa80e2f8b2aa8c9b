// `/v1/guest/{agent}/…`: the interface of a front over HTTP, for agents in any language.
// Does not own: the algorithm (client/guard), access (server.ts).

import type {
  GuestConversation,
  GuestRequest,
  GuestResult,
} from '../../client/guard/guest-conversation.ts'
import { limits } from '../../shared/contract/limits.ts'
import { WeirError } from '../../shared/lib/errors.ts'
import { isObject } from '../../shared/lib/json/json-object.ts'
import { formatNames } from '../../shared/wire/formats.ts'
import type { GuardsByAgent } from './guards-by-agent.ts'
import { bad, HttpError } from './http-error.ts'
import { jsonOf, textIn } from './request-body.ts'
import type { HttpApp, HttpContext } from './server.ts'

type Body = Record<string, unknown>

/** Adds the four routes. */
export function guestRoutes({ guardOf }: Pick<GuardsByAgent, 'guardOf'>): (app: HttpApp) => void {
  /** Reads the body, and runs `answer` with the conversation that it names. */
  async function within(
    context: HttpContext,
    answer: (conversation: GuestConversation, body: Body) => Promise<Response>,
  ): Promise<Response> {
    const body = await jsonOf(context.env.incoming, limits.frontBodyBytesMax)
    const id = nameIn(body, 'conversation')
    const place = Object.fromEntries(
      ['turn', 'parent', 'root'].flatMap((name) =>
        body[name] === undefined ? [] : [[name, nameIn(body, name)]],
      ),
    )
    const guard = await guardOf(context.req.param('agent') ?? '')
    try {
      return await answer(guard.conversation(id, place), body)
    } catch (error) {
      throw error instanceof WeirError && error.code.startsWith('guest.')
        ? new HttpError(error.code === 'guest.over' ? 409 : 400, error.code, error.message)
        : error
    }
  }

  return (app) => {
    app.post('/v1/guest/:agent/before-model', (context) =>
      within(context, async (conversation, body) =>
        context.json(await conversation.beforeModel(requestIn(body), context.req.raw.signal)),
      ),
    )
    app.post('/v1/guest/:agent/after-model', (context) =>
      within(context, async (conversation, body) => {
        if (body.answer === undefined) throw bad('answer is missing')
        const calls = await conversation.afterModel(
          { request: requestIn(body), answer: body.answer },
          { waitMs: waitMsOf(context.req.query('waitMs')), signal: context.req.raw.signal },
        )
        const isOpen = calls.some(({ verdict }) => verdict === 'pending')
        return context.json({ calls }, isOpen ? 202 : 200)
      }),
    )
    app.post('/v1/guest/:agent/report-results', (context) =>
      within(context, async (conversation, body) => {
        await conversation.reportResults(resultsIn(body))
        return context.body(null, 204)
      }),
    )
    app.post('/v1/guest/:agent/end-turn', (context) =>
      within(context, async (conversation) => {
        await conversation.endTurn()
        return context.body(null, 204)
      }),
    )
  }
}

function requestIn({ format, body, host }: Body): GuestRequest {
  const known = formatNames.find((name) => name === format)
  if (known === undefined)
    throw new HttpError(400, 'guest.format', `format must be one of: ${formatNames.join(', ')}`)
  return { format: known, body, host: typeof host === 'string' ? host : undefined }
}

const statuses = ['ok', 'error', 'unknown', 'skipped'] as const

function resultsIn({ results }: Body): GuestResult[] {
  if (!Array.isArray(results)) throw bad('results must be a list')
  return results.map((result: unknown, at): GuestResult => {
    const where = `results[${at}]`
    if (!isObject(result)) throw bad(`${where} must be an object`)
    const status = statuses.find((name) => name === result.status)
    if (status === undefined) throw bad(`${where}.status must be one of: ${statuses.join(', ')}`)
    const { nth } = result
    if (nth !== undefined && !(Number.isSafeInteger(nth) && (nth as number) >= 0))
      throw bad(`${where}.nth must be a whole number from 0`)
    return {
      callId: textIn(result, 'callId', `${where}.`),
      status,
      text: textIn(result, 'text', `${where}.`),
      ...(nth === undefined ? {} : { nth: nth as number }),
    }
  })
}

/** An empty name would be shared by all clients that have none. */
function nameIn(body: Body, name: string): string {
  const value = textIn(body, name)
  if (value === '') throw bad(`${name} must not be empty`)
  return value
}

/** The longest time that the answer may wait for guards and persons. */
function waitMsOf(text: string | undefined): number {
  const waitMs = Number(text ?? 25_000)
  if (!(waitMs >= 0 && waitMs <= 600_000))
    throw new HttpError(400, 'http.query', 'waitMs must be 0 to 600000 milliseconds')
  return waitMs
}
