// The connection of this process to one MCP server. It is made at the first use, and made again at
// the next use after the server ended. The SDK is loaded then.
// A message is sent once. No failure sends it again. A call that needs input goes
// on with a further message, as its server requests.
// Sampling and roots are declined. A request to a person is a question of one
// call. If the server does not name the call and several run, the request is cancelled.
// A result is never checked against the server's own output schema. Its pattern
// could block this process, and the call has run in any case.
// The headers of the agent file go to its URL only.
// A client secret goes to the authorization server that the agent file names, by
// default the server's own origin. The server cannot choose another.

import type {
  CallToolResult,
  Client,
  ClientOptions,
  ElicitResult,
  FetchLike,
  InputRequiredResult,
  Progress,
  Tool as ServerTool,
  StreamableHTTPClientTransportOptions,
  Transport,
} from '@modelcontextprotocol/client'
import type { Logger } from 'pino'
import type { McpServer, McpUrl } from '../../agents/agents.ts'
import { limits } from '../../contract/limits.ts'
import { boundedJson } from '../../lib/json/bounded-json.ts'
import { isObject } from '../../lib/json/json-object.ts'
import { version } from '../../lib/version.ts'
import { boundedFetch } from './bounded-fetch.ts'
import { type AnswerInput, UnknownInput } from './elicitation.ts'
import { type Fitting, fittingTools, mcpToolPagesMax, type ToolList } from './fitting-tools.ts'
import type { LeftOut } from './listed-tools.ts'
import { connectFault, type ProgramState } from './mcp-faults.ts'
import { type ProgramListeners, serverProcess } from './server-process.ts'
import { showMessages } from './shown/shown-messages.ts'
import { tokenMask, tokenProvider } from './token-file.ts'

/**
 * How long a program may take to name its revision of MCP before it gets the request of older
 * revisions too. Some never answer a request that they do not know.
 */
const mcpProbeMsMax = 3_000
/** How long the list of an MCP server counts, unless the server says that it changed. */
const mcpListKeptMs = 60_000

export type McpConnection = {
  /**
   * The server's tools. Asks the server if its list may have changed since the last time. Throws an
   * Error for people.
   */
  tools(): Promise<readonly ServerTool[]>
  /** The tools of that list whose declarations do not fit the protocol. They are not in it. */
  unfit(): readonly LeftOut[]
  /** The client of a living connection. Throws an Error for people. */
  client(): Promise<Client>
  /** The answers for each call that may ask a person. */
  readonly asking: Set<AnswerInput>
  /** The calls that wait for an answer over HTTP, by their idempotency keys. */
  readonly waiting: Map<string, AbortController>
  /** Calls the listener when the server reports that its list changed. One listener. */
  onChanged(listener: () => void): void
  close(): Promise<void>
}

/** One for each server in the process: list and calls share the connection. */
const connections = new WeakMap<McpServer, McpConnection>()

/** `log`: of the first caller. */
export function connectionTo(server: McpServer, log?: Logger): McpConnection {
  const known = connections.get(server)
  if (known !== undefined) return known
  const made = connection(server, log)
  connections.set(server, made)
  return made
}

type Open = {
  client: Client
  isOver: boolean
  /** Undefined: the server has no program here. */
  programState(): ProgramState | undefined
}

type Negotiation = NonNullable<ClientOptions['versionNegotiation']>

type Attempt =
  | { kind: 'open'; opened: Open }
  | {
      kind: 'failed'
      error: unknown
      program: ProgramState | undefined
      /** The server has answered the question for its revision, in time or late. */
      hasNamedRevision: boolean
    }

/** Requests the revision of the server. A program without an answer gets `initialize` then. */
const requestRevision = (timeoutMs: number): Negotiation => ({ mode: 'auto', probe: { timeoutMs } })

/** Undefined: a second start of the program would not help. */
function otherWay(attempt: Attempt, leftMs: number): Negotiation | undefined {
  if (attempt.kind === 'open') return undefined
  // The program refuses `initialize`, and has named its revision too late.
  if (attempt.hasNamedRevision) return requestRevision(leftMs)
  // Some programs end at any request before `initialize`, and may read it late.
  return attempt.program?.ended === undefined ? undefined : { mode: 'legacy' }
}

