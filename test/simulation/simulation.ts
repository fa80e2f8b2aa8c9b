// One simulation: a seed, a system, and the result. Every event follows from the seed. Only the
// code under test is real.

import { type Logger, pino } from 'pino'
import { decode } from '../../shared/codec/codec.ts'
import { guardTopicSpec, topicSpecs } from '../../shared/contract/retention.ts'
import { toRecord } from '../../shared/runtime/record.ts'
import { check } from '../evidence/check.ts'
import { type Finding, messageKey, type Violation } from '../evidence/evidence.ts'
import { createBroker } from './broker.ts'
import { startCluster } from './cluster.ts'
import { createCoordinator } from './coordinator.ts'
import { collectEvidence, type SimulatedEvidence } from './evidence.ts'
import { createFaults, type FaultKind, type FaultRates, rollRates } from './faults.ts'
import { createMachine } from './machine.ts'
import { createRandom, type Random } from './random.ts'
import { createScheduler } from './scheduler.ts'
import { createSender } from './sender.ts'
import { openStorage, type StorageKind } from './storage.ts'
import type { System } from './system.ts'
import { guestTools, rollAgents, rollGuest } from './world/agents.ts'
import { startApprovers } from './world/approvers.ts'
import { type FrontsOptions, startFronts } from './world/fronts.ts'
import { guardNames, startGuards } from './world/guards.ts'
import { startGuests } from './world/guests.ts'
import { createLedger } from './world/ledger.ts'
import { onceGuardName, startOnceGuard, withOnce } from './world/once.ts'
import { startOperator } from './world/operator.ts'
import { connectTo, type World } from './world/provider.ts'
import { startSessions, withSessions } from './world/sub-agents.ts'
import { toolsOf } from './world/tools.ts'
import { childrenOf, stopTrees, treeStops, withParent } from './world/trees.ts'
import { startUsers } from './world/users.ts'

/** The values that the seed rolled, printed before the run. */
export type Rolled = {
  seed: number
  partitions: number
  /** The number of processes at a time. */
  places: number
  /** How long users send and faults strike, in virtual time. */
  durationMs: number
  /** The probability that a message is cancelled. */
  impatience: number
  storage: StorageKind
  /** Whether there are guards. Default: the seed decides. */
  guarded?: boolean
  /** Whether some calls wait for a person. Default: the seed decides. */
  withApprovers?: boolean
  /** Whether an operator changes the policies of agents. Default: the seed decides. */
  operated?: boolean
  /** Whether there are guests. Default: the seed decides. */
  hasGuests?: boolean
  /** Whether an agent has agents below. Default: the seed decides. */
  hasTrees?: boolean
  /** Whether a tool must not run twice. Default: the seed decides. */
  hasOnce?: boolean
  rates: FaultRates
}

export type Simulated = {
  rolled: Rolled
  violations: Violation[]
  evidence: SimulatedEvidence
  faults: ReadonlyMap<FaultKind, number>
  /** Events and virtual milliseconds of the run. */
  events: number
  passedMs: number
}

const topicPrefix = 'weir.'
const minute = 60_000
/**
 * The longest time until all turns end after the last fault. Some are in a queue, each with its
 * wall time and a wait for its tools.
 */
const settleMs = 120 * minute
/**
 * Long enough for a conversation to become idle (limits.conversationIdleMs) and for the last
 * delayed copy.
 */
const idleMs = 30 * minute

/** Long enough for the deadline of a guest's call, and then for its idle turn and its unit. */
const guestIdleMs = 240 * minute

/** Twice the need of the busiest seeds. A system beyond it keeps itself busy for ever. */
const eventsMax = 40_000
/**
 * Ten times the usual count. A broken system that repeats its own records writes hundreds of
 * thousands, and all must be checked.
 */
const recordsMax = 10_000

/** One for all: each pino keeps a stream to standard output until the process ends. */
const silentLog = pino({ level: 'silent' })

