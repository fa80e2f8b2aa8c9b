// `weir topics`: the plan of the topics, creating missing topics, and checking existing ones. It
// never changes an existing topic.

import { asAdmin } from '../../../shared/bus/kafka/cluster/cluster-survey.ts'
import {
  createTopics,
  type TopicDifference,
  topicDifferences,
} from '../../../shared/bus/kafka/cluster/topic-admin.ts'
import {
  kafkaTopicsLines,
  type PlannedTopic,
  topicPlan,
} from '../../../shared/bus/kafka/cluster/topic-plan.ts'
import { kafkaClient } from '../../../shared/bus/kafka/properties/client-of-settings.ts'
import { busNamesWhere } from '../../../shared/bus/kinds.ts'
import type { TopicSpec } from '../../../shared/contract/bus.ts'
import { isGuardName } from '../../../shared/contract/guard/guard-registration.ts'
import { keptBy, topicSpecs } from '../../../shared/contract/retention.ts'
import { usageError } from '../../../shared/lib/errors.ts'
import { createLog } from '../../../shared/lib/log/log.ts'
import type { BusName, CommandValues, Settings } from '../../../shared/settings/settings.ts'
import { commandSettings, type SettingFlags } from '../../terminal/command-settings.ts'
import { painted } from '../../terminal/paint.ts'
import { printable, printableJson } from '../../terminal/text/printable.ts'
import { count } from '../../terminal/text/quantities.ts'
import { partitionsSetBy } from '../service-settings.ts'
import { guardTopicsOf, guardTopicsOn } from './guard-topics.ts'
import { keepPartitions, withPlannedPartitions } from './planned-partitions.ts'
import { printPlan } from './print-plan.ts'
import { strimziTopics } from './strimzi.ts'

/** `json`: one object. */
type Options = { json?: boolean }

/** `guard`: names of guards, to plan their topics too. `cluster`: Strimzi's name of it. */
type PlanOptions = Options & { guard?: string[]; as: 'table' | 'strimzi' | 'json'; cluster: string }

/** `--json` of `create` and `check`. `created`: empty for a check. `differences`: remaining mistakes. */
export type TopicsReport = { created: string[]; differences: TopicDifference[] }

/** Contacts no broker. In JSON: `{ topics, lines }`, with the lines for kafka-topics.sh. */
export function showPlan(
  { guard = [], as, cluster, ...flags }: SettingFlags & PlanOptions,
  out: NodeJS.WriteStream,
): void {
  const settings = planSettings(flags)
  const badName = guard.find((name) => !isGuardName(name))
  if (badName !== undefined)
    throw usageError(
      `--guard is '${printable(badName)}'; the name of a guard has 1 to 63 of a-z, 0-9 and -`,
    )
  const topics = [...planOf(settings), ...guardPlan(settings, guardTopicsOf(guard, settings))]
  const lines = kafkaTopicsLines(topics, connectionFlags(settings))
  if (flags.json || as === 'json') out.write(`${printableJson({ topics, lines })}\n`)
  else if (as === 'strimzi') out.write(strimziTopics(topics, cluster))
  else printPlan(topics, lines, out)
}

/** Creates missing topics. The exit code: 0 if all topics are then as Weir needs them, otherwise 1. */
export async function createMissing(
  flags: SettingFlags & Options,
  out: NodeJS.WriteStream,
  errors: NodeJS.WriteStream,
): Promise<number> {
  const { client, settings } = await clusterOf(flags, errors)
  const create = (plan: PlannedTopic[]) =>
    asAdmin(
      client,
      createLog({ level: 'silent' }),
      'create the topics',
      async (admin): Promise<TopicsReport> => {
        const created = await createTopics(admin, plan)
        return { created, differences: await topicDifferences(admin, plan) }
      },
    )
  const { plan, ...report } = await withGuardTopics(settings, create)
  if (report.differences.length === 0) await keepPartitions(settings)
  if (!flags.json) {
    for (const topic of report.created) out.write(`created ${printable(topic)}\n`)
    const before = plan.length - report.created.length
    if (before > 0)
      out.write(
        `${count(before, 'topic')} existed before and ${before === 1 ? 'was' : 'were'} not changed\n`,
      )
  }
  return printReport(report, plan, flags, out)
}

/** The exit code: 0 if all topics are as Weir needs them, otherwise 1. */
export async function checkTopics(
  flags: SettingFlags & Options,
  out: NodeJS.WriteStream,
  errors: NodeJS.WriteStream,
): Promise<number> {
  const { client, settings } = await clusterOf(flags, errors)
  const check = async (plan: PlannedTopic[]): Promise<TopicsReport> => {
    return {
      created: [],
      differences: await asAdmin(
        client,
        createLog({ level: 'silent' }),
        'look at the topics',
        (admin) => topicDifferences(admin, plan),
      ),
    }
  }
  const { plan, ...report } = await withGuardTopics(settings, check)
  return printReport(report, plan, flags, out)
}

