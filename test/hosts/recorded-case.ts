// A recorded run of a host without Weir: its requests, the answers of the model and the payloads of the
// hooks. A history grows with each request, so a request keeps only its difference to the one before
// it in the same conversation.

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ScriptedAnswer } from './model-server.ts'

type Body = Record<string, unknown>

export type RecordedRequest = {
  /** The number of its conversation: the main agent, or a sub-agent. */
  thread: number
  path: string
  /** Absent: those of the request before. */
  headers?: Record<string, string>
  /** The member with the messages. */
  list: 'messages' | 'input'
  /** The number of messages that stay from the request before. */
  keep: number
  /** The messages after them. */
  add: readonly unknown[]
  /** The other members that differ from the request before. */
  changes: Body
  answer: ScriptedAnswer
}

/** `after`: the number of requests that came before it. */
export type RecordedHook = { after: number; kind: string; body: Body }

export type RecordedCase = {
  host: string
  version: string
  title: string
  requests: readonly RecordedRequest[]
  hooks: readonly RecordedHook[]
}

export type WholeRequest = Pick<RecordedRequest, 'thread' | 'path' | 'answer'> & {
  headers: Record<string, string>
  body: Body
}

export function differences(requests: readonly WholeRequest[]): RecordedRequest[] {
  const before = new Map<number, WholeRequest>()
  return requests.map((request) => {
    const { thread, path, headers, answer, body } = request
    const last = before.get(thread)
    before.set(thread, request)
    const list = 'messages' in body ? 'messages' : 'input'
    const [old, now] = [last?.body[list] ?? [], body[list]] as [unknown[], unknown[]]
    const differs = now.findIndex((one, at) => !isEqual(one, old[at]))
    const keep = differs === -1 ? now.length : differs
    const changes = Object.entries(body).filter(
      ([key, value]) => key !== list && !isEqual(value, last?.body[key]),
    )
    return {
      thread,
      path,
      ...(!isEqual(headers, last?.headers) && { headers }),
      list,
      keep,
      add: now.slice(keep),
      changes: Object.fromEntries(changes),
      answer,
    }
  })
}

export function wholeRequests({ requests }: RecordedCase): WholeRequest[] {
  const before = new Map<number, WholeRequest>()
  return requests.map(({ thread, path, headers, answer, list, keep, add, changes }) => {
    const last = before.get(thread)
    const kept = ((last?.body[list] ?? []) as unknown[]).slice(0, keep)
    const request = {
      thread,
      path,
      headers: headers ?? last?.headers ?? {},
      answer,
      body: { ...last?.body, ...changes, [list]: [...kept, ...add] },
    }
    before.set(thread, request)
    return request
  })
}

function isEqual(left: unknown, right: unknown): boolean {
  return JSON.stringify(left) === JSON.stringify(right)
}

export const recordedFolder = join(import.meta.dirname, 'recorded', 'cases')

export function recordedCases(): RecordedCase[] {
  return readdirSync(recordedFolder)
    .filter((name) => name.endsWith('.json'))
    .toSorted()
    .map((name) => JSON.parse(readFileSync(join(recordedFolder, name), 'utf8')) as RecordedCase)
}
