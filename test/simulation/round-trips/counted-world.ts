// A conversation of five rounds in virtual time, in which nothing takes time but the model, the writes
// and the look-ups of offsets. So its duration counts the writes or the look-ups that follow each
// other, on any machine. As on Kafka, a process has one request to write at a time, and the request
// takes all records that wait (shared/bus/kafka/write/sending.ts).
// Not counted: the fetch of a record by another process, which follows its write.

import { pino } from 'pino'
import type { Provider } from '../../../services/llm-gateway/performer/providers/providers.ts'
import { runEntry, stageEntries } from '../../../services/stages.ts'
import type { Agent } from '../../../shared/agents/agents.ts'
import { defaultSettings } from '../../../shared/agents/policy/policy.ts'
import { decode } from '../../../shared/codec/codec.ts'
import type { Bus, Offset, PartitionReader } from '../../../shared/contract/bus.ts'
import type { PartEvent, TurnFinished } from '../../../shared/contract/messages.ts'
import { partitionName } from '../../../shared/contract/partition.ts'
import { topicSpecs } from '../../../shared/contract/retention.ts'
import type { StageName } from '../../../shared/contract/topology.ts'
import type { Milliseconds } from '../../../shared/lib/clock.ts'
import { toRecord } from '../../../shared/runtime/record.ts'
import type { StartTool } from '../../../shared/tools/tool.ts'
import { declarationWith, userMessage } from '../../support/messages.ts'
import { createBroker } from '../broker.ts'
import { createCoordinator } from '../coordinator.ts'
import { createFaults, type FaultRates, faultKinds } from '../faults.ts'
import { createMachine, type Machine } from '../machine.ts'
import { createRandom, type Random } from '../random.ts'
import { createScheduler } from '../scheduler.ts'
import { createSimulatedBus } from '../simulated-bus.ts'
import { openStorage } from '../storage.ts'

export type CountOptions = {
  /** The stages of each process. */
  layout: readonly (readonly StageName[])[]
  writeMs: Milliseconds
  lookUpMs: Milliseconds
}

/** Beyond the model's own time. `writes`, `lookUps`: all of them, also if nobody waits for them. */
type Counted = { durationMs: Milliseconds; writes: number; lookUps: number }

const topicPrefix = 'weir.'
const callRounds = 4
/** Longer than the writes that go on meanwhile. */
const modelMs = 10_000
const hour = 3_600_000

/** The second conversation of new processes: the first one of a partition looks up its offsets. */
export async function countConversation(options: CountOptions): Promise<Counted> {
  const threw = (error: unknown): never => {
    throw error
  }
  const scheduler = createScheduler({
    random: inOrder(),
    start: 1_800_000_000_000,
    threw,
    eventsMax: 20_000,
    isSpent: () => false,
  })
  const topics = topicSpecs(topicPrefix, 1)
  const broker = createBroker(openStorage({ kind: 'arrays', now: scheduler.now, topics }))
  const coordinator = createCoordinator({ random: calm })
  const faults = createFaults(calm, noFaults)
  const chaos = { moment: () => undefined, strike: () => {} }
  const counts = { writes: 0, lookUps: 0 }
  const busOf = (machine: Machine): Bus => {
    const parts = { broker, coordinator, scheduler, faults, chaos, random: calm }
    return countedBus(createSimulatedBus({ ...parts, machine }), machine, options, counts)
  }
  const machineOf = (name: string): Machine =>
    createMachine({ name, scheduler, random: calm, skewMs: 0 })
  const log = pino({ level: 'silent' })
  for (const [number, names] of options.layout.entries()) {
    const machine = machineOf(`p${number}`)
    const entries = stageEntries({
      agents: new Map([[agent.name, agent]]),
      connect: () => modelOn(machine),
      run,
    })
    const ids = createRandom(machine.name)
    const bus = busOf(machine)
    const runOptions = { bus, topicPrefix, log, randomId: () => ids.hex(32) }
    for (const name of names) void runEntry(entries, name, runOptions)
  }
  const client = busOf(machineOf('client'))
  const ended = new Map<string, TurnFinished>()
  broker.onLanded(({ topic, value }) => {
    if (topic !== `${topicPrefix}activity` || value === null) return
    const message = decode(value)
    if (message.type === 'turn-finished') ended.set(message.conversation, message)
  })

  const converse = async (conversation: string): Promise<Milliseconds> => {
    const began = scheduler.now()
    const message = userMessage({
      conversation,
      agent: agent.name,
      settings: agent.settings,
      declarations: agent.tools.map(({ declaration }) => declaration),
    })
    const topic = `${topicPrefix}client-messages`
    void client.append([toRecord({ topic, partition: 0, message })])
    await scheduler.run(began + hour, () => ended.has(conversation))
    const { outcome, totals } = ended.get(conversation) ?? {}
    if (outcome !== 'answered' || totals?.rounds !== callRounds + 1)
      throw new Error(`the turn ended ${outcome} after ${totals?.rounds} rounds`)
    return scheduler.now() - began - (callRounds + 1) * modelMs
  }
  await scheduler.run(scheduler.now() + hour)
  await converse('first')
  await scheduler.run(scheduler.now() + hour)
  Object.assign(counts, { writes: 0, lookUps: 0 })
  const durationMs = await converse('second')
  return { durationMs, ...counts }
}