function connection(server: McpServer, log: Logger | undefined): McpConnection {
  let opening: Promise<Open> | undefined
  let newest: Open | undefined
  /** Has no effect on a server that has started. */
  let cancelStart = (): void => {}
  let changed = (): void => {}
  let listed: { tools: readonly ServerTool[]; until: number } | undefined
  let unfit: readonly LeftOut[] = []
  /** The lists that are being read, and the bytes that each may still take. */
  const readings = new Map<AbortController, number>()
  const asking = new Set<AnswerInput>()
  const waiting = new Map<string, AbortController>()

  function onBytes(bytes: number): void {
    for (const [reading, left] of readings) {
      readings.set(reading, left - bytes)
      if (left < bytes)
        reading.abort(new Error(`its list has more than ${limits.mcpListBytesMax} bytes`))
    }
  }

  async function client(): Promise<Client> {
    if (newest?.isOver === false) return newest.client
    const before = opening
    const known = await before?.catch(() => undefined)
    if (known !== undefined && !known.isOver) return known.client
    if (opening === undefined || opening === before) opening = open() // no other caller began it
    newest = await opening
    return newest.client
  }

  /**
   * Starts a program a second time, the other way, if the first way failed by the question for its
   * revision. Both have `startMs` together.
   */
  async function open(): Promise<Open> {
    listed = undefined
    const startMs = server.startMs ?? limits.mcpStartMs
    const until = performance.now() + startMs
    const isProgram = server.run.kind === 'command'
    const probeMs = isProgram ? Math.min(mcpProbeMsMax, startMs / 2) : startMs
    const cancelled = new AbortController()
    cancelStart = () => cancelled.abort()
    const { signal } = cancelled
    let attempt = await connect(requestRevision(probeMs), startMs, signal)
    const leftMs = Math.ceil(until - performance.now())
    const mayTry = isProgram && leftMs > 0 && !signal.aborted
    const other = mayTry ? otherWay(attempt, leftMs) : undefined
    if (other !== undefined) attempt = await connect(other, leftMs, signal)
    if (attempt.kind === 'open') return attempt.opened
    throw unreachable(attempt.error, attempt.program)
  }

  /** `limitMs`: for all of it. `cancelled` ends it. */
  async function connect(
    versionNegotiation: Negotiation,
    limitMs: number,
    cancelled: AbortSignal,
  ): Promise<Attempt> {
    const { Client } = await import('@modelcontextprotocol/client')
    const made = new Client(
      { name: 'weir', version: version() },
      {
        capabilities: server.noPerson === true ? {} : { elicitation: { form: {}, url: {} } },
        versionNegotiation,
        inputRequired: { autoFulfill: false },
        listChanged: { tools: { autoRefresh: false, onChanged: forget } },
        listMaxPages: mcpToolPagesMax,
        jsonSchemaValidator: noOutputCheck,
      },
    )
    if (server.noPerson !== true)
      made.setRequestHandler('elicitation/create', async ({ params }) => {
        const [answer, ...others] = asking
        if (answer !== undefined && others.length === 0) return answer(params)
        log?.warn({ server: server.name, calls: asking.size }, 'a question names no call')
        return { action: 'cancel' }
      })
    let hasNamedRevision = false
    const { transport, programState } = await transportTo(server, {
      onNoise: () =>
        log?.warn({ server: server.name }, 'the MCP server prints text between its messages'),
      onBytes,
      onMessage(message) {
        // Only the question for the revision has a text as its id.
        if ('result' in message && typeof message.id === 'string') hasNamedRevision = true
      },
      onCut: (key) => waiting.get(key)?.abort(new Error('its answer ended before the result')),
    }).catch((error: unknown) => {
      throw unreachable(error, undefined)
    })
    showMessages(transport, server, (kind) =>
      log?.warn({ server: server.name, kind }, 'the MCP server sends concealed text'),
    )
    const opened: Open = { client: made, isOver: false, programState }
    made.onclose = () => {
      opened.isOver = true
    }
    made.onerror = ({ message }) =>
      log?.debug({ server: server.name, fault: hidden(message) }, 'of the MCP server')
    // The SDK's question for the revision has no signal: it ends with the transport.
    const endTransport = () => void transport.close().catch(() => {})
    try {
      cancelled.throwIfAborted()
      cancelled.addEventListener('abort', endTransport)
      await made.connect(transport, { timeout: limitMs, signal: AbortSignal.timeout(limitMs) })
      return { kind: 'open', opened }
    } catch (error) {
      opened.isOver = true
      const program = programState()
      await made.close().catch(() => {})
      await transport.close().catch(() => {})
      return { kind: 'failed', error, program, hasNamedRevision }
    } finally {
      cancelled.removeEventListener('abort', endTransport)
    }
  }

  function unreachable(error: unknown, program: ProgramState | undefined): Error {
    const stack = hidden(error instanceof Error ? (error.stack ?? '') : String(error))
    log?.debug({ server: server.name, stack }, 'the MCP server cannot be reached')
    return new Error(hidden(connectFault(server, error, program)))
  }

  function hidden(text: string): string {
    return tokenMask(server)?.(text) ?? text
  }

  function forget(): void {
    listed = undefined
    changed()
  }

  return {
    client,
    asking,
    waiting,
    unfit: () => unfit,
    onChanged(listener) {
      changed = listener
    },
    async tools() {
      const connected = await client() // a new connection forgets the list
      if (listed !== undefined && performance.now() < listed.until) return listed.tools
      if (connected.getServerCapabilities()?.tools === undefined) return [] // the SDK prints it
      const reading = new AbortController()
      const { signal } = reading
      readings.set(reading, limits.mcpListBytesMax)
      const options = { timeout: limits.mcpAnswerMsMax, signal }
      const list = await connected
        .listTools(undefined, options)
        .catch((error: { code?: unknown }) => {
          if (error.code !== 'INVALID_RESULT') throw error
          return fittingTools(connected, options)
        })
        .catch(async (error: unknown) => {
          const fault: unknown = signal.aborted ? signal.reason : error
          throw unreachable(fault, (await opening)?.programState())
        })
        .finally(() => readings.delete(reading))
      const { tools, ttlMs, unfit: others = [] } = list as Partial<Fitting> & ToolList
      unfit = others
      const keptMs = Math.min(ttlMs ?? mcpListKeptMs, mcpListKeptMs)
      listed = { tools, until: performance.now() + keptMs }
      return tools
    },
    async close() {
      cancelStart()
      const opened = await opening?.catch(() => undefined)
      await opened?.client.close().catch(() => {})
    },
  }
}

