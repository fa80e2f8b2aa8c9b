// `weir reset`: repairs commits that are outside their log, partition by partition, or deletes
// everything. Changes nothing without --yes.

import type { GroupAdmin } from '../../../shared/bus/kafka/group/group-admin.ts'
import { busKindOf } from '../../../shared/bus/kinds.ts'
import { batchesOf } from '../../../shared/bus/range.ts'
import type { Assignment, Bus } from '../../../shared/contract/bus.ts'
import { topicSpecs } from '../../../shared/contract/retention.ts'
import {
  guardTopicName,
  type StageName,
  stageNames,
  stages,
} from '../../../shared/contract/topology.ts'
import { usageError } from '../../../shared/lib/errors.ts'
import { createLog } from '../../../shared/lib/log/log.ts'
import { type CommitFault, faultOf, repairedCommit } from '../../../shared/runtime/log/repair.ts'
import type { Settings } from '../../../shared/settings/settings.ts'
import { printable } from '../../terminal/text/printable.ts'
import { count } from '../../terminal/text/quantities.ts'
import { withTopicsBus } from '../topics/planned-partitions.ts'

export type ResetOptions = { all?: boolean; stage?: string; partition?: string; yes?: boolean }

/**
 * The exit code: 0 if nothing is damaged any more, otherwise 1. Throws `usage`, `bus.refused` if a
 * group has running members, and the errors of openBus.
 */
export async function reset(
  options: ResetOptions,
  settings: Settings,
  out: NodeJS.WriteStream,
): Promise<0 | 1> {
  const kind = busKindOf(settings)
  if (kind.isLocal)
    throw usageError(
      `weir reset is for Kafka; ${kind.title} keeps commits and log in one file, so they cannot differ`,
    )
  const target = chosen(options)
  const groups = await kind.groups(settings, silent())
  return options.all === true
    ? deleteEverything(groups, options, settings, out)
    : repair(groups, target, options.yes === true, settings, out)
}

type Chosen = { stages: readonly StageName[]; partition: number | undefined }

function chosen({ all, stage, partition }: ResetOptions): Chosen {
  if (all === true && (stage !== undefined || partition !== undefined))
    throw usageError('--all deletes everything: leave out --stage and --partition')
  if (stage !== undefined && !stageNames.some((name) => name === stage))
    throw usageError(
      `unknown stage '${printable(stage)}' (--stage). Stages: ${stageNames.join(', ')}`,
    )
  if (partition !== undefined && !/^\d{1,6}$/.test(partition))
    throw usageError(`--partition is '${printable(partition)}'; must be a number`)
  if (partition !== undefined && stage === undefined) throw usageError('--partition needs --stage')
  return {
    stages: stage === undefined ? stageNames : [stage as StageName],
    partition: partition === undefined ? undefined : Number(partition),
  }
}

type Damaged = { stage: StageName; assignment: Assignment; fault: CommitFault }

async function repair(
  groups: GroupAdmin,
  { stages: names, partition }: Chosen,
  isConfirmed: boolean,
  settings: Settings,
  out: NodeJS.WriteStream,
): Promise<0 | 1> {
  const say = (line: string) => out.write(`${printable(line)}\n`)
  return withTopicsBus(settings, async (bus) => {
    const damaged: Damaged[] = []
    for (const stage of names)
      damaged.push(...(await damagedOf(groups, bus, stage, partition, settings)))
    if (damaged.length === 0) {
      say('No commit is outside its log.')
      return 0
    }
    for (const each of damaged) say(describe(each))
    const repairable = damaged.filter(({ fault }) => fault.kind === 'repairable')
    if (!isConfirmed || repairable.length === 0) {
      if (repairable.length > 0) say('Nothing was changed. To repair: stop the stages, add --yes.')
      return 1
    }
    for (const each of repairable) {
      const { offset } = await repairOne(groups, bus, each, settings)
      say(`repaired ${placeOf(each)}: the stage goes on at ${offset}`)
    }
    return repairable.length === damaged.length ? 0 : 1
  })
}