/** Waits for each write and each look-up, and knows the ends that its process has read or written. */
function countedBus(
  bus: Bus,
  machine: Machine,
  { writeMs, lookUpMs }: CountOptions,
  counts: { writes: number; lookUps: number },
): Bus {
  const seen = new Map<string, Offset>()
  const write = oneAtATime(machine, writeMs, () => {
    counts.writes += 1
  })

  function see(place: { topic: string; partition: number }, offset: Offset): void {
    const name = partitionName(place)
    seen.set(name, Math.max(seen.get(name) ?? 0, offset + 1))
  }

  function readerOf(reader: PartitionReader): PartitionReader {
    return {
      ...reader,
      async read(records) {
        for (const record of records) see(record, record.offset)
        const step = await reader.read(records)
        const writing = step.outputs.length > 0 ? write() : undefined
        if (step.allowsAhead) reader.goAhead?.()
        await writing
        return { ...step, allowsAhead: false } // its goAhead is called here
      },
    }
  }

  return {
    ...bus,
    endSeen: (place) => seen.get(partitionName(place)) ?? 0,
    async append(records) {
      await write()
      const appended = await bus.append(records)
      for (const [at, { topic }] of records.entries()) {
        const { partition, offset } = appended[at] ?? { partition: 0, offset: 0 }
        see({ topic, partition }, offset)
      }
      return appended
    },
    async ends(topic) {
      counts.lookUps += 1
      await new Promise<void>((resolve) => machine.after(lookUpMs, resolve))
      return bus.ends(topic)
    },
    subscribe: (subscription) =>
      bus.subscribe({
        ...subscription,
        assign: async (assignment) => readerOf(await subscription.assign(assignment)),
      }),
  }
}

/** Resolves each call at the end of the request that takes it. */
function oneAtATime(machine: Machine, ms: Milliseconds, onRequest: () => void) {
  let waiting: (() => void)[] = []
  let isBusy = false

  function send(): void {
    const taken = waiting
    waiting = []
    onRequest()
    machine.after(ms, () => {
      isBusy = false
      for (const done of taken) done()
      if (waiting.length > 0) soon()
    })
  }

  function soon(): void {
    if (isBusy) return
    isBusy = true
    machine.after(0, send)
  }

  return () =>
    new Promise<void>((resolve) => {
      waiting.push(resolve)
      soon()
    })
}

const declaration = declarationWith({
  name: 'look',
  schema: JSON.stringify({ type: 'object', properties: { at: { type: 'integer' } } }),
})
const agent: Agent = {
  name: 'anna',
  system: 'You are counted.',
  model: { provider: 'anthropic', name: 'counted', apiKey: 'none', maxOutputTokens: 1_000 },
  tools: [{ declaration, run: { kind: 'command', argv: ['look'] } }],
  settings: defaultSettings,
}

/** Ends at once, each time with another result. */
const run: StartTool = (_, call) => ({
  started: Promise.resolve(true),
  ended: Promise.resolve({ status: 'ok', text: `saw ${call.arguments}`, reason: '' }),
  stop: () => {},
})

/** Four answers with a call, then a text. Each comes whole after the model's time. */
function modelOn(machine: Machine): Provider {
  return {
    async *stream({ history }) {
      await new Promise<void>((resolve) => machine.after(modelMs, resolve))
      const round = history.filter((entry) => entry.round > 0).length
      const isCall = round < callRounds
      yield { kind: 'events', events: isCall ? callEvents(round) : [part('text', 'All is well.')] }
      const usage = { inputTokens: 50, outputTokens: 5, cacheReadTokens: 0, cacheWriteTokens: 0 }
      yield isCall
        ? { kind: 'finished', stop: 'calls', finish: 'tool_use', usage }
        : { kind: 'finished', stop: 'end', finish: 'end_turn', usage }
    },
  }
}

function callEvents(round: number): PartEvent[] {
  return [
    { ...part('call_start', ''), id: `call-${round}`, name: declaration.name },
    part('call_arguments', JSON.stringify({ at: round })),
    part('call_end', ''),
  ]
}

function part(kind: PartEvent['kind'], text: string): PartEvent {
  return { kind, index: 0, id: null, name: null, text }
}

const noFaults = Object.fromEntries(faultKinds.map((kind) => [kind, 0])) as FaultRates

/** Dice without chance: no wait, no piece of a write, no fault. */
const calm: Random = {
  unit: () => 0,
  below: () => 0,
  between: (min) => min,
  chance: (probability) => probability >= 0.5,
  pick: <T>(items: readonly T[]) => items[0] as T,
  weighted: <T>(choices: readonly (readonly [number, T])[]) => (choices.at(-1) as [number, T])[1],
  hex: (digits) => '0'.repeat(digits),
  fork: () => calm,
}

/** Events of one time run in the order in which they were planned. */
function inOrder(): Random {
  let next = 0
  return { ...calm, unit: () => next++ }
}
