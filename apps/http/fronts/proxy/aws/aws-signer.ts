// Signs requests to AWS in place of their clients, with Signature Version 4.
// The signature has the credentials of this process, and the requests go to the operator's
// upstream only. A client with a key keeps its key.
// Written here, because the mapping to AWS's package is as long as the algorithm.

import { createHash, createHmac } from 'node:crypto'
import { type Clock, systemClock } from '../../../../../shared/lib/clock.ts'
import { type AwsCredentials, awsCredentials } from './aws-credentials.ts'
import { signerOf } from './signed-requests.ts'

/** A request on its way to the upstream. `headers`: raw names and values. */
type SignableRequest = { method: string; headers: readonly string[]; body: Buffer | undefined }

/** Resolves to the headers with a signature for this URL, in place of the client's. */
export type RequestSigner = (url: URL, request: SignableRequest) => Promise<readonly string[]>

/** Throws `settings.invalid` if this process has no credentials. */
export async function signerForAws(
  region: string,
  clock: Clock = systemClock,
): Promise<RequestSigner> {
  const credentials = await awsCredentials(clock)
  return async (url, request) =>
    hasKey(request.headers)
      ? request.headers
      : signedHeaders(url, request, { region, clock, ...(await credentials()) })
}

function hasKey(headers: readonly string[]): boolean {
  return headers.some((value, at) => {
    const name = at % 2 === 1 ? headers[at - 1]?.toLowerCase() : undefined
    return name === 'x-api-key' || (name === 'authorization' && signerOf(value) === undefined)
  })
}

/** The headers of a signature. The new ones replace them. */
const ofSignature = /^(host|authorization|x-amz-(date|security-token|content-sha256))$/

/** The signature covers the headers that AWS asks for. All others pass. */
function signedHeaders(
  url: URL,
  { method, headers, body = Buffer.alloc(0) }: SignableRequest,
  by: AwsCredentials & { region: string; clock: Clock },
): string[] {
  const date = new Date(by.clock.now()).toISOString().replace(/[-:]|\.\d+/g, '')
  const service = url.hostname.startsWith('bedrock-mantle') ? 'bedrock-mantle' : 'bedrock'
  const scope = [date.slice(0, 8), by.region, service, 'aws4_request']
  const { sessionToken: token } = by
  const bodyHash = sha256(body)
  const covered = new Map([
    ['host', url.host],
    ['x-amz-date', date],
    ['x-amz-content-sha256', bodyHash],
    ...(token === undefined ? [] : [['x-amz-security-token', token] as const]),
  ])
  const others: string[] = []
  for (let at = 0; at + 1 < headers.length; at += 2) {
    const name = (headers[at] as string).toLowerCase()
    const value = headers[at + 1] as string
    if (ofSignature.test(name)) continue
    if (/^(content-type$|x-amz-)/.test(name)) covered.set(name, value.trim().replace(/ +/g, ' '))
    else others.push(name, value)
  }
  const names = [...covered.keys()].sort()
  const canonical = [
    method,
    url.pathname.split('/').map(escaped).join('/'),
    queryOf(url),
    ...names.map((name) => `${name}:${covered.get(name)}`),
    '',
    names.join(';'),
    bodyHash,
  ].join('\n')
  const text = ['AWS4-HMAC-SHA256', date, scope.join('/'), sha256(canonical)].join('\n')
  const key = scope.reduce<string | Buffer>(hmac, `AWS4${by.secretAccessKey}`)
  const authorization = `AWS4-HMAC-SHA256 Credential=${by.accessKeyId}/${scope.join('/')}, SignedHeaders=${names.join(';')}, Signature=${hmac(key, text).toString('hex')}`
  return ['authorization', authorization, ...[...covered].flat(), ...others]
}

/** In order of the escaped names, then of the values: no character is in front of the separator. */
function queryOf({ searchParams }: URL): string {
  return [...searchParams]
    .map((pair) => pair.map(escaped).join('\0'))
    .sort()
    .map((pair) => pair.replace('\0', '='))
    .join('&')
}

/** AWS escapes all but letters, digits and four marks. */
function escaped(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}

function sha256(data: string | Buffer): string {
  return createHash('sha256').update(data).digest('hex')
}

function hmac(key: string | Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest()
}
