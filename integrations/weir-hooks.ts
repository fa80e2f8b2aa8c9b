// Client of Weir's hooks, for plug-ins that run inside their host. Hosts load these plug-ins from their
// place, so all of them import this file. bin/generate-plugins.ts keeps the version in this file.
// HOOK-CLIENT-1. A call runs only after an answer with Weir's mark (apps/http/fronts/front-mark.ts). Without
//     one the call is denied, and the turn ends.
// HOOK-CLIENT-2. A server that does not run is started once for each prompt.

import { spawn } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { request } from 'node:http'
import { homedir } from 'node:os'
import { isAbsolute, join } from 'node:path'

/** `turn`: the host's id of the prompt. */
export type Place = { session: string; turn?: string | undefined }
export type Call = { id: string; name: string; input: unknown }
export type Result = { isError: boolean; text: string }

/**
 * `deny`: the call must not run, with the text for the model. `advice`: a text that the model has to read
 * with the result. `end`: the turn must end, with the reason for its user.
 */
export type Judged = {
  deny?: string | undefined
  advice?: string | undefined
  end?: string | undefined
}

export type WeirHooks = {
  /** Returns the reason why no turn may begin. */
  prompt(place: Place, text: string): Promise<string | undefined>
  /** `signal` aborts when the host no longer waits. */
  before(place: Place, call: Call, signal?: AbortSignal): Promise<Judged>
  after(place: Place, call: Call, result: Result): Promise<Judged>
  /**
   * For a host that shows some failed calls in its next request only: reports each of them once.
   * `old`: of an earlier turn. `unheld`: counts only if the call has waited for no verdict. The advice is the
   * same in each later request.
   */
  failed(place: Place, call: Call, text: string, kind: 'new' | 'old' | 'unheld'): Promise<Judged>
  /** The turn has ended by itself. */
  stop(place: Place): Promise<void>
}

const weirPackage = 'weir-agents@0.2.0'
/** npx may have to fetch Weir first. */
const startMs = 115_000
const answerMs = 25_000
/** A person may have to decide. Weir gives up earlier (limits.guestHoldMs). */
const verdictMs = 605_000
const reasonCharactersMax = 400
const callsMax = 10_000

/** `host`: the guest's name in Weir's log. */
export function weirHooks(host: string, environment: NodeJS.ProcessEnv = process.env): WeirHooks {
  const { origin } = new URL(environment.WEIR_URL || 'http://127.0.0.1:4141')
  const weir = environment.WEIR_COMMAND || `npx --yes ${weirPackage}`
  let starting: Promise<void> | undefined
  /** The calls that Weir knows. `advice`: of failed(). */
  const calls = new Map<string, { isReported: boolean; advice?: string | undefined }>()

  const keyOf = ({ session }: Place, { id }: Call) => JSON.stringify([session, id])

  function keep(key: string, isReported: boolean, advice?: string): void {
    calls.set(key, { isReported, advice })
    const [oldest] = calls.keys()
    if (calls.size > callsMax && oldest !== undefined) calls.delete(oldest)
  }

  const urlOf = (kind: string) => new URL(`/v1/hooks/${host}/${kind}`, origin)

  /** `weir hooks start` starts none if one answers. */
  function startServer(): Promise<void> {
    starting ??= start(`${weir} hooks start --url ${origin}`)
    return starting
  }

  /** Starts a server if none answers. */
  async function postOrStart(kind: string, body: object, ms: number, signal?: AbortSignal) {
    const post = () => postJson(urlOf(kind), { body, ms, signal, secret: secretIn(environment) })
    try {
      return await post()
    } catch (error) {
      if (signal?.aborted || (error as NodeJS.ErrnoException).code !== 'ECONNREFUSED') throw error
      await startServer()
      return await post()
    }
  }

  async function after(place: Place, call: Call, { isError, text }: Result): Promise<Judged> {
    keep(keyOf(place, call), true)
    const result = isError ? { error: text } : { tool_response: text }
    try {
      const body = {
        ...bodyOf('PostToolBatch', place),
        tool_calls: [{ ...callIn(call), ...result }],
      }
      const answer = await postOrStart('batch', body, answerMs)
      if (answer.continue === false) return { end: `${answer.stopReason}` }
      const { additionalContext } = answer.hookSpecificOutput ?? {}
      return typeof additionalContext === 'string' ? { advice: additionalContext } : {}
    } catch (error) {
      return { end: noAnswer(error) }
    }
  }

  return {
    async prompt(place, text) {
      starting = undefined
      const body = { ...bodyOf('UserPromptSubmit', place), prompt: text }
      try {
        await postOrStart('prompt', body, answerMs)
        return undefined
      } catch (error) {
        return noAnswer(error)
      }
    },
    async before(place, call, signal) {
      keep(keyOf(place, call), false)
      try {
        const body = { ...bodyOf('PreToolUse', place), ...callIn(call) }
        const { hookSpecificOutput } = await postOrStart('pre', body, verdictMs, signal)
        const { permissionDecision, permissionDecisionReason: text } = hookSpecificOutput ?? {}
        if (permissionDecision !== 'deny') return {}
        // Not every host shows the result of a denied call, and that result may end the turn.
        const { end } = await after(place, call, { isError: true, text: `${text}` })
        return { deny: `${text}`, ...(end !== undefined && { end }) }
      } catch (error) {
        const text = noAnswer(error)
        return { deny: text, end: text }
      }
    },
    after,
    async failed(place, call, text, kind) {
      const key = keyOf(place, call)
      const { isReported = false, advice } = calls.get(key) ?? {}
      if (isReported || kind === 'old' || (kind === 'unheld' && calls.has(key)))
        return advice === undefined ? {} : { advice }
      const judged = await after(place, call, { isError: true, text })
      keep(key, true, judged.advice)
      return judged
    },
    async stop(place) {
      const body = bodyOf('Stop', place)
      await postJson(urlOf('stop'), { body, ms: answerMs }).catch(() => {}) // no call waits for it
    },
  }
}

