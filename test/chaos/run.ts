// One run of the chaos suite, from its own broker to the result. This file is the order of the
// steps.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import kafkajs from 'kafkajs'
import { closedFormats } from '../../shared/codec/formats.ts'
import { check } from '../evidence/check.ts'
import type { Evidence, Violation } from '../evidence/evidence.ts'
import { stageNames } from '../evidence/inboxes.ts'
import { createRandom } from '../simulation/random.ts'
import { formerWeir } from '../support/former-weir.ts'
import { startBroker } from '../support/kafka/broker.ts'
import type { BrokerOptions } from '../support/kafka/broker-options.ts'
import { weirCommand } from '../support/programs.ts'
import { type Access, openAccess, securedAccess } from './access.ts'
import { modelLimits, writeAgent } from './agent.ts'
import { startApprovers, writeRules } from './approvers.ts'
import { clientPrincipals, openClient } from './client.ts'
import { type Inflicted, inflict } from './faults.ts'
import { createFleet, type Fleet, guardPrincipals, stagePrincipals } from './fleet.ts'
import { freePorts } from './free-ports.ts'
import { type Groups, watchGroups } from './groups.ts'
import { type GuardWorld, membersOf, startVersion } from './guard-faults.ts'
import {
  createOperator,
  type GuardName,
  guardNames,
  onceGuard,
  writeOnceGuard,
} from './guard-world.ts'
import { type GuestLoad, guestCaps, guestCapsCommand, startGuests } from './guests.ts'
import { type Layout, wideLayout, withFronts } from './layouts.ts'
import { type Load, startLoad } from './load.ts'
import { troubleIn } from './log-lines.ts'
import { ampleBudget } from './operator-faults.ts'
import { type PlannedFault, planFaults } from './plan.ts'
import { startProvider } from './provider.ts'
import { replayTopics } from './replay.ts'
import { type RunFacts, report } from './report.ts'
import { waitUntilSettled } from './settling.ts'
import { readToolRecords } from './tool-records.ts'
import { startToolServer } from './tool-server.ts'
import { readCommits, readTopics } from './topics.ts'
import { watchWaits } from './waits-watch.ts'

export type ChaosOptions = {
  seed: string
  /** The time for faults. Starting, draining and checking come on top. */
  minutes: number
  /** Conversations at once. Guests have half as many. */
  clients: number
  partitions: number
  /**
   * Leaves the broker alone, which allows many more turns. Default: it is restarted, killed and
   * paused too.
   */
  sparesBroker?: boolean
  /** Records are signed and encrypted, and each job has a user of Kafka with the least rights. */
  signed?: boolean
  /** The fleet begins with the former version of Weir, and a rolling upgrade begins in the middle. */
  upgrades?: boolean
  /** Default: the wide one. */
  layout?: Layout
  print: (line: string) => void
}

/** `folder`: the artifacts of a failed run. */
export type ChaosResult = {
  violations: Violation[]
  summary: string
  evidence: Evidence
  facts: RunFacts
  folder: string | undefined
}

const prefix = 'weir.'
/** The former version of Weir. */
const formerCommit = closedFormats.at(-1)?.commit ?? ''
const warmUpMs = 480_000
/** A turn may last as long as its wall limit, 5 minutes, plus the time of the last call. */
const drainMs = 330_000
const settleMs = 60_000
const neverAborted = new AbortController().signal
const leaveMs = 30_000

/** The principals of each process that a run can start. */
const jobsOf = ({ stages }: Layout): string[][] => [
  ...Object.entries(stages).map(([name, stages]) =>
    stagePrincipals({ stages, ...(name === withFronts && { frontPort: 0 }) }),
  ),
  ...stageNames.map((stage) => [stage]),
  ['front'],
  ...[...guardNames, onceGuard.name].map(guardPrincipals),
  clientPrincipals,
  ['operator'],
]

