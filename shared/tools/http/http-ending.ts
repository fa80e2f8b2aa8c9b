// Turns an answer, or its absence, into the result of a call: the text for the model and the short
// reason.

import { STATUS_CODES } from 'node:http'
import * as texts from '../../model-texts/tools.ts'
import type { Output } from '../kept-output.ts'
import type { ToolEnding } from '../tool.ts'
import { notes, notReady, notStarted } from '../tool-endings.ts'
import { bodyLine } from './body-line.ts'

/**
 * Bytes of a tool's HTTP response that are read, kept or not, before its connection is closed.
 */
export const toolResponseBytesMax = 64 * 1024 * 1024

/** `isWhole` is false if the answer was longer than the part that was read. */
export function answered({
  status,
  body,
  isWhole,
}: {
  status: number
  body: Output
  isWhole: boolean
}): ToolEnding {
  const shown = body.text + notes(body) + (isWhole ? '' : texts.bodyUnread(toolResponseBytesMax))
  if (status >= 200 && status < 300) return { status: 'ok', text: shown, reason: '' }
  const meaning = STATUS_CODES[status]
  const line = bodyLine(body.text) ?? meaning
  return {
    status: 'error',
    text:
      texts.httpStatus(meaning === undefined ? `${status}` : `${status} (${meaning})`) +
      excerpt(shown),
    reason: `HTTP ${status}${line === undefined ? '' : `: ${line}`}`,
  }
}

/** A redirect, which is not followed. */
export function redirected({
  status,
  url,
  location,
}: {
  status: number
  url: URL
  location: string | undefined
}): ToolEnding {
  const to = location === undefined ? null : URL.parse(location, url.href)
  return {
    status: 'error',
    text: texts.httpRedirect(status),
    reason: `HTTP ${status}: redirects are not followed`,
    fault: `${url.origin} redirects${to === null ? '' : ` to ${to.origin}`} (HTTP ${status}); correct url in the agent file, redirects are not followed`,
  }
}

/** The connection broke after the request was sent. */
export function broken({
  code,
  status,
  body,
}: {
  code: string
  status: number | undefined
  body: Output | undefined
}): ToolEnding {
  const when =
    status === undefined ? 'before it answered' : `in the middle of its answer (HTTP ${status})`
  const isHttp = !code.startsWith('HPE_')
  const event = isHttp ? texts.connectionBroke(`${when} (${code})`) : texts.notHttp(code)
  return {
    status: 'error',
    text: event + shownPart(body),
    reason: isHttp ? `connection broke ${when}: ${code}` : `not HTTP: ${code}`,
  }
}

/** The timeout passed after the request was sent. */
export function notAnswered({
  timeoutMs,
  body,
}: {
  timeoutMs: number
  body: Output | undefined
}): ToolEnding {
  const text = texts.answerTooSlow(timeoutMs) + shownPart(body)
  return { status: 'timed_out', text, reason: `timed out after ${timeoutMs} ms` }
}

/** The timeout passed before the request could be sent. */
export function notConnected({ timeoutMs, url }: { timeoutMs: number; url: URL }): ToolEnding {
  return notReady({
    event: texts.notReached(timeoutMs),
    timeoutMs,
    fault: `cannot connect to ${url.origin} within ${timeoutMs} ms; ${remedy}`,
  })
}

/** No connection, so nothing was sent. */
export function unreachable({ code, url }: { code: string; url: URL }): ToolEnding {
  const event =
    causes[code] ??
    (isAboutTls(code)
      ? 'no secure connection to its server could be made'
      : 'its server could not be reached')
  return notStarted({
    code,
    event,
    fault: `cannot reach ${url.origin}: ${event} (${code}); ${remedy}`,
  })
}

/** Node refuses to send it. Its message may contain the URL, its codes do not. */
export function notSendable(error: unknown): ToolEnding {
  const { code = 'unknown' } = error as NodeJS.ErrnoException
  const event = 'its request cannot be sent'
  return notStarted({
    code,
    event,
    fault: `the tool's ${event} (${code}); correct url or headers in the agent file`,
  })
}

const remedy = 'start the server, or correct url in the agent file'

const causes: Record<string, string> = {
  ENOTFOUND: "its server's name is not known",
  EAI_AGAIN: "its server's name could not be looked up",
  ECONNREFUSED: 'its server refused the connection',
  ECONNRESET: 'its server closed the connection',
}

function isAboutTls(code: string): boolean {
  return /CERT|TLS|SSL|SIGNATURE|EPROTO/.test(code)
}

function excerpt(body: string): string {
  return body.trim() === '' ? texts.emptyBody : texts.body(body.trimEnd())
}

function shownPart(body: Output | undefined): string {
  return body === undefined || body.text === '' ? '' : excerpt(body.text + notes(body))
}