function bodyOf(hook_event_name: string, { session, turn }: Place): object {
  return { hook_event_name, session_id: session, ...(turn !== undefined && { turn_id: turn }) }
}

function callIn({ id, name, input }: Call): object {
  return { tool_use_id: id, tool_name: name, tool_input: input }
}

function noAnswer(error: unknown): string {
  const reason = error instanceof Error ? error.message : `${error}`
  return `Weir does not answer, so this was stopped (${reason}). Start weir proxy, or uninstall Weir's plug-in.`
}

type Answer = {
  continue?: unknown
  stopReason?: unknown
  hookSpecificOutput?: Record<string, unknown>
}

type Post = {
  body: object
  ms: number
  signal?: AbortSignal | undefined
  /** Undefined: the mark needs no proof. */
  secret?: string | undefined
}

/** Not fetch: its time limit for an answer is shorter than a person's. An empty answer is no opinion. */
function postJson(url: URL, { body, ms, signal, secret }: Post): Promise<Answer> {
  const sentText = JSON.stringify(body)
  const nonce = randomBytes(16).toString('hex')
  return new Promise((resolve, reject) => {
    const headers = {
      'content-type': 'application/json',
      ...(secret !== undefined && { 'x-weir-nonce': nonce }),
    }
    const sent = request(url, { method: 'POST', headers, timeout: ms, signal }, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (piece: string) => {
        text += piece
      })
      response.on('error', reject)
      response.on('end', () => {
        try {
          if (response.statusCode !== 200) throw new Error(`status ${response.statusCode}`)
          const lines = [secret, nonce, url.pathname, sha256(sentText), sha256(text), secret]
          const proof = secret === undefined ? '' : ` ${sha256(`${lines.join('\n')}\n`)}`
          if (response.headers['x-weir-mark'] !== `weir/1${proof}`)
            throw new Error(`another server answers at ${url.origin} in place of your Weir`)
          resolve(text === '' ? {} : (JSON.parse(text) as Answer))
        } catch (error) {
          reject(error)
        }
      })
    })
    sent.on('timeout', () => sent.destroy(new Error(`no answer within ${ms / 1000} seconds`)))
    sent.on('error', reject)
    sent.end(sentText)
  })
}

/** The secret that this user's Weir has too. Undefined: there is none yet, or the user wants no proof. */
function secretIn({ WEIR_PROOF, XDG_STATE_HOME = '' }: NodeJS.ProcessEnv): string | undefined {
  if (WEIR_PROOF === 'off') return undefined
  const state = isAbsolute(XDG_STATE_HOME) ? XDG_STATE_HOME : join(homedir(), '.local', 'state')
  try {
    return readFileSync(join(state, 'weir', 'owner'), 'utf8').trim()
  } catch {
    return undefined
  }
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

function start(command: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, {
      shell: true,
      stdio: ['ignore', 'ignore', 'pipe'],
      timeout: startMs,
    })
    let errors = ''
    child.stderr.setEncoding('utf8').on('data', (piece: string) => {
      errors = `${errors}${piece}`.slice(-reasonCharactersMax)
    })
    child.on('error', reject)
    child.on('close', (code) => {
      if (code === 0) resolve()
      else reject(new Error(errors.trim() || `${command} ended with exit code ${code}`))
    })
  })
}
