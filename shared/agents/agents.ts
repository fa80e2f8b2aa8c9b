// An agent: its model, its tools and its settings, as gateway and executor hold them. Commands,
// URLs and keys live here and never enter a record; a record names a tool by the hash of its
// declaration, and who has no tool with that hash refuses.

import { createHash, hash } from 'node:crypto'
import type { AgentSettings, Declaration, Policy, ToolRef } from '../contract/messages.ts'
import { defaultsOf, thresholds } from '../contract/thresholds.ts'
import type { Milliseconds } from '../lib/clock.ts'

/**
 * A program that is started for each call: no shell; the arguments come as JSON on its standard
 * input.
 */
export type CommandTool = {
  kind: 'command'
  /** The program and its arguments, as execve takes them. */
  argv: [string, ...string[]]
  /**
   * Where it runs; default: a folder of its own choice is not given, the executor's working folder
   * is used.
   */
  cwd?: string
  /**
   * Names of variables of the executor's environment that it may see. Nothing else is passed but
   * PATH.
   */
  environment?: string[]
  /** Bytes of its standard output that are kept; more is cut with a note. */
  outputBytesMax?: number
}

/**
 * A URL to which the arguments are sent as JSON by POST; the body of the answer is the result. The
 * declaration's timeout holds for all of it.
 */
export type HttpTool = {
  kind: 'http'
  url: string
  /** Further headers, with credentials in them: never logged. */
  headers: Record<string, string>
  /** Bytes of the answer that are kept; more is cut with a note. */
  outputBytesMax?: number
}

/**
 * A module whose default export is `async (arguments, { idempotencyKey, signal }) => string |
 * object`. An object's JSON is the result, what it throws is the error, and `signal` aborts at the
 * timeout and when the turn is cancelled.
 */
export type ModuleTool = {
  kind: 'module'
  /** Absolute path of a .ts, .mts, .js or .mjs file. */
  file: string
  /**
   * Names of variables of the executor's environment that its process may see. Nothing else is
   * passed but PATH.
   */
  environment?: string[]
  /** Bytes of its result that are kept; more is cut with a note. */
  outputBytesMax?: number
}

/**
 * Every kind of tool: what an agent file can name, and what an executor starts
 * (services/executor/tools/start-tool.ts).
 */
export type ToolRun = CommandTool | HttpTool | ModuleTool

export type Tool = {
  declaration: Declaration
  run: ToolRun
  /**
   * Calls of it that one executor process runs at once; default: as many as of all tools together.
   */
  concurrency?: number
}

export type Model = {
  /** The name of a record in services/llm-gateway/providers/providers.ts. */
  provider: string
  name: string
  /** Default: the provider's own. */
  baseUrl?: string
  /**
   * The key itself, resolved from the environment by whoever loaded the agent; never logged. Empty:
   * the server at baseUrl wants none.
   */
  apiKey: string
  maxOutputTokens: number
  temperature?: number
  /**
   * How it calls tools; default: natively. text: it is told to write its calls as text, because it
   * has no other way.
   */
  toolCalls?: 'native' | 'text'
}

export type Agent = {
  name: string
  system: string
  model: Model
  tools: Tool[]
  settings: AgentSettings
}

/** By name. */
export type Agents = ReadonlyMap<string, Agent>

/** A cache: those of an agent are asked for in every round. */
const hashes = new WeakMap<Declaration, string>()

/**
 * sha-256 of a declaration, hex: the same for the same content, whatever the order of its fields.
 * Nobody changes a declaration that has been made.
 */
export function declarationHash(declaration: Declaration): string {
  const known = hashes.get(declaration)
  if (known !== undefined) return known
  const { name, description, schema, idempotent, timeoutMs, poll } = declaration
  const content = [name, description, schema, idempotent, timeoutMs, poll]
  const hints = hintsText(declaration)
  // Without hints the hash is what it was before there were any.
  const computed = hash('sha256', JSON.stringify(hints === '' ? content : [...content, hints]))
  hashes.set(declaration, computed)
  return computed
}

/** '' where there are none: a program that makes its own declarations may leave them out. */
function hintsText({ hints }: Declaration): string {
  if (hints === null || hints === undefined) return ''
  const { mutates, ignoreFields, loopKey, refusal } = hints
  return JSON.stringify([mutates, ignoreFields, loopKey, refusal])
}

/** The reference under which requests offer a tool. */
export function toolRef(declaration: Declaration): ToolRef {
  return { name: declaration.name, hash: declarationHash(declaration) }
}

/**
 * The agent's tool of that name whose declaration has that hash; undefined where the agent, the
 * tool or the hash does not match.
 */
export function findTool(agents: Agents, agent: string, ref: ToolRef): Tool | undefined {
  return agents
    .get(agent)
    ?.tools.find(
      (tool) =>
        tool.declaration.name === ref.name && declarationHash(tool.declaration) === ref.hash,
    )
}

/**
 * The agent's tool with just this declaration; the same as by its hash, without making one of each
 * declaration that comes out of a record.
 */
export function findDeclared(
  agents: Agents,
  agent: string,
  declaration: Declaration,
): Tool | undefined {
  return agents.get(agent)?.tools.find((tool) => isSame(tool.declaration, declaration))
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

const second: Milliseconds = 1000
const minute = 60 * second

/** The policy that is in force where an agent says nothing. */
export const defaultPolicy: Policy = policyOf({
  caps: { rounds: 25, calls: 100, wallMs: 30 * minute, tokens: null },
  loop: defaultsOf(thresholds.loop),
  empty: defaultsOf(thresholds.empty),
  startWithinMs: 10 * second,
  graceMs: 5 * second,
  toolTries: 3,
})

/** The settings that are in force where an agent says nothing. */
export const defaultSettings: AgentSettings = {
  fallback: 'I could not complete this request.',
  attempts: 3,
  stallMs: 5 * minute,
  policy: defaultPolicy,
}

/** An agent names no guards: the gateway stamps those in force. */
type PolicyContent = Omit<Policy, 'version' | 'guards' | 'shadowed'> &
  Partial<Pick<Policy, 'guards' | 'shadowed'>>

/** A policy with its version: the first 16 hex digits of the sha-256 of its content. */
export function policyOf({ guards = [], shadowed = [], ...content }: PolicyContent): Policy {
  // Without guards, and without rules in shadow, the version is what it was before there were any.
  const text = JSON.stringify({
    ...content,
    ...(guards.length > 0 && { guards }),
    ...(shadowed.length > 0 && { shadowed }),
  })
  return {
    version: createHash('sha256').update(text).digest('hex').slice(0, 16),
    ...content,
    guards,
    shadowed,
  }
}
