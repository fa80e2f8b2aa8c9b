// The people of a run: a call whose argument `risk` names a person waits for one. Most decide
// within seconds, some never, some near the deadline, and now and then two decide at once. Each
// decides from a process outside the fleet, as `weir allow` does, under their own name.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { openApprovals } from '../../services/approval/performer/approvals.ts'
import type { Bus } from '../../shared/contract/bus.ts'
import type {
  ApprovalAnswer,
  ApprovalPending,
  PendingCall,
} from '../../shared/contract/messages.ts'
import { callKey, type Decision } from '../evidence/evidence.ts'
import { createRandom, type Random } from '../simulation/random.ts'
import { followActivity } from './activity.ts'
import { contentMark } from './content-mark.ts'

export type Approvers = {
  readonly decisions: Decision[]
  /** Starts no further decision. Resolves when the pending ones are sent. */
  close(): Promise<void>
}

/** A call expires after three quarters of it (approvalAnswerMs). */
const waitMs = 24_000

/** Writes the approval rules and returns the file's path, for `weir approvals rules`. */
export function writeRules(folder: string): string {
  const rule = {
    name: 'a person decides',
    tools: ['charge', 'look', 'pay'],
    pattern: { path: 'risk', matches: 'person' },
  }
  const file = join(folder, 'rules.json')
  writeFileSync(file, JSON.stringify({ rules: [rule], waitMs }))
  return file
}

export function startApprovers({
  bus,
  prefix,
  partitions,
  seed,
}: {
  bus: Bus
  prefix: string
  partitions: number
  seed: string
}): Approvers {
  const approvals = openApprovals({
    bus,
    append: (records) => bus.append(records),
    topicPrefix: prefix,
    partitions,
  })
  const closed = new AbortController()
  const { signal } = closed
  const decisions: Decision[] = []
  const deciding = new Set<Promise<void>>()
  const known = new Set<string>()
  followActivity({ bus, prefix, partitions, signal }, (message) => {
    if (message.type === 'approval-pending') for (const call of message.calls) ask(message, call)
  })

  function ask(round: ApprovalPending, call: PendingCall): void {
    if (known.has(call.id)) return // an activity line may come twice
    known.add(call.id)
    const dice = createRandom(`${seed}/person/${call.id}`)
    for (let deciders = dice.chance(0.25) ? 2 : 1; deciders > 0; deciders -= 1) {
      const delayMs = delayOf(dice, round.until - Date.now())
      const answer = dice.chance(0.75) ? 'allow' : 'deny'
      if (delayMs === undefined) continue
      const one = decide(
        {
          call: callKey(round, call.ordinal),
          id: call.id,
          answer,
          by: `person-${known.size}-${deciders}`,
          counted: undefined,
        },
        delayMs,
      )
      deciding.add(one)
      void one.finally(() => deciding.delete(one))
    }
  }

  async function decide(
    decision: Decision & { answer: ApprovalAnswer },
    delayMs: number,
  ): Promise<void> {
    const isLate = await sleep(delayMs, false, { signal }).catch(() => true)
    if (isLate) return
    decisions.push(decision)
    const { id, answer, by } = decision
    const reply = await approvals
      .decide({ id, answer, by, reason: answer === 'deny' ? `no ${contentMark} today` : '' })
      .catch(() => undefined)
    decision.counted = reply?.counted // a failed write may still be in the log
  }

  return {
    decisions,
    async close() {
      closed.abort()
      await Promise.all(deciding)
    },
  }
}

/** Undefined: no decision. `leftMs`: the time until the call expires. */
function delayOf(dice: Random, leftMs: number): number | undefined {
  const when = dice.weighted([
    [80, 'soon'],
    [10, 'about when it expires'],
    [10, 'never'],
  ] as const)
  if (when === 'never') return undefined
  return when === 'soon' ? dice.between(0, 4_000) : Math.max(0, leftMs + dice.between(-1_000, 500))
}
