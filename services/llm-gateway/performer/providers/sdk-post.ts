// Sends the requests of one agent to one path of its provider. The SDK makes the URL and the headers
// once, because they are the same for each request. For each request it would need more CPU time
// than the request itself.
//
// SDK-POST-1. A foreign `fetch` gets its own copy of the headers, so it can change them.

import { parseJson } from '../../../../shared/wire/exact-json.ts'
import { httpFetch } from '../wire/http-fetch.ts'

/** A client of either SDK. */
type SdkClient = {
  buildRequest(options: {
    method: 'post'
    path: string
    body: object
    stream: true
  }): Promise<{ url: string; req: { headers: Headers } }>
}

/** The SDK's error for an HTTP status: a static method of its APIError. */
type StatusError = (
  status: number,
  body: object | undefined,
  text: string | undefined,
  headers: Headers,
) => Error

/**
 * Resolves with the beginning of the answer. Rejects with the error of `fetch`, or with a
 * `statusError`. `shown`: changes the JSON body of an error into the form that the SDK reads.
 */
export function sdkPost({
  client,
  path,
  fetch,
  statusError,
  shown = (body) => body,
}: {
  client: SdkClient
  path: string
  fetch: typeof globalThis.fetch
  statusError: StatusError
  shown?: (body: unknown) => unknown
}): (body: object, signal: AbortSignal) => Promise<Response> {
  let target: Promise<{ url: string; headers: [string, string][] }> | undefined

  async function build(): Promise<{ url: string; headers: [string, string][] }> {
    const { url, req } = await client.buildRequest({ method: 'post', path, body: {}, stream: true })
    return { url, headers: [...req.headers] }
  }

  return async (body, signal) => {
    target ??= build()
    const { url, headers } = await target
    const response = await fetch(url, {
      method: 'POST',
      headers: fetch === httpFetch ? headers : new Headers(headers), // keeps SDK-POST-1
      body: JSON.stringify(body),
      signal,
    })
    if (response.ok) return response
    const text = await response.text()
    const sent = shown(parseJson(text)) as object | undefined
    throw statusError(response.status, sent, sent ? undefined : text, response.headers)
  }
}