/** Handles Weir's own topics first, because one of them names the guards. */
async function withGuardTopics(
  settings: Settings,
  work: (plan: PlannedTopic[]) => Promise<TopicsReport>,
): Promise<TopicsReport & { plan: PlannedTopic[] }> {
  const plan = planOf(settings)
  const report = await work(plan)
  const isReadable = !report.differences.some(
    ({ topic, property }) =>
      topic === `${settings.topicPrefix}policies` &&
      ['topic', 'leader', 'access'].includes(property),
  )
  const ofGuards = isReadable ? guardPlan(settings, await guardTopicsOn(settings)) : []
  if (ofGuards.length === 0) return { ...report, plan }
  const { created, differences } = await work(ofGuards)
  return {
    created: [...report.created, ...created],
    differences: [...report.differences, ...differences],
    plan: [...plan, ...ofGuards],
  }
}

function printReport(
  report: TopicsReport,
  plan: PlannedTopic[],
  { json }: Options,
  out: NodeJS.WriteStream,
): number {
  if (json) out.write(`${printableJson(jsonOf(report))}\n`)
  else printDifferences(report.differences, plan, out)
  return report.differences.length === 0 ? 0 : 1
}

/** The printed names are older than ours: a script that reads `what` goes on working. */
function jsonOf({ differences, ...report }: TopicsReport) {
  return {
    ...report,
    differences: differences.map(({ property, ...difference }) => ({
      ...difference,
      what: property,
    })),
  }
}

function printDifferences(
  differences: TopicDifference[],
  plan: PlannedTopic[],
  out: NodeJS.WriteStream,
): void {
  for (const { topic, property, is, shouldBe, remedy } of differences) {
    out.write(
      `${painted(out, 'bad', printable(topic))}: ${printable(`${property} is ${is}, and must be ${shouldBe}`)}\n`,
    )
    out.write(`    ${printable(remedy)}\n`)
  }
  if (differences.length === 0)
    out.write(`${painted(out, 'good', `${count(plan.length, 'topic')}, all as Weir needs them`)}\n`)
}

/** The plan, the administration and the printed lines of this command are Kafka's. */
export const busOfTopics: BusName = 'kafka'

/** Errors name this command and not a flag that nobody gave. */
function settingsOfTopics(bus: BusName): CommandValues {
  return { name: 'weir topics', values: { bus } }
}

/** Throws `usage` for a bus that has no such topics. */
export function kafkaSettings(flags: SettingFlags): Settings {
  if (busNamesWhere((kind) => kind.ownsTopics).some((name) => name === flags.bus))
    throw usageError(
      `--bus ${flags.bus}: this bus creates its own topics; weir topics is for Kafka`,
    )
  return commandSettings(flags, settingsOfTopics(busOfTopics))
}

async function clusterOf(flags: SettingFlags, errors: NodeJS.WriteStream) {
  const given = { ...flags, bus: busOfTopics }
  const settings = kafkaSettings(flags)
  const client = await kafkaClient(settings, (note) => errors.write(`${printable(note)}\n`))
  return { client, settings: await withPlannedPartitions(settings, partitionsSetBy(given)) }
}

/** In the place of a broker that a plan does not need. */
const someServer = 'HOST:9092'

/** The settings of Kafka need a broker, but a plan does not. All other mistakes throw in both cases. */
export function planSettings(flags: SettingFlags): Settings {
  try {
    return commandSettings(flags, settingsOfTopics(busOfTopics))
  } catch {
    return commandSettings({ bootstrapServer: someServer, ...flags }, settingsOfTopics(busOfTopics))
  }
}

function planOf(settings: Settings): PlannedTopic[] {
  const { topicPrefix, partitions, replicationFactor } = settings
  const { retentionMs, auditMs } = keptBy(settings)
  return topicPlan(topicSpecs(topicPrefix, partitions, retentionMs, auditMs), { replicationFactor })
}

function guardPlan({ replicationFactor }: Settings, specs: TopicSpec[]): PlannedTopic[] {
  return topicPlan(specs, { replicationFactor })
}

/** Without single properties: they may be secrets, and Kafka's tool accepts only a file. */
export function connectionFlags({ bootstrapServer, commandConfig }: Settings): string[] {
  const server = ['--bootstrap-server', bootstrapServer]
  return commandConfig === '' ? server : [...server, '--command-config', commandConfig]
}
