// `/v1/hooks/{agent}/{kind}`: the hooks of hosts over HTTP. A host's command hook posts the same.
// Does not own: access (server.ts), the front (hook-front.ts).
// `GET` on the same paths lists the kinds, for `weir hooks`.
// An event that Weir cannot judge gets 503, so a host that can fail closed does.

import type { Logger } from 'pino'
import { limits } from '../../../../shared/contract/limits.ts'
import { hostNamed } from '../../../../shared/hosts/hosts.ts'
import type { Clock } from '../../../../shared/lib/clock.ts'
import { withExactNumbers } from '../../../../shared/lib/json/raw-numbers.ts'
import type { GuardsByAgent } from '../../guards-by-agent.ts'
import { HttpError } from '../../http-error.ts'
import { jsonOf } from '../../request-body.ts'
import type { HttpApp } from '../../server.ts'
import { notJudgedNow } from '../person-texts.ts'
import { hookFront } from './hook-front.ts'
import { hookKinds, hookPayloadOf } from './hook-payload.ts'
import type { HostSessions } from './host-sessions.ts'

export type HookRoutesOptions = Pick<GuardsByAgent, 'guardOf'> & {
  /** The same object as the proxy's, so that both judge a call once. */
  sessions: HostSessions
  clock: Clock
  log: Logger
}

/** Adds the route. */
export function hookRoutes(options: HookRoutesOptions): (app: HttpApp) => void {
  const front = hookFront(options)
  return (app) => {
    app.get('/v1/hooks/:agent/:kind', (context) => context.json({ hooks: hookKinds }))
    app.post('/v1/hooks/:agent/:kind', async (context) => {
      const kind = hookKinds.find((name) => name === context.req.param('kind'))
      if (kind === undefined)
        throw new HttpError(404, 'http.path', `the hooks are: ${hookKinds.join(', ')}`)
      // A payload has no number of Weir's own. The host runs its call with each digit.
      const body = await jsonOf(context.env.incoming, limits.hookBodyBytesMax, {
        read: withExactNumbers,
      })
      const agent = context.req.param('agent')
      // `weir hooks install` names the guest after its host.
      const payload = { ...hookPayloadOf(kind, body), host: hostNamed(agent)?.name }
      try {
        const guard = await options.guardOf(agent)
        const answer = await front.answer({ agent, guard }, payload, context.req.raw.signal)
        if (answer === undefined) return context.body(null, 200)
        return typeof answer === 'string' ? context.text(answer) : context.json(answer)
      } catch (error) {
        if (error instanceof HttpError) throw error
        options.log.warn({ err: error, kind }, 'an event of a host was not judged')
        return context.json({ error: { type: 'hooks.unjudged', message: notJudgedNow } }, 503)
      }
    })
  }
}
