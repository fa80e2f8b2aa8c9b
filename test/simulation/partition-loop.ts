// One assignment of one partition to one member. It drives a PartitionReader as a bus does, in the
// order of port.ts, at the worst moments. The owner may have lost the partition without a notice (a
// zombie): it reads, writes and commits until it gets one.

import type {
  Commit,
  PartitionReader,
  StoredRecord,
  SubscribeOptions,
} from '../../shared/contract/bus.ts'
import type { Broker } from './broker.ts'
import type { Chaos } from './chaos.ts'
import type { Faults } from './faults.ts'
import type { Machine } from './machine.ts'
import type { Random } from './random.ts'
import type { Scheduler } from './scheduler.ts'
import { hop, type Sender } from './sender.ts'

export type PartitionLoop = {
  readonly machine: Machine
  readonly partition: number
  /** Stops reading, after the notice. */
  readonly ending: boolean
  end(how: 'shutdown' | 'lost'): void
  /** Resolves when all its work has ended. */
  readonly ended: Promise<void>
}

export type PartitionLoopOptions = {
  broker: Broker
  scheduler: Scheduler
  machine: Machine
  faults: Faults
  chaos: Chaos
  random: Random
  sender: Sender
  subscription: SubscribeOptions
  partition: number
  /** True while the group lists this loop as the owner. */
  owns(loop: PartitionLoop): boolean
  failed(error: unknown): void
}

export function startPartitionLoop(options: PartitionLoopOptions): PartitionLoop {
  const { broker, scheduler, machine, faults, chaos, random, sender, partition, owns, failed } =
    options
  const { group, topic, assign } = options.subscription
  let how: 'shutdown' | 'lost' | undefined
  let stopWaiting: (() => void) | undefined
  let abandon: (() => void) | undefined
  let last: Commit | undefined
  const ahead = random.fork('ahead')

  const loop: PartitionLoop = {
    machine,
    partition,
    get ending() {
      return how !== undefined
    },
    end(given) {
      if (how !== undefined) return
      how = given
      stopWaiting?.()
      // An owner may abandon or finish its writes after a notice in the middle of them.
      if (how === 'lost' && random.chance(0.5)) abandon?.()
    },
    ended: Promise.resolve(),
  }
  return Object.assign(loop, { ended: run().catch(failed) })

  async function run(): Promise<void> {
    await step()
    const committed = broker.log.committed({ group, topic, partition })
    await step()
    const ends = broker.log.ends(topic)[partition]
    if (ends === undefined) throw new Error(`there is no partition ${partition} of ${topic}`)
    await step()
    if (how !== undefined) return
    const reader = await assign({ topic, ends, committed })
    let failure: { error: unknown } | undefined
    try {
      await readOn(reader)
    } catch (error) {
      failure = { error }
    }
    await reader.close(how ?? 'shutdown')
    if (failure !== undefined) throw failure.error
    if (how === 'shutdown' && last !== undefined) {
      await step()
      await commit(last)
    }
  }

  async function readOn(reader: PartitionReader): Promise<void> {
    let position = reader.position
    for (;;) {
      if (how === undefined) await grown(position)
      if (how !== undefined) return
      const records = fetch(position)
      await chaos.moment(
        machine,
        records.some(({ id }) => id === undefined),
      )
      const { outputs, commit: due, allowsAhead } = await reader.read(records)
      position = (records.at(-1)?.offset ?? position) + 1
      await chaos.moment(machine)
      const sending = sentUnlessAbandoned(outputs)
      if (allowsAhead && ahead.chance(0.7)) reader.goAhead?.()
      if (!(await sending)) return
      await chaos.moment(machine)
      reader.acknowledged()
      if (due === undefined) continue
      last = due
      await chaos.moment(machine)
      if (faults.over || random.chance(0.7)) void commit(due)
    }
  }

  function fetch(position: number): StoredRecord[] {
    return broker.log.read({
      topic,
      partition,
      from: position,
      limit: random.weighted([
        [2, 1],
        [2, random.between(1, 5)],
        [3, random.between(1, 30)],
        [1, 500],
      ]),
    })
  }

  /**
   * True: the outputs are acknowledged. False: the loop ended and abandoned them, but writes in
   * flight still land.
   */
  async function sentUnlessAbandoned(outputs: Parameters<Sender['send']>[0]): Promise<boolean> {
    if (outputs.length === 0) return true
    const left = new Promise<boolean>((resolve) => {
      abandon = () => resolve(false)
    })
    const sent = sender.send(outputs).then(() => true)
    sent.catch(() => {}) // an abandoned write has no listener
    const isSent = await Promise.race([sent, left])
    abandon = undefined
    return isSent
  }

  /**
   * Resolves when the commit has arrived or never will. Only a shutdown waits for it, so an older
   * commit may overtake a newer one.
   */
  function commit(due: Commit): Promise<void> {
    if (faults.strikes('lost-commit')) return Promise.resolve()
    return new Promise((resolve) => {
      scheduler.at(scheduler.now() + (faults.over ? 0 : hop(random)), () => {
        if (owns(loop) || faults.strikes('stale-commit'))
          broker.commit({ ...due, group, topic, partition })
        resolve()
      })
    })
  }

  function grown(position: number): Promise<void> {
    return new Promise((resolve) => {
      const cancel = broker.whenGrown(topic, partition, position, () => {
        const delayMs = faults.strikes('slow-reader') ? random.between(200, 20_000) : hop(random)
        machine.after(delayMs, resolve)
      })
      stopWaiting = () => {
        cancel()
        machine.after(0, resolve)
      }
    })
  }

  function step(): Promise<void> {
    return new Promise((resolve) => {
      machine.after(hop(random), resolve)
    })
  }
}