/** Calls a tool. `onSent`: the request is on its way. Rejects with the SDK's errors. */
export async function callTool(
  server: McpServer,
  request: {
    name: string
    arguments: Record<string, unknown>
    idempotencyKey: string
    traceparent: string | undefined
  },
  {
    controller,
    onProgress,
    onSent,
    answer,
  }: {
    /** Also aborted here, if the answer breaks off. */
    controller: AbortController
    onProgress(progress: Progress): void
    onSent(): void
    /** Answers requests for input of a person. Undefined: nobody can. */
    answer: AnswerInput | undefined
  },
): Promise<CallToolResult> {
  const { client, asking, waiting } = connectionTo(server)
  const { signal } = controller
  const connected = await client()
  signal.throwIfAborted()
  onSent()
  const { name, idempotencyKey, traceparent } = request
  const _meta = { [keyField]: idempotencyKey, ...(traceparent && { traceparent }) }
  const params = { name, arguments: request.arguments, _meta }
  const options = {
    signal,
    onprogress: onProgress,
    timeout: timerMsMax,
    ...(server.run.kind === 'command' && { toolDefinition: { name, ...noDefinition } }),
  }
  const isOverHttp = server.run.kind === 'url'
  if (answer === undefined && !isOverHttp) return connected.callTool(params, options)
  if (isOverHttp) waiting.set(idempotencyKey, controller)
  if (answer !== undefined) asking.add(answer)
  try {
    return await (answer === undefined
      ? connected.callTool(params, options)
      : callWithInput(connected, params, options, answer))
  } finally {
    if (answer !== undefined) asking.delete(answer)
    if (waiting.get(idempotencyKey) === controller) waiting.delete(idempotencyKey)
  }
}

/** A server of 2026-07-28 ends the request with its questions, and gets the answers in the next one. */
async function callWithInput(
  connected: Client,
  params: Parameters<Client['callTool']>[0],
  options: Parameters<Client['callTool']>[1],
  answer: AnswerInput,
): Promise<CallToolResult> {
  let sent = params
  for (let times = 0; times <= limits.inputsOfTryMax; times += 1) {
    options?.signal?.throwIfAborted()
    const result: unknown = await connected.callTool(sent, { ...options, allowInputRequired: true })
    if (!isInputRequired(result)) return result as CallToolResult
    const { requestState, inputRequests = {} } = result
    const answers: { inputResponses: Record<string, ElicitResult> } = { inputResponses: {} }
    for (const [key, input] of Object.entries(inputRequests)) {
      if (input.method !== 'elicitation/create') throw new UnknownInput(String(input.method))
      answers.inputResponses[key] = await answer(input.params)
    }
    const state = requestState === undefined ? {} : { requestState }
    sent = { ...params, ...state, ...answers }
  }
  throw new UnknownInput('more questions than one call may ask')
}