export async function runChaos({
  seed,
  minutes,
  clients,
  partitions,
  sparesBroker = false,
  signed = false,
  upgrades = false,
  layout = wideLayout,
  print,
}: ChaosOptions): Promise<ChaosResult> {
  const random = createRandom(seed)
  const folder = mkdtempSync(join(tmpdir(), 'weir-chaos-'))
  mkdirSync(join(folder, 'data'))
  const startsFile = join(folder, 'starts.jsonl')
  const times = stopwatch()
  const cleanUp: (() => Promise<unknown> | unknown)[] = []
  const timersLateMs = measureTimers()
  let isSound = false
  try {
    const access = signed
      ? securedAccess({
          folder,
          prefix,
          jobs: jobsOf(layout),
          guards: [...guardNames, onceGuard.name],
        })
      : openAccess({ prefix })
    const broker = await startBroker({ heapMiB: 512, isKilled: true, ...brokerOptions(access) })
    cleanUp.push(() => broker.stop())
    await access.grantOn(broker)
    // An older Weir has neither limits nor trees, and no `once`.
    const isNewest = !upgrades
    const provider = await startProvider(seed)
    cleanUp.push(() => provider.close())
    const toolServer = await startToolServer(startsFile)
    cleanUp.push(() => toolServer.close())
    const agentFile = writeAgent({
      folder,
      providerUrl: provider.url,
      toolsUrl: toolServer.url,
      startsFile,
      isNewest,
    })
    const { bootstrapServers } = broker
    const former = upgrades ? formerWeir(formerCommit) : undefined
    if (former !== undefined) cleanUp.push(() => former.remove())
    const program = former?.program ?? weirCommand
    const operator = createOperator({ folder, access, program })
    // Only an operator may create the topics, and store their number of partitions.
    await operator.command(['topics', 'create', '--partitions', `${partitions}`], neverAborted)
    if (isNewest) await operator.command(guestCapsCommand, neverAborted)
    const client = await openClient({ access, prefix, partitions, agentFile, folder })
    cleanUp.push(() => client.close())
    const fleet = createFleet({ folder, access, program, partitions, agentFile, startsFile })
    cleanUp.push(() => fleet.killAll())
    const [ofStages = 0, ...ports] = await freePorts(layout.fronts.length + 1)
    for (const [name, stages] of Object.entries(layout.stages))
      fleet.add(name, {
        kind: 'stages',
        stages,
        ...(name === withFronts && { frontPort: ofStages }),
      })
    for (const [at, name] of layout.fronts.entries())
      fleet.add(name, { kind: 'front', port: ports[at] ?? 0 })
    const versions = new Map<GuardName, number>()
    startVersion('ledger', { fleet, folder, versions })
    const optionsFile = writeOnceGuard(folder)
    for (let n = 1; isNewest && n <= onceGuard.instances; n++)
      fleet.add(`guard-once-${n}`, { kind: 'guard', guard: onceGuard.name, optionsFile })
    const waits = watchWaits({ bus: client.bus, prefix, partitions })
    cleanUp.push(() => waits.close())
    const approvers = startApprovers({ bus: client.bus, prefix, partitions, seed })
    cleanUp.push(() => approvers.close())
    const load = startLoad({
      edge: client.edge,
      agent: client.agent,
      random: random.fork('load'),
      clients,
    })
    const guests = startGuests({
      fronts: [ofStages, ...ports].map((port) => `http://127.0.0.1:${port}`),
      random: random.fork('guests'),
      clients: Math.ceil(clients / 2),
      hasTrees: isNewest,
      thinkMs: layout.thinkMs,
    })
    const groups = watchGroups(bootstrapServers, prefix)
    cleanUp.push(() => groups.close())
    await warmUp({ load, guests, groups, fleet, folder })
    await operator.command(['guard', 'mode', 'ledger', 'enforce'], neverAborted)
    await operator.command(ampleBudget, neverAborted)
    await operator.command(['approvals', 'rules', writeRules(folder)], neverAborted)
    times.lap('start')
    print(`the first turns were answered; faults begin, in ${folder}`)

    const plan = planFaults(random.fork('plan'), minutes * 60_000, { upgrades }).filter(
      ({ fault }) => !sparesBroker || !fault.kind.startsWith('broker-'),
    )
    const guards = { folder, operator, waits, versions, changing: new Map() }
    const inflicted = await inflictAll({
      plan,
      fleet,
      broker,
      groups,
      load,
      guests,
      print,
      guards,
      totalMs: minutes * 60_000,
    })
    times.lap('faults')
    const drained = await Promise.all([load.drain(drainMs), guests.drain(drainMs)])
    const isDrained = drained.every(Boolean)
    await approvers.close()
    times.lap('drain')
    const kafka = new kafkajs.Kafka({
      clientId: 'chaos-checker',
      brokers: [bootstrapServers],
      logLevel: kafkajs.logLevel.NOTHING,
    })
    const place = {
      kafka,
      prefix,
      guards: guardNames.filter((guard) => membersOf(guard, fleet).length > 0),
    }
    const isSettled = await waitUntilSettled(place, settleMs)
    times.lap('settle')
    const left = await fleet.leaveAll(leaveMs)
    times.lap('leave')

    const late = timersLateMs()
    const { starts, ended } = readToolRecords(startsFile)
    const { disturbances, exits } = fleet
    const { modelAnswers } = provider
    const records = await readTopics({ ...place, tenantKeys: access.tenantKeys })
    const committed = await readCommits(place)
    times.lap('read')
    const { tenantKeys } = access
    const replayed = await replayTopics({ bootstrapServers, prefix, folder, tenantKeys })
    times.lap('replay')
    const evidence: Evidence = {
      topicPrefix: prefix,
      partitions,
      records,
      ...(signed && { isEncrypted: true }),
      isIdle: false,
      starts,
      startsNotedBy: 'tools',
      sent: load.sent,
      modelAnswers,
      decisions: approvers.decisions,
      disturbances,
      exits,
      guestRuns: guests.runs,
      guestAdvice: guests.asked,
      ...(isNewest && { guestTrees: { children: guests.children, caps: guestCaps } }),
      riskGuards: [...guardNames],
      committed,
      timersLateMs: late,
      ...(isNewest && { provider: { requests: provider.requests, limits: modelLimits } }),
    }
    const violations = [
      ...ofTheRun({ isDrained, isSettled, left, inflicted }),
      ...replayed.violations,
      ...(await check(evidence)),
    ]
    times.lap('check')
    const facts: RunFacts = {
      inflicted,
      planned: Object.fromEntries(
        [...Map.groupBy(plan, ({ fault }) => fault.kind)].map(([kind, all]) => [kind, all.length]),
      ),
      processStarts: fleet.starts(),
      guardChanges: operator.changes,
      repeats: load.repeats(),
      guestRepeats: guests.repeats(),
      toolsEnded: ended,
      replayed,
      trouble: troubleIn(join(folder, 'logs')),
      times: times.laps,
    }
    isSound = violations.length === 0
    const summary = report(evidence, violations, facts)
    if (!isSound) {
      writeFileSync(join(folder, 'report.txt'), summary)
      writeFileSync(join(folder, 'violations.json'), JSON.stringify(violations, undefined, 1))
      writeFileSync(join(folder, 'disturbances.json'), JSON.stringify(disturbances, undefined, 1))
      writeFileSync(
        join(folder, 'records.jsonl'),
        records.map((record) => `${JSON.stringify(record)}\n`).join(''),
      )
      writeFileSync(join(folder, 'sent.json'), JSON.stringify(load.sent, undefined, 1))
    }
    return { violations, summary, evidence, facts, folder: isSound ? undefined : folder }
  } finally {
    // A part that does not close must not hide why the run failed.
    for (const close of cleanUp.reverse())
      await (async () => close())().catch((error) => print(`a part did not close: ${error}`))
    if (isSound) rmSync(folder, { recursive: true, force: true })
  }
}

