// The options of Weir.http: their types and checks.

import { WeirError } from '../../shared/lib/errors.ts'
import { shown } from '../../shared/settings/mistake.ts'
import { needOptions, needText } from '../given-options.ts'
import { refuseUnknownKeys } from '../known-keys.ts'

/**
 * `ask`: send messages and cancel turns. `decide`: decide about waiting calls. `read`: read
 * conversations and lists. `operate`: in the console, stop agents and tools, retry dead letters,
 * switch guards, change policies, approval rules and budgets. `unredacted`: in the console, see the
 * values that the rules of agents hide.
 */
export const httpRoles = ['ask', 'decide', 'operate', 'read', 'unredacted'] as const
export type HttpRole = (typeof httpRoles)[number]

/** The author of a request, as your program proved it. */
export type HttpPrincipal = {
  /** 1 to 255 visible ASCII characters, such as the id of a user. Decisions carry it. */
  name: string
  /**
   * The tenant whose conversations the author reaches: 1 to 64 of a-z, 0-9, `.`, `_` and `-`. Null:
   * the conversations of all tenants, and with the role `read` the console.
   */
  tenant: string | null
  /** Default: `ask` and `read`. */
  roles?: readonly HttpRole[]
  /** The context of the author's messages for the tools of agents, as in `ask`. */
  context?: unknown
  /** As in `ask`: the context is recorded, and a turn that continues after a restart has it. */
  record?: boolean
  /** Whether a client that disconnects cancels its turn. Default: false. */
  cancelOnDisconnect?: boolean
}

/** The parts of a request that name its author. */
export type HttpRequestHead = Pick<Request, 'headers' | 'method' | 'url'>

export type HttpOptions = {
  /**
   * Returns the author of a request if your program can prove it, such as by the cookie of a session.
   * Otherwise undefined: then the key of the request decides. Default: only keys count.
   */
  principal?: (
    request: HttpRequestHead,
  ) => HttpPrincipal | undefined | Promise<HttpPrincipal | undefined>
  /** A file of keys, from `weir api-keys create`. Default: only the key of the data folder counts. */
  apiKeys?: string
  /** The issuer of OpenID Connect tokens. */
  oidc?: {
    issuer: string
    /** The audience that a token must have. */
    audience: string
    /** The URL of the issuer's keys. */
    jwks: string | URL
    /** The claim with the tenant. Default: `tenant`. */
    tenantClaim?: string
    /** The claim with the roles. Default: `roles`. */
    rolesClaim?: string
    /** Whether a token with the tenant `*` reaches all tenants. Default: false. */
    allTenants?: boolean
    /** Lets people log in to the console with their accounts. Needs `allTenants`. */
    login?: {
      /** The id of your server at the issuer. */
      clientId: string
      /** Default: a public client. */
      clientSecret?: string
      /** The address of the console for browsers, such as `https://shop.example/api/weir/console`. */
      consoleUrl: string | URL
      /** Default: `openid`. */
      scope?: string
    }
  }
  /** Origins of pages that may call the handler, besides its own, such as `https://chat.example`. */
  origins?: readonly string[]
  /** The path of your program before those of Weir, such as `/api/weir`. Default: none. */
  basePath?: string
  /** Requests a minute of each author. Default: 6000. */
  requestsPerMinute?: number
  /** Sends events about waiting calls and soft budgets. `secret`: base64 of 24 bytes or more. */
  webhook?: { url: string | URL; secret: string }
}

const asked = { code: 'settings.invalid', subject: 'weir.http' } as const

const optionNames = Object.keys({
  principal: 1,
  apiKeys: 1,
  oidc: 1,
  origins: 1,
  basePath: 1,
  requestsPerMinute: 1,
  webhook: 1,
} satisfies Record<keyof HttpOptions, 1>)

/** Throws `settings.invalid` for options in another form. */
export function checkHttpOptions(options: HttpOptions): void {
  needOptions(options, { ...asked, example: "{ basePath: '/api/weir' }" })
  refuseUnknownKeys(options, optionNames, asked)
  const { principal, origins = [], basePath = '', requestsPerMinute = 1, oidc, webhook } = options
  needText('apiKeys', options.apiKeys)
  if (principal !== undefined && typeof principal !== 'function')
    throw invalid(`principal is ${shown(principal)}; must be a function of the request`)
  if (!Array.isArray(origins)) throw invalid(`origins is ${shown(origins)}; must be a list`)
  for (const origin of origins)
    if (URL.parse(String(origin))?.origin !== origin)
      throw invalid(
        `${shown(origin)} of origins is no origin: give one such as https://chat.example, without a path`,
      )
  if (typeof basePath !== 'string' || !/^(\/[\w.~-]+)*$/.test(basePath))
    throw invalid(
      `basePath is ${shown(basePath)}; must be a path such as /api/weir, without a slash at its end`,
    )
  if (!Number.isSafeInteger(requestsPerMinute) || requestsPerMinute < 1)
    throw invalid(`requestsPerMinute is ${shown(requestsPerMinute)}; must be a whole number from 1`)
  if (oidc !== undefined) {
    needOptions(oidc, { ...asked, subject: 'oidc', example: '{ issuer, audience, jwks }' })
    refuseUnknownKeys(oidc, oidcNames, { ...asked, subject: 'oidc' })
    for (const name of ['issuer', 'audience'] as const)
      if (typeof oidc[name] !== 'string' || oidc[name] === '')
        throw invalid(`oidc.${name} is ${shown(oidc[name])}; must be a text`)
    urlAt('oidc.jwks', oidc.jwks)
    if (oidc.allTenants !== undefined && typeof oidc.allTenants !== 'boolean')
      throw invalid(`oidc.allTenants is ${shown(oidc.allTenants)}; must be true or false`)
    checkLogin(oidc.login)
  }
  if (webhook === undefined) return
  needOptions(webhook, { ...asked, subject: 'webhook', example: '{ url, secret }' })
  refuseUnknownKeys(webhook, ['url', 'secret'], { ...asked, subject: 'webhook' })
  urlAt('webhook.url', webhook.url)
  if (typeof webhook.secret !== 'string') throw invalid('webhook.secret must be a text')
}

const oidcNames = ['issuer', 'audience', 'jwks', 'tenantClaim', 'rolesClaim', 'allTenants', 'login']
const loginNames = ['clientId', 'clientSecret', 'consoleUrl', 'scope']

function checkLogin(login: NonNullable<HttpOptions['oidc']>['login']): void {
  if (login === undefined) return
  needOptions(login, { ...asked, subject: 'oidc.login', example: '{ clientId, consoleUrl }' })
  refuseUnknownKeys(login, loginNames, { ...asked, subject: 'oidc.login' })
  if (typeof login.clientId !== 'string' || login.clientId === '')
    throw invalid(`oidc.login.clientId is ${shown(login.clientId)}; must be a text`)
  if (login.clientSecret !== undefined && typeof login.clientSecret !== 'string')
    throw invalid('oidc.login.clientSecret must be a text')
  needText('oidc.login.scope', login.scope)
  urlAt('oidc.login.consoleUrl', login.consoleUrl)
}

/** Throws `settings.invalid`. The text has no value: a path can be a secret. */
function urlAt(name: string, value: unknown): void {
  if (URL.parse(String(value)) === null) throw invalid(`${name} is no URL`)
}

function invalid(text: string): WeirError {
  return new WeirError('settings.invalid', text)
}
