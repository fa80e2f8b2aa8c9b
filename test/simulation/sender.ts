// The writes of a process: one chain for each destination partition, which sends a record only
// after the acknowledgement of its predecessor (R3). It simulates all faults on the way. A request
// or an acknowledgement is lost, a write lands twice or much later again, or the process dies in
// between. It is kinder than Kafka: a write is cut into random pieces, but a piece lands as a
// whole.

import type { Appended, RecordToAppend } from '../../shared/contract/bus.ts'
import type { Milliseconds } from '../../shared/lib/clock.ts'
import { WeirError } from '../../shared/lib/errors.ts'
import type { Broker } from './broker.ts'
import type { Chaos } from './chaos.ts'
import type { Faults } from './faults.ts'
import type { Machine } from './machine.ts'
import type { Random } from './random.ts'
import type { Scheduler } from './scheduler.ts'

export type Sender = {
  /**
   * Resolves when all are acknowledged, in the given order. Rejects when the bus gives up: some may
   * have landed.
   */
  send(records: RecordToAppend[]): Promise<Appended[]>
}

export type SenderOptions = {
  broker: Broker
  scheduler: Scheduler
  machine: Machine
  faults: Faults
  chaos: Chaos
  random: Random
}

/**
 * The longest delay of a copy: within the time in which a conversation detects a repeated message
 * (limits.conversationIdleMs).
 */
const copyDelayMsMax = 180_000

export function createSender({
  broker,
  scheduler,
  machine,
  faults,
  chaos,
  random,
}: SenderOptions): Sender {
  return {
    async send(records) {
      const chains = new Map<string, number[]>()
      for (const [i, { topic, partition }] of records.entries()) {
        const name = `${topic}/${partition}`
        const chain = chains.get(name)
        if (chain === undefined) chains.set(name, [i])
        else chain.push(i)
      }
      const appended: Appended[] = []
      await Promise.all([...chains.values()].map((chain) => sendChain(chain)))
      return appended

      async function sendChain(chain: number[]): Promise<void> {
        for (let next = 0; next < chain.length; ) {
          const size = random.chance(0.5)
            ? chain.length - next
            : random.between(1, chain.length - next)
          const piece = chain.slice(next, next + size)
          const isCritical = piece.some((i) => records[i]?.id === undefined)
          await chaos.moment(machine, isCritical)
          const landed = await sendPiece(piece.map((i) => records[i] as RecordToAppend))
          for (const [n, i] of piece.entries()) appended[i] = landed[n] as Appended
          await chaos.moment(machine, isCritical)
          next += size
        }
      }
    },
  }

  async function sendPiece(piece: RecordToAppend[]): Promise<Appended[]> {
    for (;;) {
      if (faults.strikes('write-error')) {
        if (random.chance(0.5)) await landed(piece)
        else await wait(random.between(1000, 5000))
        throw new WeirError(
          'bus.unwritable',
          `simulated: the write of ${piece.length} records was given up`,
          { retryable: true },
        )
      }
      if (faults.strikes('lost-request')) {
        await wait(random.between(500, 3000))
        continue
      }
      const appended = await landed(piece)
      if (!faults.strikes('lost-acknowledgement')) return appended
      await wait(random.between(500, 3000))
    }
  }

  /**
   * Sends the write to the broker and awaits its acknowledgement. A write in flight lands even if
   * the process dies.
   */
  function landed(piece: RecordToAppend[]): Promise<Appended[]> {
    return new Promise((resolve) => {
      const slowMs = faults.strikes('slow-write') ? random.between(100, 15_000) : 0
      const slowThereMs = random.chance(0.5) ? slowMs : 0
      scheduler.at(scheduler.now() + hop(random) + slowThereMs, () => {
        const appended = broker.land(piece)
        if (faults.strikes('duplicate')) broker.land(piece)
        if (faults.strikes('duplicate-record')) broker.land([random.pick(piece)])
        if (faults.strikes('delayed-copy')) {
          const copy = random.chance(0.5) ? piece : [random.pick(piece)]
          scheduler.at(
            scheduler.now() +
              random.weighted([
                [3, random.between(5, 2000)],
                [1, random.between(2000, copyDelayMsMax)],
              ]),
            () => broker.land(copy),
          )
        }
        machine.after(hop(random) + slowMs - slowThereMs, () => resolve(appended))
      })
    })
  }

  function wait(delayMs: Milliseconds): Promise<void> {
    return new Promise((resolve) => {
      machine.after(delayMs, resolve)
    })
  }
}

/** One way over the network: mostly a millisecond or two. */
export function hop(random: Random): Milliseconds {
  return random.chance(0.95) ? random.between(0, 3) : random.between(5, 150)
}
