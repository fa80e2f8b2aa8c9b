// Performers that break R4. All other parts are real.

import type {
  Performer,
  PerformerContext,
  StartPerformer,
} from '../../../shared/contract/performer.ts'
import { resultWith } from '../../support/messages.ts'
import { type Entries, type Parts, realEntries, realSystem, type System } from '../system.ts'

type StartTools = Entries['executor']['startPerformer']
type ToolTask = StartTools extends StartPerformer<infer Task> ? Task : never

function withPerformer(
  name: string,
  start: (real: StartTools, parts: Parts) => StartTools,
): System {
  return {
    ...realSystem,
    name,
    entries(parts) {
      const entries = realEntries(parts)
      return {
        ...entries,
        executor: {
          ...entries.executor,
          startPerformer: start(entries.executor.startPerformer, parts),
        },
      }
    },
  }
}

/** Ignores the time between the claim and the start. */
export const noClock = withPerformer('the executor ignores the clock', (real) => (context) => {
  const clock = { ...context.clock, now: () => 0, monotonic: () => 0 }
  return real({ ...context, clock })
})

/**
 * Uses the instance's name as the owner: after a restart it mistakes its old claim for a new one.
 */
export const ownerIsInstance = withPerformer(
  'the owner is the name of the instance',
  (_real, parts) => (context) => naive({ ...context, owner: parts.place }, parts),
)

/** Every process that sees a claim starts the tool. */
export const anyClaimStarts = withPerformer(
  'any claim starts the tool',
  (_real, parts) => (context) => naive(context, parts, () => true),
)

/** An executor without its own checks: it relies on the log and remembers only running calls. */
function naive(
  context: PerformerContext,
  { run }: Parts,
  isMine = (owner: string) => owner === context.owner,
): Performer<ToolTask> {
  const begun = new Set<string>()
  const write = (messages: Parameters<PerformerContext['write']>[1]) => {
    context.write('self', messages).catch(() => {})
  }
  return {
    reconcile(_unit, tasks) {
      for (const task of tasks) {
        if (task.kind !== 'claim' && task.kind !== 'run') continue // ignores the guards of the call
        const { conversation, turn, round, ordinal, try: number } = task
        const name = JSON.stringify([task.kind, conversation, turn, round, ordinal, number])
        if (begun.has(name) || (task.kind === 'run' && !isMine(task.owner))) continue
        begun.add(name)
        const call = { conversation, turn, round, ordinal, try: number, owner: context.owner }
        if (task.kind === 'claim') {
          write([{ type: 'claim', ...call }])
          continue
        }
        const tool = run(
          { kind: 'command', argv: [task.declaration.name] },
          { ...task, clock: context.clock },
        )
        void tool.ended.then(({ status, text, reason }) =>
          write([
            {
              type: 'outcome',
              ...call,
              owner: task.owner,
              result: resultWith({ ordinal, status, text, reason, durationMs: 0 }),
              goesOn: false,
            },
          ]),
        )
      }
    },
    async close() {},
  }
}