/** The broker's controller fences a broker that is late. On a busy machine it leads nothing then. */
function brokerOptions({ brokerOptions: given }: Access): BrokerOptions {
  const busy = (loadavg()[0] ?? 0) / availableParallelism()
  const sessionMs = Math.round(Math.min(30_000, 4_000 * Math.max(1, busy)))
  const properties = { ...given.properties, 'broker.session.timeout.ms': `${sessionMs}` }
  return { ...given, properties }
}

/** Waits until turns get answers and the whole fleet is in its groups. */
async function warmUp({
  load,
  guests,
  groups,
  fleet,
  folder,
}: {
  load: Load
  guests: Pick<GuestLoad, 'turns'>
  groups: Groups
  fleet: Fleet
  folder: string
}): Promise<void> {
  const deadline = Date.now() + warmUpMs
  const members = [...fleet.members].filter(({ job }) => job.kind !== 'front').length
  const hasAnswers = () => load.answered() >= 3 && guests.turns() >= 3
  while (!hasAnswers() || ((await groups.owned())?.size ?? 0) < members) {
    if (Date.now() > deadline)
      throw new Error(
        `no three turns of agents and of guests were answered, or not all of the fleet has joined, within ${warmUpMs} ms; the logs are in ${folder}/logs`,
      )
    await sleep(200)
  }
}