export function roll(seed: number): Rolled {
  const random = createRandom(`${seed}`).fork('roll')
  return {
    seed,
    partitions: random.between(1, 3),
    places: random.between(1, 3),
    durationMs: random.between(20, 180) * 1000,
    impatience: random.pick([0, 0.2, 0.2, 0.8]),
    storage: seed % 20 === 0 ? 'embedded' : 'arrays',
    rates: rollRates(random),
  }
}

export async function simulate(
  system: System,
  rolled: Rolled,
  log: Logger = silentLog,
): Promise<Simulated> {
  const {
    seed,
    partitions,
    places,
    durationMs,
    impatience,
    storage,
    rates,
    guarded,
    withApprovers,
    operated,
    hasGuests,
    hasTrees,
    hasOnce,
  } = rolled
  const random = createRandom(`${seed}`)
  const stops: Finding[] = []
  const stopped = (error: unknown) =>
    stops.push({ problem: error instanceof Error ? (error.stack ?? error.message) : String(error) })
  const start = 1_800_000_000_000
  const scheduler = createScheduler({
    random: random.fork('scheduler'),
    start,
    threw: stopped,
    eventsMax,
    isSpent: () => landed >= recordsMax,
  })
  let landed = 0
  const topics = [
    ...topicSpecs(topicPrefix, partitions),
    ...[...guardNames, onceGuardName].map((name) => guardTopicSpec(topicPrefix, name, partitions)),
  ]
  const broker = createBroker(openStorage({ kind: storage, now: scheduler.now, topics }))
  const faults = createFaults(random.fork('faults'), rates)
  const coordinator = createCoordinator({ random: random.fork('coordinator') })
  const ledger = createLedger()
  const trees = random.fork('trees')
  const isTree = hasTrees ?? trees.chance(0.3)
  const once = random.fork('once')
  const isOnce = hasOnce ?? once.chance(0.3)
  const plainAgents = rollAgents(random.fork('agents'))
  const rolledAgents = isOnce ? withOnce(plainAgents, once) : plainAgents
  const agents = isTree ? withParent(rolledAgents, trees) : rolledAgents
  const usersAgents = isTree ? new Map([...agents].slice(1)) : agents
  const world: World = {
    ledger,
    random: random.fork('world'),
    sleeping: new Set(),
    over: false,
    repeatsSends: isOnce,
  }
  const place = { scheduler, broker, topicPrefix }
  if (isTree) {
    world.startChild = childrenOf({ ...place, ledger, agents, partitions })
    stopTrees({ ...place, random: trees.fork('stops'), durationMs })
  }
  if (random.fork('limits').chance(0.3))
    broker.land([
      toRecord({
        topic: `${topicPrefix}policies`,
        partition: 0,
        message: {
          type: 'operator-limits',
          caps: { rounds: 4, calls: 6, wallMs: 300_000, tokens: null },
        },
      }),
    ])

  const guards = random.fork('guards')
  if (guarded ?? guards.chance(0.4))
    startGuards({ random: guards, scheduler, broker, topicPrefix, durationMs })

  const operator = random.fork('operator')
  if (operated ?? operator.chance(0.4))
    startOperator({ random: operator, scheduler, broker, topicPrefix, durationMs })

  const people = random.fork('people')
  if (withApprovers ?? people.chance(0.4))
    startApprovers({ random: people, scheduler, broker, topicPrefix, durationMs })

  const ended = new Set<string>()
  broker.onLanded(({ topic, value }) => {
    landed += 1
    if (topic !== `${topicPrefix}activity` || value === null) return
    const message = decode(value)
    if (message.type === 'turn-finished') ended.add(messageKey(message))
  })

  const cluster = startCluster({
    system,
    places,
    broker,
    coordinator,
    scheduler,
    faults,
    random: random.fork('cluster'),
    world,
    agents,
    topicPrefix,
    log,
    stopped,
  })
  const onceGuard = isOnce
    ? startOnceGuard({ ...place, coordinator, faults, random: once, log, stopped })
    : undefined
  const client = createMachine({
    name: 'client',
    scheduler,
    random: random.fork('client'),
    skewMs: 0,
  })
  const calmChaos = { moment: () => undefined, strike: () => {} }
  const sender = createSender({
    broker,
    scheduler,
    machine: client,
    faults,
    chaos: calmChaos,
    random: random.fork('client writes'),
  })
  startUsers({
    ledger,
    random: random.fork('users'),
    scheduler,
    sender,
    broker,
    agents: usersAgents,
    topicPrefix,
    partitions,
    durationMs,
    impatience,
  })

  const guestDice = random.fork('guests')
  const guests =
    (hasGuests ?? guestDice.chance(0.4))
      ? startGuestsOf(
          { ...rolled, system, ledger, scheduler, broker, coordinator, faults, log, isTree },
          guestDice,
        )
      : undefined

  await scheduler.run(start + durationMs)
  cluster.calm()
  onceGuard?.calm()
  guests?.calm()
  await scheduler.run(
    start + durationMs + settleMs,
    () => ledger.sent.every((sent) => ended.has(messageKey(sent))) && (guests?.running ?? 0) === 0,
  )
  await scheduler.run(scheduler.now() + (guests === undefined ? idleMs : guestIdleMs))
  // A former owner's late commit is older and true (protocol.md). It stands until an owner reads
  // from it, so every process restarts once more.
  cluster.restart()
  await scheduler.run(scheduler.now() + 5 * minute)
  cluster.close()
  onceGuard?.close()
  await scheduler.run(scheduler.now() + 5 * minute, () => cluster.running === 0)

  for (const failure of ledger.guests.failures) stopped(failure)
  const entries = system.entries({
    place: 'replay',
    agents,
    connect: () => connectTo(world, client),
    run: toolsOf(world, client, calmChaos, scheduler),
  })
  const isCalm = Object.values(rates).every((rate) => rate === 0)
  const evidence = collectEvidence({
    broker,
    ledger,
    topicPrefix,
    partitions,
    stages: entries,
    isTree,
    isCalm,
  })
  const violations: Violation[] = stops.map((stop) => ({ ...stop, checker: 'nothing-stops' }))
  if (scheduler.events >= eventsMax || landed >= recordsMax)
    violations.push({
      checker: 'nothing-stops',
      problem: `it never becomes idle: ${scheduler.events} events, ${landed} records`,
    })
  violations.push(...(await check(evidence)))
  world.over = true
  for (const wake of world.sleeping) wake()
  broker.log.close()
  return {
    rolled,
    violations,
    evidence,
    faults: faults.counts,
    events: scheduler.events,
    passedMs: scheduler.now() - start,
  }
}

