// An agent: its model, tools and settings, as gateway and executor hold them. Commands, URLs and
// keys live here and never enter a record. A record names a tool by the hash of its declaration,
// and a stage without a tool of that hash denies the call.

import { hash } from 'node:crypto'
import type {
  AgentSettings,
  Declaration,
  ModelLimits,
  Policy,
  TextCallsMode,
  TokenSum,
  ToolRef,
} from '../contract/messages.ts'
import type { Milliseconds } from '../lib/clock.ts'
import type { SandboxSetting } from './sandbox.ts'

/**
 * A program that is started for each call, without a shell. It reads the arguments as JSON on
 * standard input.
 */
export type CommandTool = ToolProcess & {
  kind: 'command'
  /** The program and its arguments, as for execve. */
  argv: [string, ...string[]]
}

type ToolProcess = {
  /** The folder in which it runs. Default: the executor's working folder. */
  cwd?: string
  /** Names of variables of the executor's environment that it sees next to PATH. Default: none. */
  environment?: string[]
  /** Bytes of its result to keep: for a program, its standard output. The rest is cut, with a note. */
  outputBytesMax?: number
  /** Relative paths start at the executor's working folder. Default: none. */
  sandbox?: SandboxSetting
}

/**
 * A URL for a POST of the arguments as JSON. The response body is the result. The declaration's
 * timeout covers all of it.
 */
export type HttpTool = {
  kind: 'http'
  url: string
  /** Further headers. Never logged, because they may hold credentials. */
  headers: Record<string, string>
  /**
   * Values that stand in the URL or the headers and that no result may contain. Default: those that
   * look like credentials.
   */
  secrets?: string[]
  /** Bytes of the response body to keep. The rest is cut, with a note. */
  outputBytesMax?: number
}

/**
 * A module whose default export is `async (arguments, { idempotencyKey, signal, context }) => string
 * | object`. The string, or the object's JSON, is the result. An exception is the error. `signal`
 * aborts at the timeout and when the turn is cancelled.
 */
export type ModuleTool = ToolProcess & {
  kind: 'module'
  /** Absolute path of a .ts, .mts, .js or .mjs file. */
  file: string
  /**
   * Its function among the exports: a function under this name, or the tool of this name that
   * `defineTool` made. Default: the default export.
   */
  entry?: { kind: 'export' | 'defined'; name: string }
}

/**
 * A function of this process. It has the rights of this process, and no sandbox. `run` gets the
 * arguments as the tool's `check` returned them. Its string, or its value's JSON, is the result.
 */
export type FunctionTool = {
  kind: 'function'
  run: (args: unknown, call: FunctionCall) => unknown
  /** The agent of which it runs a turn. */
  runsAgent?: string
  /** Only with `runsAgent`: cancels the turn of a call that no process runs any more. */
  cancelAgent?: (call: Pick<FunctionCall, 'idempotencyKey' | 'caller'>) => Promise<void>
  /** Bytes of its result to keep. The rest is cut, with a note. */
  outputBytesMax?: number
}

/** The part of a turn's policy that a turn inherits which its call runs. */
export type CallingTurn = Readonly<Pick<Policy, 'redact' | 'calledBy' | 'tree'>>

export type FunctionCall = {
  /** Aborts at the timeout and when the turn is cancelled. */
  signal: AbortSignal
  /** The same for all tries of one call. */
  idempotencyKey: string
  /** The context of the question, if this process has it. */
  context: unknown
  /** Only with `runsAgent`: reports the tokens of its turn, for the sum of the calling turn. */
  countTokens?: (tokens: TokenSum) => void
  /** Only with `runsAgent`: of the calling turn. Undefined: no redaction, and no agent called it. */
  caller?: CallingTurn | undefined
}

