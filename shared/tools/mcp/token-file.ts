// The file of `auth.tokenFile`: a token that another program writes, or the login of `weir mcp login`,
// which is renewed here.
// A login is written to a file that only this user may read. Its values stand in no
// result, no error and no log line.
// A login is sent to the server that it was made for. Its refresh token goes only to
// the authorization server that gave it: the SDK compares the issuer.

import type {
  AuthProvider,
  OAuthClientMetadata,
  OAuthClientProvider,
  StoredOAuthClientInformation,
  StoredOAuthTokens,
} from '@modelcontextprotocol/client'
import type { McpServer } from '../../agents/agents.ts'
import { limits } from '../../contract/limits.ts'
import { writeSecretFile } from '../../lib/files/secret-files.ts'
import { boundedJson } from '../../lib/json/bounded-json.ts'
import { isObject } from '../../lib/json/json-object.ts'
import { secretMask } from '../../lib/log/secret-mask.ts'
import { readText } from '../../settings/text-file.ts'

/** The file with the login of an MCP server. */
const tokenFileBytesMax = 256 * 1024

/** The content of a file of `weir mcp login`. `server`: its URL. */
export type Login = {
  server: string
  client: StoredOAuthClientInformation
  tokens: StoredOAuthTokens
}

/** There is no usable login. The message is for people: the fault and the remedy, without a value. */
export class LoginFault extends Error {}

/** Throws `LoginFault`. */
function readTokenFile(file: string): { token: string } | { login: Login } {
  const content = readText(file, tokenFileBytesMax)
  if ('fault' in content)
    throw new LoginFault(`its tokenFile ${file} ${content.fault}; write it with weir mcp login`)
  const text = content.text.trim()
  if (!text.startsWith('{')) return { token: text }
  const login = boundedJson(text, limits.jsonDepthMax)
  if (isLogin(login)) return { login }
  throw new LoginFault(`its tokenFile ${file} has no login; write it with weir mcp login`)
}

function isLogin(value: unknown): value is Login {
  return (
    isObject(value) &&
    typeof value.server === 'string' &&
    isObject(value.client) &&
    isObject(value.tokens) &&
    typeof value.tokens.access_token === 'string'
  )
}

/** Throws `output.unwritable`. */
export function writeLogin(file: string, login: Login): void {
  writeSecretFile(file, login)
}

/** The name under which `weir mcp login` registers. */
export const clientMetadata = (redirectUrl: string): OAuthClientMetadata => ({
  client_name: 'Weir',
  redirect_uris: [redirectUrl],
  grant_types: ['authorization_code', 'refresh_token'],
  response_types: ['code'],
})

/** The tokens for a server, read for each request: a new login counts at once. Throws `LoginFault`. */
export function tokenProvider(
  { name, url }: { name: string; url: string },
  file: string,
): AuthProvider | OAuthClientProvider {
  const first = readTokenFile(file)
  let refused: string | undefined
  const loginIn = (found: ReturnType<typeof readTokenFile>): Login => {
    if ('login' in found && found.login.server === url) return found.login
    throw new LoginFault(`its tokenFile is a login of another server; run weir mcp login ${name}`)
  }
  const login = () => loginIn(readTokenFile(file))
  if ('token' in first)
    return {
      async token() {
        const found = readTokenFile(file)
        return 'token' in found ? found.token : loginIn(found).tokens.access_token
      },
    }
  const needsLogin = () => {
    throw new LoginFault(`its login is over; run weir mcp login ${name}`)
  }
  return {
    redirectUrl: unusedRedirect,
    clientMetadata: clientMetadata(unusedRedirect),
    clientInformation: () => login().client,
    tokens() {
      const { refresh_token, ...tokens } = login().tokens
      const isUsable = refresh_token !== undefined && refresh_token !== refused
      return isUsable ? { ...tokens, refresh_token } : tokens
    },
    saveTokens: (tokens) => writeLogin(file, { ...login(), tokens }),
    // Another process may have renewed it meanwhile: then its new refresh token counts.
    invalidateCredentials: () => {
      refused = login().tokens.refresh_token
    },
    redirectToAuthorization: needsLogin,
    saveCodeVerifier: needsLogin,
    codeVerifier: needsLogin,
  }
}

/** The SDK wants one, and uses it for a login only. */
const unusedRedirect = 'http://127.0.0.1/callback'

type Mask = (text: string) => string
const masks = new Map<string, { values: string; hide: Mask }>()

/** Hides the values of the server's `tokenFile`, as they are now. Undefined: it has none. */
export function tokenMask({ run }: McpServer): Mask | undefined {
  if (run.kind !== 'url' || run.auth === undefined || !('tokenFile' in run.auth)) return undefined
  const { tokenFile } = run.auth
  const values = valuesIn(tokenFile)
  const known = masks.get(tokenFile)
  const key = JSON.stringify(values)
  if (known?.values === key) return known.hide
  // An answer to a request that began before a renewal may have the values before it.
  const hide = secretMask([...values, ...(known === undefined ? [] : JSON.parse(known.values))])
  masks.set(tokenFile, { values: key, hide })
  return hide
}

function valuesIn(file: string): string[] {
  try {
    const found = readTokenFile(file)
    if ('token' in found) return [found.token]
    const { tokens, client } = found.login
    const values = [
      tokens.access_token,
      tokens.refresh_token,
      tokens.id_token,
      client.client_secret,
    ]
    return values.filter((value) => typeof value === 'string')
  } catch {
    return []
  }
}
