// The owner of a data folder, as other processes on that folder see it: it names its agents and
// guards, and holds the contexts of their questions. It judges each request as hostile input.
// The context of a question is in memory only, until its process drops it or ends.
// A process is answered after the stages run: then the topics and guards are there.

import type { Agents } from '../../shared/agents/agents.ts'
import type { LinkHost } from '../../shared/bus/embedded/beside/owner-links.ts'
import type { LocalBus } from '../../shared/bus/kind.ts'
import { conversationIdFault, messageIdFault, type SentMessage } from '../../shared/contract/ids.ts'
import { limits } from '../../shared/contract/limits.ts'
import { messageError, WeirError } from '../../shared/lib/errors.ts'
import type { Settings } from '../../shared/settings/settings.ts'
import type { Contexts } from '../agents/contexts.ts'
import { type AgentsFacts, factsOf } from './agent-facts.ts'

/** The contexts of questions that the owner holds for other processes, together, as JSON. */
export const linkContextBytesMax = 64 * 1024 * 1024

/** The requests of a process next to the owner, besides those of outside-requests.ts. */
export type HostRequest =
  /** The answer is `Welcome`. `guards`: those that the process runs. */
  | { type: 'hello'; pid: number; guards: string[] }
  /** The answer is `OwnerState`. */
  | { type: 'state' }
  /** `value`: JSON. The answer is null. */
  | { type: 'keep-context'; message: SentMessage; value: string }
  | { type: 'drop-context'; message: SentMessage }
  /** The answer is true if the owner leaves the folder to a process with agents. */
  | { type: 'yield' }

export function helloOf(guards: readonly string[]): HostRequest {
  return { type: 'hello', pid: process.pid, guards: [...guards] }
}

export type Welcome = { pid: number; topicPrefix: string; partitions: number; agents: AgentsFacts }

/** `beside`: the processes with a link. */
export type OwnerState = {
  pid: number
  agents: string[]
  guards: string[]
  beside: { pid: number; guards: string[] }[]
}

export type StageHost = LinkHost & {
  /** The stages run: answers everybody from now on. */
  serve(): void
}

export type StageHostOptions = {
  agents: Agents
  guards: readonly string[]
  topicPrefix: string
  partitions: number
  keep: Contexts['keep']
  /** Leaves the folder, and returns true. May throw `bus.locked`. Undefined: this process stays. */
  leave?: (() => boolean) | undefined
}

type Visitor = {
  pid: number
  guards: string[]
  contexts: Map<string, { bytes: number; drop: () => void }>
}

export function createStageHost(options: StageHostOptions): StageHost {
  const { agents, guards, topicPrefix, partitions, keep, leave } = options
  const { promise: serving, resolve: serve } = Promise.withResolvers<void>()
  const visitors = new Map<object, Visitor>()
  let contextBytes = 0

  function visitorOf(link: object): Visitor {
    const known = visitors.get(link) ?? { pid: 0, guards: [], contexts: new Map() }
    visitors.set(link, known)
    return known
  }

  function drop({ contexts }: Visitor, key: string): void {
    const kept = contexts.get(key)
    if (kept === undefined) return
    contexts.delete(key)
    contextBytes -= kept.bytes
    kept.drop()
  }

  function keepContext(visitor: Visitor, message: SentMessage, text: string): void {
    const bytes = Buffer.byteLength(text)
    if (bytes > limits.recordedContextBytesMax)
      throw unusable(`a context has ${bytes} bytes; at most ${limits.recordedContextBytesMax}`)
    const key = keyOf(message)
    drop(visitor, key)
    if (contextBytes + bytes > linkContextBytesMax)
      throw new WeirError(
        'bus.full',
        `this process already holds ${contextBytes} bytes of contexts for other processes, and the limit is ${linkContextBytesMax}: ask again when turns have ended`,
      )
    contextBytes += bytes
    visitor.contexts.set(key, { bytes, drop: keep(message, parsed(text)) })
  }

  return {
    serve,

    async answer(link, received): Promise<Welcome | OwnerState | boolean | null> {
      const request = requestIn(received)
      const visitor = visitorOf(link)
      switch (request.type) {
        case 'hello':
          visitor.pid = request.pid
          visitor.guards = request.guards
          await serving
          return { pid: process.pid, topicPrefix, partitions, agents: factsOf(agents) }
        case 'state': {
          const beside = [...visitors.values()].filter(({ pid }) => pid !== 0)
          return {
            pid: process.pid,
            agents: [...agents.keys()],
            guards: [...guards],
            beside: beside.map(({ pid, guards: own }) => ({ pid, guards: own })),
          }
        }
        case 'keep-context':
          keepContext(visitor, request.message, request.value)
          return null
        case 'drop-context':
          drop(visitor, keyOf(request.message))
          return null
        case 'yield':
          if (leave === undefined) return false
          await serving
          return leave()
        default:
          return request satisfies never
      }
    },

    left(link) {
      const visitor = visitors.get(link)
      visitors.delete(link)
      for (const key of [...(visitor?.contexts.keys() ?? [])]) drop(visitor as Visitor, key)
    },
  }
}

