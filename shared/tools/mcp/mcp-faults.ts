// The faults of MCP servers: for people, of a server that gives no connection or no list, and for the
// model, of a call without an answer. The first row or line that fits counts. A line for people has no
// stack, and no query of an URL, which may hold a key. Pure.

import type { McpServer } from '../../agents/agents.ts'
import { denied, outcomeUnknown } from '../../contract/call/call-endings.ts'
import { asSentence, onOneLine, shortened } from '../../lib/text-cut.ts'
import * as texts from '../../model-texts/tools.ts'
import { described } from '../module/function-outcome.ts'
import type { ToolEnding } from '../tool.ts'
import { notStarted } from '../tool-endings.ts'
import { UnknownInput } from './elicitation.ts'
import { LoginFault } from './token-file.ts'

/** The end of a server's program. Both null: it does not read its input any more. */
export type ProgramEnd = { code: number | null; signal: NodeJS.Signals | null }

/** The state of a server's program at the fault. `printed`: its error output. */
export type ProgramState = { printed: string; ended: ProgramEnd | undefined }

const lineBytesMax = 300
const causesMax = 5

// ── No connection ──

/** `sign`: of the error. `how`: the end of the program. `line`: of its output. */
type Facts = { sign: string; at: string; message: string; how: string; line: string }
type ConnectRow = [sign: RegExp, what: (facts: Facts) => string, remedy: string]

const runIt = 'run its command in a terminal, and correct it or what it needs'
/** Signs: codes, and `ended`. */
const programFaults: ConnectRow[] = [
  [/^ENOENT$/, ({ at }) => `there is no program ${at}`, 'install it, or correct its command'],
  [/^EACCES$/, ({ at }) => `${at} may not be executed`, 'make it executable (chmod +x)'],
  [/^ended$/, ({ how, line }) => `its program ended${how}${line}`, runIt],
  [
    /^REQUEST_TIMEOUT$/,
    ({ line }) => `its program gives no answer in time${line}`,
    'give it more time (startMs, or --start-ms of weir mcp), or run it in a terminal',
  ],
  [/^/, ({ message, line }) => `its program does not speak MCP (${message})${line}`, runIt],
]

const answers = ({ at, sign }: Facts) => `${at} answers with ${sign}`
const says = ({ at, message }: Facts) => `${at}: ${message}`
/** Signs: the status, otherwise the name of one error, otherwise the code. */
const httpFaults: ConnectRow[] = [
  [/^(?:401|403)$/, answers, 'correct its headers or its auth'],
  [/^(?:429|[5-9]\d\d)$/, answers, 'try again later, or ask its operator'],
  [/^\d+$/, answers, 'correct its url'],
  [
    /^AuthorizationServerMismatchError$/,
    says,
    'if that is right, set auth.issuer, or log in again with weir mcp login',
  ],
  [
    /^REQUEST_TIMEOUT$/,
    ({ at }) => `${at} gives no answer in time`,
    'start it, correct its url, or give it more time (startMs)',
  ],
  [/^/, says, 'start it, or correct its url'],
]

/** One line: the fault, then the remedy. `program` undefined: a server over HTTP. */
export function connectFault(
  { name, run }: McpServer,
  error: unknown,
  { printed, ended }: ProgramState = { printed: '', ended: undefined },
): string {
  const chain = chainOf(error)
  const login = chain.find((one) => one instanceof LoginFault)
  if (login !== undefined) return `the MCP server ${name} cannot be reached: ${login.message}`
  const code = chain.flatMap(({ code }) => (typeof code === 'string' ? [code] : [])).at(-1) ?? ''
  const line = errorLineOf(printed)
  const facts = {
    message: shortened(onOneLine(chain.at(-1)?.message || described(error).message), lineBytesMax),
    how: howEnded(ended),
    line: line === '' ? '' : `: ${line}`,
  }
  const text =
    run.kind === 'command'
      ? faultIn(programFaults, {
          ...facts,
          at: programPlace(run, code),
          sign: programSign(code, ended),
        })
      : faultIn(httpFaults, { ...facts, at: urlPlace(run), sign: httpSign(code, error, chain) })
  return `the MCP server ${name} cannot be reached: ${text}`
}

