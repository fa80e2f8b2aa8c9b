// A login of a person at an MCP server: OAuth with an authorization code and PKCE, by the SDK.
// Nothing is written before the authorization server has given tokens. An earlier login
// stays if this one fails.

import type {
  OAuthClientProvider,
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
  StoredOAuthTokens,
} from '@modelcontextprotocol/client'
import type { McpUrl } from '../../agents/agents.ts'
import { limits } from '../../contract/limits.ts'
import { version } from '../../lib/version.ts'
import { boundedFetch } from './bounded-fetch.ts'
import { withHeaders } from './connection.ts'
import { clientMetadata, type Login } from './token-file.ts'

/** A client that the authorization server knows already. Undefined: it registers. */
export type KnownClient = { id: string; secret?: string } | undefined

export type LoginOptions = {
  redirectUrl: string
  /** The value by which the callback shows that it belongs to this login. */
  state: string
  client: KnownClient
  /** Undefined: the scopes that the server names. */
  scope: string | undefined
  /** Shows the URL to the person. */
  onUrl(url: URL): void
  /** The parameters of the callback. */
  callback: Promise<URLSearchParams>
}

/** Undefined: the server answers without a login. Rejects with the SDK's errors. */
export async function loginAt(run: McpUrl, options: LoginOptions): Promise<Login | undefined> {
  const sdk = await import('@modelcontextprotocol/client')
  const { provider, result } = loginProvider(options)
  const transport = new sdk.StreamableHTTPClientTransport(new URL(run.url), {
    fetch: withHeaders(
      run,
      boundedFetch(() => {}),
    ),
    authProvider: provider,
  })
  const client = new sdk.Client(
    { name: 'weir', version: version() },
    { capabilities: {}, versionNegotiation: { mode: 'auto' } },
  )
  try {
    await client.connect(transport, { timeout: limits.mcpStartMs })
    return undefined
  } catch (error) {
    if (!(error instanceof sdk.UnauthorizedError)) throw error
    await transport.finishAuth(await options.callback)
  } finally {
    await client.close().catch(() => {})
    await transport.close().catch(() => {})
  }
  return { server: run.url, ...result() }
}

function loginProvider({ redirectUrl, state, client: known, scope, onUrl }: LoginOptions) {
  let client: StoredOAuthClientInformation | undefined = known && {
    client_id: known.id,
    ...(known.secret !== undefined && { client_secret: known.secret }),
  }
  let tokens: StoredOAuthTokens | undefined
  let verifier = ''
  let found: OAuthDiscoveryState | undefined
  const provider: OAuthClientProvider = {
    redirectUrl,
    clientMetadata: { ...clientMetadata(redirectUrl), ...(scope !== undefined && { scope }) },
    state: () => state,
    clientInformation: () => client,
    saveClientInformation(registered) {
      client = registered
    },
    tokens: () => tokens,
    saveTokens(given) {
      tokens = given
    },
    saveCodeVerifier(given) {
      verifier = given
    },
    codeVerifier: () => verifier,
    saveDiscoveryState(state) {
      found = state
    },
    discoveryState: () => found,
    redirectToAuthorization: onUrl,
  }
  return {
    provider,
    result() {
      if (client === undefined || tokens === undefined) throw new Error('there are no tokens')
      return { client, tokens }
    },
  }
}
