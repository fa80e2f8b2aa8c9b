// The reason why an MCP server gives no connection or no list, in one line for people: the fault,
// and the remedy. Without a stack, and without the query of an URL, which may hold a key. Pure.

import type { McpServer } from '../../agents/agents.ts'
import { onOneLine, shortened } from '../../lib/text-cut.ts'
import { described } from '../module/function-outcome.ts'
import { LoginFault } from './token-file.ts'

/** The end of a server's program. Both null: it does not read its input any more. */
export type ProgramEnd = { code: number | null; signal: NodeJS.Signals | null }

/** The state of a server's program at the fault. `printed`: its error output. */
export type ProgramState = { printed: string; ended: ProgramEnd | undefined }

const lineBytesMax = 300
const causesMax = 5

/** One line: the fault, then the remedy. `program` undefined: a server over HTTP. */
export function connectFault(
  { name, run }: McpServer,
  error: unknown,
  program: ProgramState | undefined,
): string {
  const login = chainOf(error).find((one) => one instanceof LoginFault)
  if (login !== undefined) return `the MCP server ${name} cannot be reached: ${login.message}`
  const { what, remedy } =
    run.kind === 'command'
      ? programFault(run, error, program)
      : httpFault(run.kind === 'url' ? run.url : '', error)
  return `the MCP server ${name} cannot be reached: ${what}; ${remedy}`
}

type Fault = { what: string; remedy: string }

function programFault(
  { argv: [file = ''], cwd }: { argv: string[]; cwd?: string | undefined },
  error: unknown,
  { printed, ended }: ProgramState = { printed: '', ended: undefined },
): Fault {
  const code = codeOf(error)
  if (code === 'ENOENT')
    return {
      what: `there is no program ${file}${cwd === undefined ? '' : `, or no folder ${cwd}`}`,
      remedy: 'install it, or correct its command',
    }
  if (code === 'EACCES')
    return { what: `${file} may not be executed`, remedy: 'make it executable (chmod +x)' }
  const line = errorLineOf(printed)
  const last = line === '' ? '' : `: ${line}`
  const remedy = 'run its command in a terminal, and correct it or what it needs'
  if (ended !== undefined || code === 'EPIPE')
    return { what: `its program ended${howEnded(ended)}${last}`, remedy }
  if (code === 'REQUEST_TIMEOUT')
    return {
      what: `its program gives no answer in time${last}`,
      remedy: 'give it more time (startMs, or --start-ms of weir mcp), or run it in a terminal',
    }
  return { what: `its program does not speak MCP (${plainText(error)})${last}`, remedy }
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

function httpFault(url: string, error: unknown): Fault {
  const place = placeOf(url)
  const status = (error as { status?: unknown } | null)?.status
  if (typeof status === 'number')
    return { what: `${place} answers with ${status}`, remedy: remedyOf(status) }
  if (chainOf(error).some(({ name }) => name === 'AuthorizationServerMismatchError'))
    return {
      what: `${place}: ${plainText(error)}`,
      remedy: 'if that is right, set auth.issuer, or log in again with weir mcp login',
    }
  if (codeOf(error) === 'REQUEST_TIMEOUT')
    return {
      what: `${place} gives no answer in time`,
      remedy: 'start it, correct its url, or give it more time (startMs)',
    }
  return { what: `${place}: ${plainText(error)}`, remedy: 'start it, or correct its url' }
}

function remedyOf(status: number): string {
  if (status === 401 || status === 403) return 'correct its headers or its auth'
  if (status >= 500 || status === 429) return 'try again later, or ask its operator'
  return 'correct its url'
}

/** Without the user, the query and the fragment. */
function placeOf(url: string): string {
  const parsed = URL.parse(url)
  return parsed === null ? 'its url' : `${parsed.origin}${parsed.pathname}`
}

/** The code of the deepest cause that has one. */
function codeOf(error: unknown): string | undefined {
  const codes = chainOf(error).flatMap(({ code }) => (typeof code === 'string' ? [code] : []))
  return codes.at(-1)
}

/** The message of the deepest cause: those around it repeat it. */
function plainText(error: unknown): string {
  const message = chainOf(error).at(-1)?.message || described(error).message
  return shortened(onOneLine(message), lineBytesMax)
}

function chainOf(error: unknown): NodeJS.ErrnoException[] {
  const chain: Error[] = []
  for (let next = error; next instanceof Error && chain.length < causesMax; next = next.cause)
    chain.push(next)
  return chain
}