function faultIn(rows: ConnectRow[], facts: Facts): string {
  const row = rows.find(([sign]) => sign.test(facts.sign))
  return row === undefined ? facts.message : `${row[1](facts)}; ${row[2]}`
}

function programSign(code: string, ended: ProgramEnd | undefined): string {
  const isMissing = code === 'ENOENT' || code === 'EACCES'
  return !isMissing && (ended !== undefined || code === 'EPIPE') ? 'ended' : code
}

function httpSign(code: string, error: unknown, chain: Error[]): string {
  const { status } = (error ?? {}) as { status?: unknown }
  if (typeof status === 'number') return `${status}`
  return chain.find(({ name }) => name === 'AuthorizationServerMismatchError')?.name ?? code
}

function programPlace(
  { argv: [file = ''], cwd }: { argv: string[]; cwd?: string | undefined },
  code: string,
): string {
  return code === 'ENOENT' && cwd !== undefined ? `${file}, or no folder ${cwd}` : file
}

/** Without the user, the query and the fragment. */
function urlPlace(run: McpServer['run']): string {
  const parsed = run.kind === 'url' ? URL.parse(run.url) : null
  return parsed === null ? 'its url' : `${parsed.origin}${parsed.pathname}`
}

function howEnded(ended: ProgramEnd | undefined): string {
  if (ended?.signal != null) return ` by ${ended.signal}`
  return ended?.code == null ? '' : ` with code ${ended.code}`
}

/** The line of a program's error output that names an error. Otherwise its first line. */
function errorLineOf(printed: string): string {
  const lines = printed.split('\n').filter((line) => line.trim() !== '')
  const named = lines.find((line) => /^[\w.]*(?:Error|Exception)\b[^:]*: /.test(line))
  return shortened(onOneLine(named ?? lines[0] ?? ''), lineBytesMax)
}

/** The error and its causes: the deepest has the message that the others repeat. */
function chainOf(error: unknown): NodeJS.ErrnoException[] {
  const chain: Error[] = []
  for (let next = error; next instanceof Error && chain.length < causesMax; next = next.cause)
    chain.push(next)
  return chain
}

// ── No answer to a call ──

/** The server's code for a tool that it does not have, and for arguments that it refuses. */
const invalidParams = -32602
/** The errors of the SDK while it gets tokens. */
const ofLogin = /^(?:OAuth|Unauthorized|Issuer|AuthorizationServer|InsufficientScope)\w*Error$/

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
  if (isRefusal(error)) {
    const ending = failure(texts.credentialsRefused(server), 'its server refuses the credentials')
    return { ...ending, fault: message }
  }
  if (code === invalidParams)
    return denied(texts.serverRefuses(server, asSentence(message)), 'refused by its server')
  if (typeof code === 'number')
    return failure(texts.serverError(server, message), `error ${code} of the server`)
  if (error instanceof UnknownInput)
    return failure(texts.inputDeclined(server, message), 'needs input that no person gives')
  if (code === 'UNSUPPORTED_RESULT_TYPE')
    return failure(texts.inputWanted(server), 'needs input of a person')
  return { ...outcomeUnknown(texts.serverBroke(server), 'the connection broke'), fault: message }
}

function failure(text: string, reason: string): ToolEnding {
  return { status: 'error', text, reason }
}

/** The server refused the request with 401 or 403, and there is no better login. */
function isRefusal(error: unknown): boolean {
  const { status, name = '' } = (error ?? {}) as { status?: unknown; name?: string }
  return error instanceof LoginFault || status === 401 || status === 403 || ofLogin.test(name)
}