function isInputRequired(result: unknown): result is InputRequiredResult {
  return isObject(result) && result.resultType === 'input_required'
}

/**
 * Without it the SDK looks the tool up in its cached list: for its output
 * schema, and for headers, which a program does not get.
 */
const noDefinition = { inputSchema: { type: 'object' } } as const

/** The tool kind has its own deadlines, on the clock of the log. */
const timerMsMax = 2 ** 31 - 1

/** The SDK checks nothing without a validator. */
const noOutputCheck = { getValidator: () => undefined as never }

async function transportTo(
  { name, run }: McpServer,
  on: Required<ProgramListeners> & { onCut(idempotencyKey: string): void },
): Promise<Pick<Open, 'programState'> & { transport: Transport }> {
  if (run.kind === 'elsewhere') throw new Error('another process reaches this server')
  if (run.kind === 'command') {
    const transport = serverProcess(run, on)
    return { transport, programState: transport.state }
  }
  const sdk = await import('@modelcontextprotocol/client')
  const options: StreamableHTTPClientTransportOptions = {
    fetch: withHeaders(run, boundedFetch(on.onBytes)),
    ...authOf(name, run, sdk),
  }
  const transport = new sdk.StreamableHTTPClientTransport(new URL(run.url), options)
  reportCuts(transport, on.onCut)
  return { transport, programState: () => undefined }
}

/** The SDK does not end a request whose stream ends without its answer. `onCut` gets each such call. */
function reportCuts(transport: Transport, onCut: (idempotencyKey: string) => void): void {
  const send = transport.send.bind(transport)
  const unanswered = new Set<unknown>()
  let isWatched = false

  function watchAnswers(): void {
    if (isWatched) return
    isWatched = true
    const deliver = transport.onmessage
    transport.onmessage = (message, extra) => {
      if (!('method' in message)) unanswered.delete(message.id)
      deliver?.(message, extra)
    }
  }

  transport.send = async (message, options) => {
    const key = 'id' in message && 'params' in message && message.params?._meta?.[keyField]
    if (typeof key !== 'string') return send(message, options)
    watchAnswers() // now: the SDK sets its listener when it connects
    const { id } = message as { id: unknown }
    const forget = () => unanswered.delete(id)
    unanswered.add(id)
    options?.requestSignal?.addEventListener('abort', forget, { once: true })
    const onRequestStreamEnd = () => forget() && onCut(key)
    try {
      await send(message, { ...options, onRequestStreamEnd })
    } catch (error) {
      forget()
      throw error
    }
  }
}

const keyField = 'weir/idempotencyKey'

/** Not by `requestInit` of the SDK, which sends its headers to authorization servers too. */
export function withHeaders({ url, headers }: McpUrl, fetch: FetchLike): FetchLike {
  const { href } = new URL(url)
  return async (to, init) => {
    if (new URL(to).href !== href)
      return withoutWords(await fetch(to, { ...init, redirect: 'error' }))
    const all = new Headers(headers)
    for (const [key, value] of new Headers(init?.headers)) all.set(key, value)
    return fetch(to, { ...init, headers: all, redirect: 'error' })
  }
}

/**
 * The SDK prints the words of a refusal on the console and in errors. They are of the authorization
 * server, and may repeat a token.
 */
async function withoutWords(response: Response): Promise<Response> {
  if (response.ok) return response
  const { status } = response
  const answer = boundedJson(await response.text(), limits.jsonDepthMax)
  const error = isObject(answer) && errorCode.test(String(answer.error)) ? answer.error : undefined
  return Response.json({ error: error ?? 'server_error' }, { status })
}

const errorCode = /^[a-z_]{1,64}$/

function authOf(
  name: string,
  { url, auth }: McpUrl,
  { ClientCredentialsProvider }: typeof import('@modelcontextprotocol/client'),
): Pick<StreamableHTTPClientTransportOptions, 'authProvider'> {
  if (auth === undefined) return {}
  if ('tokenFile' in auth) return { authProvider: tokenProvider({ name, url }, auth.tokenFile) }
  const { issuer = new URL(url).origin, ...client } = auth
  return { authProvider: new ClientCredentialsProvider({ ...client, expectedIssuer: issuer }) }
}
