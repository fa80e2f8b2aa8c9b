// The handler of Weir.http: the edge with the console, for the server of a program. One app answers
// requests of the web and those of Node.
// Without a file of keys and without an issuer, the key of the data folder counts.
// So no handler is open to everybody.

import { getRequestListener } from '@hono/node-server'
import type { Logger } from 'pino'
import type { OpenedHandler } from '../../../client/http/http-handler.ts'
import type { HttpOptions } from '../../../client/http/http-options.ts'
import { WeirError } from '../../../shared/lib/errors.ts'
import { createLog } from '../../../shared/lib/log/log.ts'
import type { Settings } from '../../../shared/settings/settings.ts'
import { type LoginWords, oidcLoginOf, oidcOptionsOf } from '../edge/access/oidc.ts'
import { ownKeyOf } from '../edge/access/own-key.ts'
import type { EdgeWeir } from '../edge/access/own-weir.ts'
import { pathAdvice } from '../edge/edge.ts'
import { httpApp } from '../server.ts'
import { webhookOptionsOf } from '../webhook/webhook.ts'
import { openEdgeWithConsole } from './edge-with-console.ts'
import { webAnswer } from './web-answer.ts'

export type ProgramParts = {
  weir: EdgeWeir
  settings: Settings
  /** Undefined: the program gave none. */
  givenLog: Logger | undefined
}

/**
 * Throws `settings.invalid` for keys and a login, and `usage` for a webhook, that cannot be used. The log
 * has it too.
 */
export async function openProgramHandler(
  options: HttpOptions,
  parts: ProgramParts,
): Promise<OpenedHandler> {
  try {
    return await handlerOn(options, parts)
  } catch (error) {
    const log = parts.givenLog ?? createLog({ level: 'warn' })
    log.error({ err: error }, 'the HTTP handler of this program cannot be opened')
    throw error
  }
}

async function handlerOn(
  {
    principal,
    apiKeys,
    oidc,
    origins = [],
    basePath = '',
    requestsPerMinute,
    webhook,
  }: HttpOptions,
  { weir, settings, givenLog }: ProgramParts,
): Promise<OpenedHandler> {
  const hasKeys = apiKeys !== undefined || oidc !== undefined
  const own = hasKeys ? undefined : ownKeyOf(settings.dataFolder)
  const log = givenLog ?? createLog({ level: 'warn', secrets: own === undefined ? [] : [own.key] })
  const access = {
    apiKeys,
    oidc: oidc && oidcOf(oidc),
    ownKey: own?.key,
    principal,
  }
  const edge = await openEdgeWithConsole(settings, {
    weir,
    access,
    origins,
    requestsPerMinute,
    log,
    webhook: webhook && webhookOptionsOf(String(webhook.url), webhook.secret, 'webhook.url'),
  })
  const app = httpApp({
    log,
    routes: [(root) => void root.route(basePath === '' ? '/' : basePath, edge.app)],
    pathAdvice,
  })
  const listener = getRequestListener(app.fetch, { overrideGlobalObjects: false })
  return {
    fetch: (request) => webAnswer(app, request),
    node: async (request, response) => void (await listener(request, response)),
    close: edge.close,
  }
}

function oidcOf({ login, jwks, ...given }: NonNullable<HttpOptions['oidc']>) {
  const options = oidcOptionsOf({ ...given, jwks: new URL(jwks) })
  if (login === undefined) return options
  const { clientId, clientSecret, consoleUrl, scope } = login
  const wanted = { clientId, clientSecret, consoleUrl, scope }
  return { ...options, login: oidcLoginOf(wanted, options, loginOptions) }
}

const loginOptions: LoginWords = {
  names: {
    issuer: 'oidc.issuer',
    allTenants: 'oidc.allTenants',
    clientId: 'oidc.login.clientId',
    consoleUrl: 'oidc.login.consoleUrl',
    scope: 'oidc.login.scope',
  },
  fault: (text) => new WeirError('settings.invalid', text),
}
