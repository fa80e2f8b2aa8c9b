// The requests of the console's page, and the stream of its state.
// The first event of a stream is the whole state, so a new connection has no gap.

import { createParser } from 'eventsource-parser'

/** The key that a person typed. It stays in this tab. */
const keyName = 'weir-console-key'

export function setKey(key: string): void {
  sessionStorage.setItem(keyName, key)
}

/** Whether a person typed a key in this tab. */
export function hasKey(): boolean {
  return sessionStorage.getItem(keyName) !== null
}

export class RequestError extends Error {
  readonly status: number
  /** The server offers a login. */
  readonly hasLogin: boolean
  /** The account of the session has no access. */
  readonly hasLogout: boolean

  constructor(status: number, message: string, { login, logout }: Offered) {
    super(message)
    this.name = 'RequestError'
    this.status = status
    this.hasLogin = login === true
    this.hasLogout = logout === true
  }
}

/** The offers of an answer to the person. */
type Offered = { login?: boolean; logout?: boolean }

/** Throws RequestError with the text of the server. */
async function request(path: string, options: RequestInit = {}): Promise<Response> {
  const key = sessionStorage.getItem(keyName)
  const headers = new Headers(options.headers)
  if (key !== null) headers.set('authorization', `Bearer ${key}`)
  // Relative to /console, which may stand below a path of the program that serves it.
  const response = await fetch(`console/api/${path}`, { ...options, headers, cache: 'no-store' })
  if (response.ok) return response
  const body = (await response.json().catch(() => undefined)) as
    | { error?: Offered & { message?: string } }
    | undefined
  throw new RequestError(
    response.status,
    body?.error?.message ?? `the server answers ${response.status}`,
    body?.error ?? {},
  )
}

export async function read<T>(path: string, signal: AbortSignal | null = null): Promise<T> {
  return (await request(path, { signal })).json() as Promise<T>
}

export async function send<T>(path: string, body: object): Promise<T> {
  const headers = { 'content-type': 'application/json' }
  const options = { method: 'POST', headers, body: JSON.stringify(body) }
  return (await request(path, options)).json() as Promise<T>
}

const placeName = 'weir-console-place'

/** Leaves the page for the issuer's. The page opens at the same place afterwards. */
export function login(): void {
  // A key in this tab would win over the session.
  sessionStorage.removeItem(keyName)
  sessionStorage.setItem(placeName, location.hash)
  location.assign('console/login')
}

/** The place of before the login. Undefined: no login led here. */
export function placeOfLogin(): string | undefined {
  const place = sessionStorage.getItem(placeName) ?? undefined
  sessionStorage.removeItem(placeName)
  return place
}

/** Ends the session here and at the issuer, whose page may follow. */
export async function logout(): Promise<void> {
  const headers = { 'content-type': 'application/json' }
  const response = await fetch('console/logout', { method: 'POST', headers, body: '{}' })
  if (!response.ok) throw new Error(`the server answers ${response.status}, so you are logged in`)
  const { url } = (await response.json()) as { url: string }
  location.assign(url)
}

/** Reads a file, and offers it to the person as a download of this name. */
export async function download(path: string, name: string): Promise<void> {
  const address = URL.createObjectURL(await (await request(path)).blob())
  const link = document.createElement('a')
  Object.assign(link, { href: address, download: name })
  link.click()
  setTimeout(() => URL.revokeObjectURL(address), 60_000)
}

export type Following = {
  onEvent(name: string, data: unknown): void
  onOpen(): void
  /** The connection is lost, and the next attempt follows. */
  onLost(error: unknown): void
}

const retryMs = 1_000

/** Follows a stream until `signal` aborts. */
export async function follow(path: string, to: Following, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      const { body } = await request(path, { signal })
      if (body === null) throw new Error('the stream has no body')
      to.onOpen()
      const parser = createParser({
        onEvent: ({ event = '', data }) => to.onEvent(event, JSON.parse(data)),
      })
      const reader = body.pipeThrough(new TextDecoderStream()).getReader()
      for (;;) {
        const { done, value } = await reader.read()
        if (done) break
        parser.feed(value)
      }
      throw new Error('the server ended the stream')
    } catch (error) {
      if (signal.aborted) return
      to.onLost(error)
      if (error instanceof RequestError && error.status < 500 && error.status !== 429) return
      await new Promise((resolve) => setTimeout(resolve, retryMs))
    }
  }
}