/** A server of the Model Context Protocol. Its tools become tools of the agent. */
export type McpServer = {
  /** [a-z0-9-]: the beginning of its tools' names, before __. */
  name: string
  run: McpCommand | McpUrl | McpElsewhere
  /** The path of a file with its tools. Default: the server gives its list. */
  toolsFile?: string
  /** Patterns of the server's own tool names. Default: all. */
  allow?: string[]
  /** Patterns of tools that are left out, also if `allow` has them. */
  deny?: string[]
  /** The labels of its tools, by patterns of their own names. All matching ones count. */
  labels?: [pattern: string, labels: string[]][]
  /** Whether its hints are believed: a tool with readOnlyHint counts as no change. */
  isTrusted: boolean
  /** How long it may take to start and to connect. Default: limits.mcpStartMs. */
  startMs?: Milliseconds
  /** How long a call may run without progress. */
  timeoutMs: Milliseconds
  /** How long a call may run in all. */
  wallMs: Milliseconds
  /** Bytes of a result to keep. The rest is cut, with a note. */
  outputBytesMax?: number
  /** Each call gets its place in the trace of its turn, in `_meta`. Default: none. */
  traceparent?: boolean
  /** Its messages with concealed text are cleaned (the default) or refused. */
  concealed?: 'clean' | 'refuse'
  /** Whether a tool is held that changed after its first use. Default: on. */
  pin?: 'on' | 'off'
  /** No question of it can reach a person: it is of a gateway. */
  noPerson?: true
}

/** Another process reaches it. */
export type McpElsewhere = { kind: 'elsewhere' }

/** A program that speaks MCP on standard input and output. Fields as in CommandTool. */
export type McpCommand = { kind: 'command' } & Pick<
  CommandTool,
  'argv' | 'cwd' | 'environment' | 'sandbox'
>

/** A server over streamable HTTP. `headers` are never logged. */
export type McpUrl = {
  kind: 'url'
  url: string
  headers: Record<string, string>
  secrets?: string[]
  /** OAuth. `issuer`: the authorization server, by default the origin of `url`. */
  auth?:
    | { clientId: string; clientSecret: string; issuer?: string; scope?: string }
    | { tokenFile: string }
}

/** A tool of an MCP server. `tool`: the server's own name of it. */
export type McpTool = { kind: 'mcp'; server: McpServer; tool: string }

/** A tool that the client of the conversation runs. Its declaration has the hint `client`. */
export type ClientTool = { kind: 'client' }

/** A tool that an executor runs. shared/tools/start-tool.ts starts them. */
export type StartedTool = CommandTool | HttpTool | ModuleTool | FunctionTool | McpTool

/** Every kind of tool. */
export type ToolRun = StartedTool | ClientTool

/**
 * A check of a value in this process. Returns the value to use, or the problems as texts for the
 * model.
 */
export type ValueCheck = (value: unknown) => Checked | Promise<Checked>
export type Checked = { value: unknown } | { problems: string[] }

export type Tool = {
  declaration: Declaration
  run: ToolRun
  /** Checks arguments that the schema accepts. With a problem the call does not start. */
  check?: ValueCheck
  /** Checks the context of the question, without which no call starts. Default: it needs none. */
  needsContext?: ValueCheck
  /**
   * Calls of it that one executor process runs at once. Default: the bound for all tools together.
   */
  concurrency?: number
  /** Each call gets its place in the trace of its turn, as W3C Trace Context. Default: none. */
  traceparent?: boolean
}

/** A provider knows some of them (ProviderRecord.accepts). */
export type ReasoningEffort = 'none' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh' | 'max'

/** `Provider`: the names of the known providers. Only higher folders know them. */
export type Model<Provider extends string = string> = {
  provider: Provider
  name: string
  /** Default: the provider's own. */
  baseUrl?: string
  /**
   * The key itself, read from the environment. Never logged. Empty: the server at baseUrl needs
   * none.
   */
  apiKey: string
  /** Further values that no record may contain, such as a token in baseUrl. */
  secrets?: string[]
  maxOutputTokens: number
  temperature?: number
  topP?: number
  reasoningEffort?: ReasoningEffort
  serviceTier?: string
  seed?: number
  /** Further headers of its requests. Never logged, because they may hold credentials. */
  headers?: Record<string, string>
  /** Sends its requests. Default: over the network. Only in a program. */
  fetch?: typeof globalThis.fetch
  /**
   * How it calls tools. Default: `native`. `text`: the request makes it write its calls as text,
   * because it has no other way.
   */
  toolCalls?: 'native' | 'text'
  /** `missing`: its server ends no answer that has calls. Default: learned from two such answers. */
  endMark?: 'missing'
  /** Of its requests, over all processes of a log. Undefined: those that the provider shows. */
  limits?: ModelLimits
}

