// The bus of one simulated process: the port, over a shared broker and an unreliable network. It
// never proves former owners dead, and its tables lag after the log.

import type { Bus, RecordToAppend, StoredRecord, Subscription } from '../../shared/contract/bus.ts'
import { limits } from '../../shared/contract/limits.ts'
import type { Milliseconds } from '../../shared/lib/clock.ts'
import { WeirError } from '../../shared/lib/errors.ts'
import type { Broker } from './broker.ts'
import type { Chaos } from './chaos.ts'
import type { Coordinator, Member } from './coordinator.ts'
import type { Faults } from './faults.ts'
import type { Machine } from './machine.ts'
import { startPartitionLoop } from './partition-loop.ts'
import type { Random } from './random.ts'
import type { Scheduler } from './scheduler.ts'
import { createSender, hop, type Sender } from './sender.ts'

export type SimulatedBusOptions = {
  broker: Broker
  coordinator: Coordinator
  scheduler: Scheduler
  machine: Machine
  faults: Faults
  chaos: Chaos
  random: Random
}

export function createSimulatedBus(options: SimulatedBusOptions): Bus {
  const { broker, coordinator, scheduler, machine, faults, random } = options
  const { log } = broker
  const sender: Sender = createSender(options)
  const tables = createTableView()

  return {
    clock: machine.clock,
    provesFormerOwnersDead: false,
    recordBytesMax: limits.recordBytesMax,

    async ensureTopics() {
      await step() // the topics exist before the first process does
    },

    append(records) {
      for (const record of records) check(record)
      return sender.send(records)
    },

    async subscribe(subscription) {
      await step()
      let fail = (_error: unknown): void => {}
      const failed = new Promise<never>((_, reject) => {
        fail = reject
      })
      failed.catch(() => {})
      const member: Member = {
        machine,
        leaving: false,
        loops: new Map(),
        start: (partition) =>
          startPartitionLoop({
            ...options,
            sender,
            subscription,
            partition,
            owns: (loop) => coordinator.owns(subscription.group, loop),
            failed: fail,
          }),
      }
      coordinator.join(subscription.group, log.topic(subscription.topic).partitions, member)
      const running: Subscription = {
        get joined() {
          return !member.leaving
        },
        failed,
        async close() {
          member.leaving = true
          const loops = [...member.loops.values()]
          for (const loop of loops) loop.end('shutdown')
          await Promise.all(loops.map((loop) => loop.ended))
          coordinator.leave(subscription.group, member)
        },
      }
      return running
    },

    async ends(topic) {
      await step()
      return log.ends(topic)
    },

    async read(range) {
      await step()
      return log.read(range)
    },

    async *follow({ signal, from, ...name }) {
      let next = from
      const aborted = new Promise<void>((resolve) =>
        signal.addEventListener('abort', () => resolve(), { once: true }),
      )
      while (!signal.aborted) {
        await Promise.race([
          aborted,
          new Promise<void>(
            (resolve) =>
              void broker.whenGrown(name.topic, name.partition, next, () =>
                machine.after(hop(random), resolve),
              ),
          ),
        ])
        if (signal.aborted) return
        const records = log.read({ ...name, from: next, limit: 100 })
        next = (records.at(-1)?.offset ?? next - 1) + 1
        yield records
      }
    },

    async list({ topic, partition, prefix }) {
      await step()
      return tables
        .newest(topic, partition)
        .filter((record) => record.key.startsWith(prefix) && record.value !== null)
    },

    async keys({ topic, partition, after, limit }) {
      await step()
      const newest = tables
        .newest(topic, partition)
        .filter(({ key, value }) => value !== null && (after === undefined || key > after))
      return newest.slice(0, limit).map(({ key, offset, time }) => ({ key, offset, time }))
    },

    async get({ topic, partition, key, waitMs }) {
      const until = machine.clock.monotonic() + waitMs
      for (;;) {
        await step()
        const found = tables.newest(topic, partition).find((record) => record.key === key)
        if (found !== undefined) return found.value === null ? undefined : found
        if (machine.clock.monotonic() >= until) return undefined
        await tables.changed(topic, partition, until - machine.clock.monotonic())
      }
    },

    async close() {},
  }

  function step(): Promise<void> {
    return new Promise((resolve) => {
      machine.after(hop(random), resolve)
    })
  }

  function check({ topic, value, key }: RecordToAppend): void {
    if (value === null && log.topic(topic).kind !== 'table')
      throw new WeirError(
        'bus.topic-differs',
        `${topic} is a log and takes no tombstone (key ${key})`,
      )
    if ((value?.length ?? 0) > limits.recordBytesMax)
      throw new WeirError('bus.record-too-large', `a record of ${value?.length} bytes for ${topic}`)
  }

  /** This process's view of a table: it lags, but never goes back. */
  function createTableView() {
    const horizons = new Map<string, number>()
    const changes = new Map<string, Set<() => void>>()
    broker.onLanded(({ topic, partition, offset }) => {
      if (log.topic(topic).kind !== 'table') return
      const name = `${topic}/${partition}`
      const delayMs = faults.strikes('table-lag') ? random.between(100, 10_000) : hop(random)
      scheduler.at(scheduler.now() + delayMs, () => {
        horizons.set(name, Math.max(horizons.get(name) ?? 0, offset + 1))
        for (const wake of changes.get(name) ?? []) wake()
        changes.delete(name)
      })
    })
    for (const spec of log.topics())
      if (spec.kind === 'table')
        for (const { partition, end } of log.ends(spec.name))
          horizons.set(`${spec.name}/${partition}`, end)

    return {
      newest(topic: string, partition: number): StoredRecord[] {
        const to = horizons.get(`${topic}/${partition}`) ?? 0
        const newest = new Map(
          log
            .read({ topic, partition, from: 0, to, limit: to + 1 })
            .map((record) => [record.key, record]),
        )
        return [...newest.values()].sort((a, b) => (a.key < b.key ? -1 : 1))
      },
      changed(topic: string, partition: number, withinMs: Milliseconds): Promise<void> {
        return new Promise((resolve) => {
          const name = `${topic}/${partition}`
          const wakes = changes.get(name) ?? new Set()
          changes.set(name, wakes)
          wakes.add(() => machine.after(hop(random), resolve))
          machine.after(withinMs, resolve)
        })
      },
    }
  }
}