type Inflicting = {
  plan: PlannedFault[]
  totalMs: number
  fleet: Fleet
  groups: Groups
  load: Load
  guests: Pick<GuestLoad, 'openTrees'>
  print: ChaosOptions['print']
} & {
  broker: Awaited<ReturnType<typeof startBroker>>
  guards: Pick<GuardWorld, 'folder' | 'operator' | 'waits' | 'versions' | 'changing'>
}

/** From now until the returned function is called; see `Evidence`. */
function measureTimers(): () => number {
  const resolution = 20
  const delays = monitorEventLoopDelay({ resolution })
  delays.enable()
  return () => {
    delays.disable()
    return Math.max(0, Math.round(delays.percentile(99) / 1_000_000) - resolution)
  }
}

/**
 * Starts each fault at its time, also next to others. Resolves when the time is over and all faults
 * have ended.
 */
async function inflictAll({
  plan,
  totalMs,
  fleet,
  broker,
  groups,
  load,
  guests,
  print,
  guards,
}: Inflicting): Promise<Inflicted[]> {
  const began = Date.now()
  const failed = new AbortController()
  const { signal } = failed
  const broken = { until: Promise.resolve() }
  const since = () => `${((Date.now() - began) / 1000).toFixed(0).padStart(5)} s`
  const inflictOne = async ({ atMs, fault }: PlannedFault) => {
    await sleep(atMs)
    const inflicted = await inflict(fault, {
      ...guards,
      fleet,
      broker,
      groups,
      signal,
      broken,
      overAt: began + totalMs,
      answered: load.answered,
      openTrees: guests.openTrees,
      print: (line) => print(`${since()} ${line}`),
    })
    print(
      `${since()} ${inflicted.hit ? 'hit ' : 'MISS'} ${inflicted.kind}: ${inflicted.detail}; ${load.answered()} turns answered`,
    )
    return inflicted
  }
  const all = Promise.all(plan.map(inflictOne))
  all.catch(() => failed.abort())
  const [inflicted] = await Promise.all([all, sleep(totalMs)])
  return inflicted
}

type Ends = {
  isDrained: boolean
  isSettled: boolean
  left: { process: string; code: number | null | undefined }[]
  inflicted: Inflicted[]
}

/** Violations that no record shows. */
function ofTheRun({ isDrained, isSettled, left, inflicted }: Ends): Violation[] {
  const checker = 'run'
  const violations: Violation[] = []
  if (!isDrained)
    violations.push({
      checker,
      problem: `some messages were not answered ${drainMs} ms after the last fault`,
    })
  if (!isSettled)
    violations.push({
      checker,
      problem: `some stage had not processed its inbox ${settleMs} ms after the last message was answered`,
    })
  for (const { process, code } of left)
    if (code !== 0)
      violations.push({
        checker,
        problem: `${process} was stopped and ${code === undefined ? `had to be killed after ${leaveMs} ms` : `exited with ${code}`}`,
      })
  for (const { kind, hit, detail } of inflicted)
    if (kind === 'upgrade' && !hit) violations.push({ checker, problem: `no upgrade: ${detail}` })
  if (inflicted.every(({ hit }) => !hit))
    violations.push({ checker, problem: 'no fault hit: this run proves nothing' })
  return violations
}

function stopwatch(): { laps: Record<string, number>; lap(name: string): void } {
  const laps: Record<string, number> = {}
  let from = Date.now()
  return {
    laps,
    lap(name) {
      laps[name] = Date.now() - from
      from = Date.now()
    },
  }
}