export type Agent<Provider extends string = string> = {
  name: string
  system: string
  model: Model<Provider>
  tools: Tool[]
  settings: AgentSettings
  /** The servers that give it further tools. */
  mcp?: McpServer[]
  /** Tools that a server had earlier: a round that was offered one still finds it. */
  formerTools?: Tool[]
  /**
   * The use of calls that the model writes as text. Default: `run` if the model has no native calls
   * (`toolCalls: text`), otherwise `tell`. No message of a client changes it.
   */
  textCalls?: TextCallsMode
  /**
   * The part of a history that stays when the model's context is full. Undefined: the turn then
   * ends with the class `context_full`.
   */
  history?: HistoryRule
}

/**
 * `keep`: the newest rounds, or as many as have some `tokens`. `summarise`: the agent that writes
 * the summary of the rest, or `drop`.
 */
export type HistoryRule = {
  keep: { rounds?: number; tokens?: number }
  summarise: string
}

/** The use of text calls in the responses of this agent's model. */
export function textCallsOf({ textCalls, model }: Agent): TextCallsMode {
  return textCalls ?? (model.toolCalls === 'text' ? 'run' : 'tell')
}

/** By name. */
export type Agents<Provider extends string = string> = ReadonlyMap<string, Agent<Provider>>

/** A cache, because every round needs the hashes of an agent's tools. */
const hashes = new WeakMap<Declaration, string>()

/**
 * SHA-256 of a declaration, hex. The order of its fields does not matter. Declarations must not
 * change.
 */
export function declarationHash(declaration: Declaration): string {
  const known = hashes.get(declaration)
  if (known !== undefined) return known
  const { name, description, schema, idempotent, timeoutMs, poll } = declaration
  const content = [name, description, schema, idempotent, timeoutMs, poll]
  const hints = hintsText(declaration)
  // Older records have hashes without hints, so a declaration without hints keeps that hash.
  const computed = hash('sha256', JSON.stringify(hints === '' ? content : [...content, hints]))
  hashes.set(declaration, computed)
  return computed
}

/** '' if there are none. A program that makes its own declarations may omit them. */
function hintsText({ hints }: Declaration): string {
  if (hints === null || hints === undefined) return ''
  const { mutates, ignoreFields, loopKey, denial, labels = [], client = false, once = null } = hints
  const older = [mutates, ignoreFields, loopKey, denial] // and the hash of older records
  if (once !== null) {
    const { by, forMs, within } = once
    return JSON.stringify([
      ...older,
      labels,
      client,
      by,
      forMs,
      ...(within === 'tenant' ? [within] : []),
    ])
  }
  if (client) return JSON.stringify([...older, labels, 'client'])
  return JSON.stringify(labels.length === 0 ? older : [...older, labels])
}

/** The reference under which requests offer a tool. */
export function toolRef(declaration: Declaration): ToolRef {
  return { name: declaration.name, hash: declarationHash(declaration) }
}

/**
 * The agent's tool with this name and hash. Undefined if the agent, the name or the hash does not
 * match.
 */
export function findTool(agents: Agents, agent: string, ref: ToolRef): Tool | undefined {
  return toolOf(
    agents.get(agent),
    ({ declaration }) => declaration.name === ref.name && declarationHash(declaration) === ref.hash,
  )
}

function toolOf(agent: Agent | undefined, matches: (tool: Tool) => boolean): Tool | undefined {
  return agent?.tools.find(matches) ?? agent?.formerTools?.find(matches)
}

/**
 * The agent's tool with exactly this declaration. Compares content, because hashing each record's
 * declaration is slower.
 */
export function findDeclared(
  agents: Agents,
  agent: string,
  declaration: Declaration,
): Tool | undefined {
  return toolOf(agents.get(agent), (tool) => isSame(tool.declaration, declaration))
}

function isSame(one: Declaration, other: Declaration): boolean {
  return (
    one.name === other.name &&
    one.description === other.description &&
    one.schema === other.schema &&
    one.idempotent === other.idempotent &&
    one.timeoutMs === other.timeoutMs &&
    one.poll === other.poll &&
    hintsText(one) === hintsText(other)
  )
}