/** Two fronts with their guests. In trees, a second guest has sessions with sub-agents. */
function startGuestsOf(
  options: Omit<FrontsOptions, 'random' | 'agent' | 'topicPrefix'> & {
    durationMs: number
    isTree: boolean
  },
  random: Random,
): { calm(): void; readonly running: number } {
  const agent = rollGuest(random.fork('agent'))
  options.ledger.guests.isCalm = Object.values(options.faults.rates).every((rate) => rate === 0)
  const fronts = startFronts({ ...options, random: random.fork('fronts'), agent, topicPrefix })
  const guests = startGuests({
    ...options,
    random,
    fronts,
    topicPrefix,
    agent: agent.name,
    tools: guestTools,
  })
  const sessions = options.isTree ? startSessionsOf(options, random.fork('sessions')) : undefined
  return {
    calm() {
      fronts.calm()
      sessions?.calm()
    },
    get running() {
      return guests.running + (sessions?.running ?? 0)
    },
  }
}

function startSessionsOf(
  options: Parameters<typeof startGuestsOf>[0],
  random: Random,
): { calm(): void; readonly running: number } {
  const agent = withSessions({ ...rollGuest(random.fork('agent')), name: 'sue' }, random)
  options.ledger.guests.caps = agent.settings.policy.tree
  const fronts = startFronts({ ...options, random: random.fork('fronts'), agent, topicPrefix })
  const stopTree = treeStops({ ...options, topicPrefix, random: random.fork('stops') })
  const sessions = startSessions({ ...options, random, fronts, agent: agent.name, stopTree })
  return {
    calm: fronts.calm,
    get running() {
      return sessions.running
    },
  }
}
