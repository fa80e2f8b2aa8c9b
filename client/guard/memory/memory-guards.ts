// The guards of a program and its approval rules, without a log: registered in a table of this process,
// and run as on a log.

import type { Logger } from 'pino'
import { personHere } from '../../../services/approval/performer/person.ts'
import { keepApprovalRules } from '../../../services/approval/performer/registration.ts'
import { guardsInForce } from '../../../services/llm-gateway/performer/guards-in-force.ts'
import { decode, encode } from '../../../shared/codec/codec.ts'
import type { StoredRecord } from '../../../shared/contract/bus.ts'
import type { AnyGuard } from '../../../shared/contract/guard/guard.ts'
import { limits } from '../../../shared/contract/limits.ts'
import type {
  GuardInForce,
  GuardVerdict,
  Message,
  RoundCleared,
} from '../../../shared/contract/messages.ts'
import { guardTopicName, keyOf } from '../../../shared/contract/topology.ts'
import type { Clock, Milliseconds } from '../../../shared/lib/clock.ts'
import { WeirError } from '../../../shared/lib/errors.ts'
import { formatId } from '../../../shared/runtime/derived-id.ts'
import { isEndRecord } from '../../../shared/runtime/guards/call-ends.ts'
import { readGuardPartition } from '../../../shared/runtime/guards/guard-partition.ts'
import {
  modeOf,
  type Registry,
  registeredGuards,
  registerGuard,
} from '../../../shared/runtime/guards/guard-registry.ts'
import type { GuardOptions } from '../guard-options.ts'

type Options = Pick<GuardOptions, 'guards' | 'approvals'> & {
  clock: Clock
  log: Logger
  /** Receives the verdicts that a call may wait for. */
  answered(verdict: GuardVerdict): void
  failed(error: unknown): void
}

export type MemoryGuards = {
  inForce: GuardInForce[]
  judge(round: RoundCleared, time: Milliseconds): void
  follow(message: Message, time: Milliseconds): void
  close(): Promise<void>
}

const topic = 'rounds-cleared'
const partition = 0

/** Errors: `guard.invalid`, `guard.taken` and `settings.invalid`. */
export async function openMemoryGuards(options: Options): Promise<MemoryGuards> {
  const { guards: given, approvals, clock, log } = options
  const registry = tableOfGuards(clock)
  if (approvals !== undefined) await keepApprovalRules(registry, approvals, personHere())
  const mode = given?.mode
  for (const guard of given?.guards ?? []) {
    const place = { ...registry, partitions: 1, retentionMs: limits.memoryLogMs }
    const registered = await registerGuard({ ...place, guard, mode, replace: false })
    const line = { guard: guard.name, version: guard.version, mode: modeOf(registered) ?? 'mixed' }
    log.info(line, 'guard started')
  }
  const inForce = guardsInForce(await registeredGuards(registry))
  if (typeof inForce === 'string') throw new WeirError('settings.invalid', inForce)
  const running = (given?.guards ?? []).map((guard) => runInMemory(guard, options))
  let next = 0

  return {
    inForce,
    judge(message, time) {
      const offset = next++
      const id = formatId({ stage: 'loop-detector', partition, offset, n: 0 })
      const value = encode(message)
      const record = { topic, partition, offset, time, key: keyOf(message), value, id }
      for (const guard of running) guard.judge(record)
    },
    follow(message, time) {
      if (!isEndRecord(message)) return
      const some = running.filter(({ seesEnds }) => seesEnds)
      if (some.length === 0) return
      const record = { topic, partition, offset: next++, time, key: keyOf(message) }
      for (const guard of some) guard.judge({ ...record, value: encode(message) })
    },
    async close() {
      await Promise.all(running.map((guard) => guard.close()))
    },
  }
}

/** The table `policies`, with the registrations of this process only. */
function tableOfGuards(clock: Clock): Registry {
  const table = new Map<string, StoredRecord>()
  return {
    topicPrefix: '',
    bus: {
      clock,
      ensureTopics: async () => {},
      list: async ({ prefix }) =>
        [...table.values()]
          .filter(({ key }) => key.startsWith(prefix))
          .sort((a, b) => (a.key < b.key ? -1 : 1)),
      append: async (records) =>
        records.map((record) => {
          const place = { partition, offset: table.size, time: clock.now() }
          table.set(record.key, { ...record, ...place })
          return place
        }),
    },
  }
}

/** Judges the rounds that wait in one step, and then those that have come since. */
function runInMemory(guard: AnyGuard, { clock, log, answered, failed }: Options) {
  const stopping = new AbortController()
  const reader = readGuardPartition({
    guard,
    clock,
    log: log.child({ guard: guard.name }),
    stopping: stopping.signal,
    assignment: { topic, ends: { partition, begin: 0, end: 0 }, committed: undefined },
    topic: guardTopicName(guard.name),
  })
  let waiting: StoredRecord[] = []
  let running: Promise<void> | undefined

  async function judgeAll(): Promise<void> {
    while (waiting.length > 0) {
      const records = waiting
      waiting = []
      const { outputs } = await reader.read(records)
      reader.acknowledged()
      for (const { value } of outputs) {
        const verdict = value === null ? undefined : decode(value)
        // Nothing waits for a guard in shadow mode.
        if (verdict?.type === 'guard-verdict' && verdict.enforces.length > 0) answered(verdict)
      }
    }
    running = undefined
  }

  return {
    seesEnds: !guard.external && guard.seesEnds === true,
    judge(record: StoredRecord): void {
      waiting.push(record)
      running ??= Promise.resolve().then(judgeAll).catch(failed)
    },
    async close(): Promise<void> {
      waiting = []
      const cancel = clock.after(limits.guardExternalCloseMs, () => stopping.abort())
      await running?.finally(cancel)
      cancel()
      await reader.close('shutdown')
    },
  }
}
