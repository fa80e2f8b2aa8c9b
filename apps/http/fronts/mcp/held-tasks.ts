// The calls of one conversation that wait for a person as tasks (extension io.modelcontextprotocol/tasks):
// their host gets an id at once, and asks for the result.
// A task is known in the conversation of its call only, under an id that nobody can guess.
// A task that its host cancels stays cancelled. The task's call is stopped like a cancelled
// request, and gets a single result.

import { randomUUID } from 'node:crypto'
import type { CallToolResult } from '@modelcontextprotocol/client'
import { limits } from '../../../../shared/contract/limits.ts'
import type { Clock } from '../../../../shared/lib/clock.ts'
import { newest } from '../../../../shared/lib/newest.ts'

/** How often a host may ask for a task whose call waits for a person. */
const gatewayPollMs = 2_000
/** The results of tasks that a conversation of the gateway keeps for its host. */
const gatewayTaskBytesMax = 32 * 1024 * 1024

/** As the host gets it. */
export type Task = {
  taskId: string
  status: 'working' | 'completed' | 'cancelled'
  statusMessage?: string
  createdAt: string
  lastUpdatedAt: string
  ttlMs: number
  pollIntervalMs: number
  result?: CallToolResult
}

export type HeldTasks = {
  /** `run` must not reject. Its signal aborts when the host cancels the task. */
  begin(statusMessage: string, run: (signal: AbortSignal) => Promise<CallToolResult>): Task
  get(taskId: string): Task | undefined
  cancel(taskId: string): void
}

type Held = { task: Task; canceller: AbortController }

/** `clock`: for the times in tasks. */
export function heldTasks(clock: Clock): HeldTasks {
  const tasks = newest<Held>(gatewayTaskBytesMax, sizeOf)
  const nowText = () => new Date(clock.now()).toISOString()

  function end(taskId: string, change: Pick<Task, 'status' | 'result'>): void {
    const held = tasks.get(taskId)
    if (held?.task.status !== 'working') return
    const { statusMessage: _, ...task } = held.task
    tasks.set(taskId, { ...held, task: { ...task, ...change, lastUpdatedAt: nowText() } })
  }

  return {
    begin(statusMessage, run) {
      const canceller = new AbortController()
      const task: Task = {
        taskId: randomUUID(),
        status: 'working',
        statusMessage,
        createdAt: nowText(),
        lastUpdatedAt: nowText(),
        ttlMs: limits.turnWallMsMax,
        pollIntervalMs: gatewayPollMs,
      }
      tasks.set(task.taskId, { task, canceller })
      void run(canceller.signal).then((result) => end(task.taskId, { status: 'completed', result }))
      return task
    },
    get(taskId) {
      const task = tasks.get(taskId)?.task
      if (task === undefined) return undefined
      return clock.now() - Date.parse(task.createdAt) > task.ttlMs ? undefined : task
    },
    cancel(taskId) {
      const held = tasks.get(taskId)
      end(taskId, { status: 'cancelled' })
      held?.canceller.abort(new Error('the host cancelled the task'))
    },
  }
}

const taskBytes = 4096

function sizeOf({ task: { result } }: Held): number {
  return taskBytes + (result === undefined ? 0 : Buffer.byteLength(JSON.stringify(result)))
}
