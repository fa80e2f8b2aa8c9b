// Counts the requests that pass the proxy unjudged. The first of each kind is a warning, and the
// counts go to the log, to the conversation `unjudged` of the guest.
// Memory and records are bounded, because clients choose the paths: kinds beyond the
// limit are one kind, and counts go out together.
// A count that the log does not take stays for the next report.

import type { Logger } from 'pino'
import { limits } from '../../../../../shared/contract/limits.ts'
import { HttpError } from '../../../http-error.ts'
import type { ConversationOf } from '../request-budget.ts'

export type UnjudgedTally = {
  /** Counts one request of this guest. `kind`: as unjudgedKindOf names it. */
  add(agent: string, kind: string): void
  /** Warns of requests that a veto refuses, once for each kind. */
  refuse(agent: string, kind: string): void
  /** Resolves once all counts are in the log, or it did not take them. */
  settled(): Promise<void>
}

export function createUnjudgedTally({
  conversationOf,
  isNamed = () => false,
  log,
}: {
  conversationOf: ConversationOf
  /** Whether an operator named the guest. Its counts need no room that other names can take. */
  isNamed?: ((agent: string) => boolean) | undefined
  log: Logger
}): UnjudgedTally {
  const kinds = new Set<string>()
  const refused = new Set<string>()
  /** By guest and kind. */
  const counts = new Map<string, Map<string, number>>()
  let reporting = Promise.resolve()
  let timer: NodeJS.Timeout | undefined

  function count(agent: string, kind: string, n: number): void {
    const own = counts.get(agent) ?? new Map<string, number>()
    const isFull = counts.size >= limits.frontAgentsMax && !counts.has(agent)
    if (isFull && !isNamed(agent)) return
    counts.set(agent, own.set(kind, (own.get(kind) ?? 0) + n))
  }

  async function report(): Promise<void> {
    clearTimeout(timer)
    timer = undefined
    const sent = [...counts]
    counts.clear()
    for (const [agent, own] of sent) {
      try {
        const conversation = await conversationOf(agent, unjudgedThread)
        const requests = [...own].map(([kind, n]) => ({ kind, count: n }))
        await conversation.reportUnjudged?.(requests)
      } catch (error) {
        if (error instanceof HttpError) continue // no guest can have this name
        log.warn({ err: error, agent }, 'the count of unjudged requests could not be written')
        for (const [kind, n] of own) count(agent, kind, n)
      }
    }
  }

  function reportNow(): Promise<void> {
    reporting = reporting.then(report)
    return reporting
  }

  return {
    add(agent, kind) {
      const name = kinds.has(kind) || kinds.size < limits.unjudgedKindsMax ? kind : otherPaths
      count(agent, name, 1)
      if (kinds.has(name)) {
        timer ??= setTimeout(reportNow, limits.unjudgedReportMs).unref()
        return
      }
      kinds.add(name)
      log.warn({ agent, kind: name }, warning)
      void reportNow()
    },
    refuse(agent, kind) {
      const name = refused.size < limits.unjudgedKindsMax ? kind : otherPaths
      if (refused.has(kind) || refused.has(name)) return
      refused.add(name)
      log.warn({ agent, kind: name }, refusal)
    },
    async settled() {
      await reportNow()
    },
  }
}

const otherPaths = 'other paths'

/** The thread of a guest whose activity has the counts. */
const unjudgedThread = { conversation: 'unjudged', turn: undefined, holds: false, hides: false }

const warning =
  'requests of this kind pass unjudged: Weir ends no loop in them and holds no call; weir conversations counts them'

const refusal =
  'requests of this kind are refused: Weir cannot judge the calls in their answers; without --veto they pass unjudged'
