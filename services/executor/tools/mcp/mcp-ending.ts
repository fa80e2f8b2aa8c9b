// The end of an MCP call as a result: the answer of the server, or the reason why there is none.

import type { CallToolResult } from '@modelcontextprotocol/client'
import { outcomeUnknown } from '../../../../shared/contract/call-endings.ts'
import { asSentence, cutToBytes } from '../../../../shared/lib/text-cut.ts'
import { rejected } from '../../results.ts'
import { described } from '../function-outcome.ts'
import { keptBytes } from '../kept-output.ts'
import type { ToolEnding } from '../tool.ts'
import { notes, notStarted } from '../tool-endings.ts'
import { UnknownInput } from './elicitation.ts'
import { LoginFault } from './token-file.ts'

/** The server's code for a tool that it does not have, and for arguments that it refuses. */
const invalidParams = -32602

/** Text blocks as they are. Others as a note: the model gets no data that it cannot read. */
export function answered(
  { content = [], structuredContent, isError }: CallToolResult,
  outputBytesMax: number | undefined,
): ToolEnding {
  const blocks = content.map((block) => {
    if (block.type === 'text') return block.text
    if (block.type === 'resource' && 'text' in block.resource) return String(block.resource.text)
    if (block.type === 'resource_link') return `[link: ${block.uri}]`
    return `[${block.type} content is left out]`
  })
  // A server that gives both writes the same value as text; then the value would stand there twice.
  const isText = content.some(({ type }) => type === 'text')
  const structured =
    structuredContent === undefined || isText ? [] : [JSON.stringify(structuredContent)]
  const whole = [...blocks, ...structured].join('\n').toWellFormed()
  const text = cutToBytes(whole, keptBytes(outputBytesMax))
  const isCut = text.length < whole.length
  const bytes = isCut ? Buffer.byteLength(whole) : 0
  const shown = text + notes({ text, bytes, cut: isCut, replaced: false })
  return isError === true
    ? {
        status: 'error',
        text: shown === '' ? 'The tool failed.' : shown,
        reason: 'the tool failed',
      }
    : { status: 'ok', text: shown, reason: '' }
}

/** `isSent`: the request may have reached the server. */
export function failed(error: unknown, isSent: boolean, server: string): ToolEnding {
  const { message } = described(error)
  const code = (error as { code?: unknown } | null)?.code
  if (!isSent)
    return notStarted({
      code: 'MCP',
      event: `its server ${server} cannot be reached`,
      fault: message,
    })
  if (isRefusal(error))
    return {
      status: 'error',
      text: `The server ${server} refuses the credentials of this agent. The call did not run.`,
      reason: 'its server refuses the credentials',
      fault: message,
    }
  if (code === invalidParams)
    return rejected(
      `the server ${server} refuses it: ${asSentence(message)}`,
      'refused by its server',
    )
  if (typeof code === 'number')
    return {
      status: 'error',
      text: `The server ${server} answers with an error: ${message}`,
      reason: `error ${code} of the server`,
    }
  if (error instanceof UnknownInput)
    return {
      status: 'error',
      text: `The server ${server} asks for input that this agent declines (${message}). The call did not complete.`,
      reason: 'needs input that no person gives',
    }
  if (code === 'UNSUPPORTED_RESULT_TYPE')
    return {
      status: 'error',
      text: `The server ${server} asks a person for input, which this agent cannot give. The call did not complete.`,
      reason: 'needs input of a person',
    }
  return {
    ...outcomeUnknown(
      `The connection to the server ${server} broke during the call.`,
      'the connection broke',
    ),
    fault: message,
  }
}

/** The server refused the request with 401 or 403, and there is no better login. */
function isRefusal(error: unknown): boolean {
  const { status, name = '' } = (error ?? {}) as { status?: unknown; name?: string }
  return error instanceof LoginFault || status === 401 || status === 403 || ofLogin.test(name)
}

/** The errors of the SDK while it gets tokens. */
const ofLogin = /^(?:OAuth|Unauthorized|Issuer|AuthorizationServer|InsufficientScope)\w*Error$/
