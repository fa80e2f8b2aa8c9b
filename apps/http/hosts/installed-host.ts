// Questions to the host's program on this machine: its version, and for Codex the user's review of
// the hooks.

import { execFile, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { isObject } from '../../../shared/lib/json/json-object.ts'
import {
  harmlessEnvironment,
  ofVersionManagers,
} from '../../../shared/lib/sandbox/harmless-variables.ts'
import { parseJson } from '../../../shared/wire/exact-json.ts'

/** A program that needs longer does not answer. */
const answerMs = 10_000

/** Neither question needs a key. */
const ofHost = () =>
  harmlessEnvironment(
    /^(CODEX_HOME|CLAUDE_CONFIG_DIR|COPILOT_HOME|GEMINI_CLI_HOME)$/,
    ofVersionManagers,
  )

/** `version` is null if the program is not there, or prints none. */
export async function versionOf(program: string): Promise<string | null> {
  const text = await outputOf(program, ['--version'])
  return /\d+\.\d+\.\d+/.exec(text)?.[0] ?? null
}

function outputOf(program: string, args: string[]): Promise<string> {
  return new Promise((resolve) => {
    const options = { env: ofHost(), timeout: answerMs, maxBuffer: 1024 * 1024 }
    execFile(program, args, options, (error, out) =>
      resolve(error === null ? out : ''),
    ).stdin?.end()
  })
}

export type Review = { event: string; isTrusted: boolean }

/**
 * Codex's own list of the hooks in `file`, with their review. Undefined: this Codex gives no list.
 */
export async function reviewOf(
  program: string,
  { file, folder }: { file: string; folder: string },
): Promise<Review[] | undefined> {
  const server = spawn(program, ['app-server'], {
    env: ofHost(),
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  const closed = new Promise<undefined>((resolve) => {
    server.once('error', () => resolve(undefined))
    server.once('exit', () => resolve(undefined))
  })
  const late = setTimeout(() => server.kill(), answerMs)
  server.stdin.on('error', () => {}) // it has ended: `closed` resolves
  const send = (message: object) =>
    server.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  const clientInfo = { name: 'weir', version: '1' }
  send({ id: 1, method: 'initialize', params: { clientInfo } })
  send({ method: 'initialized' })
  send({ id: 2, method: 'hooks/list', params: { cwds: [folder] } })
  try {
    const listed = await Promise.race([answerTo(2, server.stdout), closed])
    return listed === undefined ? undefined : reviewsIn(listed, file)
  } finally {
    clearTimeout(late)
    server.kill()
  }
}

async function answerTo(id: number, stream: NodeJS.ReadableStream): Promise<unknown> {
  for await (const line of createInterface({ input: stream })) {
    const message = parseJson(line)
    if (isObject(message) && message.id === id) return message.result
  }
  return undefined
}

function reviewsIn(listed: unknown, file: string): Review[] | undefined {
  if (!isObject(listed) || !Array.isArray(listed.data)) return undefined
  return listed.data
    .flatMap((each: unknown) => (isObject(each) && Array.isArray(each.hooks) ? each.hooks : []))
    .flatMap((hook: unknown) =>
      isObject(hook) && hook.sourcePath === file
        ? [{ event: `${hook.eventName}`, isTrusted: /trusted|managed/i.test(statusOf(hook)) }]
        : [],
    )
}

/** `untrusted` contains `trusted`. */
function statusOf({ trustStatus }: Record<string, unknown>): string {
  return trustStatus === 'untrusted' ? '' : `${trustStatus}`
}
