// The end of an MCP call as a result: the answer of the server, or the reason why there is none.

import type { CallToolResult } from '@modelcontextprotocol/client'
import { outcomeUnknown, rejected } from '../../contract/call/call-endings.ts'
import { asSentence, cutToBytes } from '../../lib/text-cut.ts'
import * as texts from '../../model-texts/endings.ts'
import { keptBytes } from '../kept-output.ts'
import { described } from '../module/function-outcome.ts'
import type { ToolEnding } from '../tool.ts'
import { notes, notStarted } from '../tool-endings.ts'
import { letterHash, wholeText } from './answer-text.ts'
import { UnknownInput } from './elicitation.ts'
import { LoginFault } from './token-file.ts'

/** The server's code for a tool that it does not have, and for arguments that it refuses. */
const invalidParams = -32602

/**
 * The text of the answer, which the loop rules compare. `isForwarded`: a host gets the whole answer,
 * so a cut text ends with its hash.
 */
export function answered(
  answer: CallToolResult,
  { outputBytesMax, isForwarded }: { outputBytesMax: number | undefined; isForwarded: boolean },
): ToolEnding {
  const whole = wholeText(answer)
  const text = cutToBytes(whole, keptBytes(outputBytesMax))
  const isCut = text.length < whole.length
  const bytes = isCut ? Buffer.byteLength(whole) : 0
  const identity = isCut && isForwarded ? `\n[hash ${letterHash(whole)}]` : ''
  const shown = text + notes({ text, bytes, cut: isCut, replaced: false }) + identity
  return answer.isError === true
    ? {
        status: 'error',
        text: shown === '' ? texts.toolFailed : shown,
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
      text: texts.credentialsRefused(server),
      reason: 'its server refuses the credentials',
      fault: message,
    }
  if (code === invalidParams)
    return rejected(texts.serverRefuses(server, asSentence(message)), 'refused by its server')
  if (typeof code === 'number')
    return {
      status: 'error',
      text: texts.serverError(server, message),
      reason: `error ${code} of the server`,
    }
  if (error instanceof UnknownInput)
    return {
      status: 'error',
      text: texts.inputDeclined(server, message),
      reason: 'needs input that no person gives',
    }
  if (code === 'UNSUPPORTED_RESULT_TYPE')
    return {
      status: 'error',
      text: texts.inputWanted(server),
      reason: 'needs input of a person',
    }
  return {
    ...outcomeUnknown(texts.serverBroke(server), 'the connection broke'),
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