function keyOf({ conversation, messageId }: SentMessage): string {
  return JSON.stringify([conversation, messageId])
}

function requestIn(received: unknown): HostRequest {
  const fields = objectIn(received)
  switch (fields.type) {
    case 'hello': {
      const { pid, guards } = fields
      if (typeof pid !== 'number' || !Number.isSafeInteger(pid)) throw unusable('pid is no number')
      if (!Array.isArray(guards) || guards.length > limits.guardsMax)
        throw unusable('guards is no list, or too long')
      return { type: 'hello', pid, guards: guards.map((name) => textIn(name).slice(0, 256)) }
    }
    case 'state':
    case 'yield':
      return { type: fields.type }
    case 'keep-context':
      return {
        type: 'keep-context',
        message: messageIn(fields.message),
        value: textIn(fields.value),
      }
    case 'drop-context':
      return { type: 'drop-context', message: messageIn(fields.message) }
    default:
      throw unusable(`its type is ${JSON.stringify(fields.type)?.slice(0, 80)}`)
  }
}

function messageIn(value: unknown): SentMessage {
  const fields = objectIn(value)
  const message = {
    conversation: textIn(fields.conversation),
    messageId: textIn(fields.messageId),
  }
  const fault = conversationIdFault(message.conversation) ?? messageIdFault(message.messageId)
  if (fault !== undefined) throw unusable(fault)
  return message
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw unusable('a context is not JSON', cause)
  }
}

function objectIn(value: unknown): Record<string, unknown> {
  if (typeof value === 'object' && value !== null) return value as Record<string, unknown>
  throw unusable('an object is missing')
}

function textIn(value: unknown): string {
  if (typeof value === 'string') return value
  throw unusable('a text is missing')
}

function unusable(why: string, cause?: unknown): WeirError {
  const text = `a request of another process cannot be answered: ${why}`
  return messageError(text, { cause })
}

/** The state of the process that owns the file. Undefined: none answers. Throws as `link`. */
export async function ownerState(
  kind: LocalBus,
  settings: Pick<Settings, 'dataFolder'>,
): Promise<OwnerState | undefined> {
  return (await requestOnce(kind, settings, { type: 'state' })) as OwnerState | undefined
}

/**
 * Whether the owner leaves the folder now, to this process, which has agents. Throws `bus.locked`
 * if it has none and stays, and the errors of a link.
 */
export async function ownerLeaves(
  kind: LocalBus,
  settings: Pick<Settings, 'dataFolder'>,
): Promise<boolean> {
  return (await requestOnce(kind, settings, { type: 'yield' })) === true
}

async function requestOnce(
  kind: LocalBus,
  settings: Pick<Settings, 'dataFolder'>,
  request: HostRequest,
): Promise<unknown> {
  const link = await kind.link(settings)
  if (link === undefined) return undefined
  try {
    return await link.request(request)
  } finally {
    link.close()
  }
}