async function damagedOf(
  groups: GroupAdmin,
  bus: Bus,
  stage: StageName,
  partition: number | undefined,
  settings: Settings,
): Promise<Damaged[]> {
  const { group, topic } = groupOf(stage, settings)
  const ends = (await bus.ends(topic)).filter(
    (each) => partition === undefined || each.partition === partition,
  )
  if (ends.length === 0) throw usageError(`${topic} has no partition ${partition} (--partition)`)
  const numbers = ends.map((each) => each.partition)
  const commits = await groups.commits({ group, topic }, numbers)
  return ends.flatMap((each) => {
    const assignment = { topic, ends: each, committed: commits.get(each.partition) }
    const fault = faultOf(assignment)
    return fault === undefined ? [] : [{ stage, assignment, fault }]
  })
}

async function repairOne(
  groups: GroupAdmin,
  bus: Bus,
  { stage, assignment }: Damaged,
  settings: Settings,
) {
  const { topic, ends } = assignment
  const commit = await repairedCommit({
    assignment,
    records: batchesOf(bus, { topic, partition: ends.partition, from: ends.begin, to: ends.end }),
    endOf: cachedEnds(bus, settings.topicPrefix),
  })
  const commits = new Map([[ends.partition, commit]])
  await groups.setCommits(groupOf(stage, settings), commits)
  return commit
}

function describe(damaged: Damaged): string {
  const { fault } = damaged
  const advice =
    fault.kind === 'repairable'
      ? `A repair goes on at the end: it forgets the open units of this partition, and skips ${count(fault.unread, 'unread record')}. Turns in them end by their time limit; no tool starts for them.`
      : 'It cannot be repaired alone: the topic is shorter than what was read from it, so it was created again or lost records. Delete topics and groups together: weir reset --all'
  return `${placeOf(damaged)}: ${fault.reason}\n    ${advice}`
}

function placeOf({ stage, assignment: { ends } }: Damaged): string {
  return `${stage}, partition ${ends.partition}`
}

/** The ends of the inboxes, each topic read once. */
function cachedEnds(bus: Bus, topicPrefix: string) {
  const known = new Map<StageName, Promise<number[]>>()
  return async (stage: StageName, partition: number): Promise<number> => {
    const ends =
      known.get(stage) ??
      bus.ends(topicPrefix + stages[stage].inbox).then((all) => all.map(({ end }) => end))
    known.set(stage, ends)
    return (await ends)[partition] ?? 0
  }
}

function groupOf(stage: StageName, { topicPrefix }: Settings) {
  return { group: topicPrefix + stage, topic: topicPrefix + stages[stage].inbox }
}

async function deleteEverything(
  groups: GroupAdmin,
  { yes = false }: ResetOptions,
  settings: Settings,
  out: NodeJS.WriteStream,
): Promise<0 | 1> {
  const { topicPrefix } = settings
  const found = await groups.names(topicPrefix)
  const isOwn = ownNames(topicPrefix)
  const names = {
    groups: found.groups.filter(isOwn.group).toSorted(),
    topics: found.topics.filter(isOwn.topic).toSorted(),
  }
  for (const group of names.groups) out.write(`group ${printable(group)}\n`)
  for (const topic of names.topics) out.write(`topic ${printable(topic)}\n`)
  const total = names.groups.length + names.topics.length
  if (total === 0) {
    out.write(`${printable(`no group or topic of Weir begins with ${topicPrefix}`)}\n`)
    return 0
  }
  if (!yes) {
    out.write('Nothing was deleted. To delete these with all conversations, add --yes.\n')
    return 1
  }
  await groups.deleteAll(names)
  out.write(`deleted ${count(total, 'name')}; weir topics create begins anew\n`)
  return 0
}

/** Only names that Weir makes: another program may use the prefix as well. */
function ownNames(topicPrefix: string) {
  const topics = new Set(topicSpecs(topicPrefix, 1).map(({ name }) => name))
  const groups = new Set<string>(stageNames.map((name) => topicPrefix + name))
  const ofGuards = topicPrefix + guardTopicName('')
  return {
    topic: (name: string) => topics.has(name) || name.startsWith(ofGuards),
    group: (name: string) => groups.has(name) || name.startsWith(`${topicPrefix}guard.`),
  }
}

const silent = () => createLog({ level: 'silent' })
