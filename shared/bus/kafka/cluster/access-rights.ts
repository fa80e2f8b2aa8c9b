// The least rights of each principal on Kafka, from the topology: one user per stage and per guard,
// clients (`edge`), fronts of guests, approvers, operators and the server. Pure; `weir topics acls` prints them.
// The right to write a topic follows from its records' writers, and from nothing else.
// Only the operator may create topics. Nobody may delete or change one.

import {
  guardTopicName,
  type StageName,
  stageNames,
  stages,
  type TopicName,
  topics,
} from '../../../contract/topology.ts'
import { checkedBy, guardPrincipal, outsiders, topicsSignedBy } from '../../signing/principals.ts'

export type Operation = 'Read' | 'Write' | 'Create' | 'Describe' | 'DescribeConfigs'

/** One resource with its operations. `prefixed`: all resources whose names begin with `name`. */
export type AccessRight = {
  resource: 'topic' | 'group'
  name: string
  pattern: 'literal' | 'prefixed'
  operations: Operation[]
}

export type PrincipalAccess = { principal: string; rights: AccessRight[] }

type Outsider = (typeof outsiders)[number]

/** Each process that reads or writes encrypted records looks up their keys. */
const keys: TopicName = 'conversation-keys'

/** Topics that an outsider reads without checking signatures. */
const alsoReads: Record<Outsider, readonly TopicName[]> = {
  // A message that is sent again finds its earlier answer. The text of a running turn is shown as
  // it comes; all other events are in `activity`.
  edge: ['history', 'conversation-events', 'model-deltas'],
  front: [],
  // A refused record of `approvals` has its reason in the dead letters.
  approver: ['approvals', 'dead-letters'],
  operator: Object.keys(topics) as TopicName[],
}

/**
 * A process that acts for several outsiders has one user with their rights: `weir serve` takes messages
 * and decisions. Its records are signed with the keys of these outsiders.
 */
export const serverPrincipals = { serve: ['edge', 'approver'] } as const

/** The rights of all principals, stages first. Names have the deployment's prefix. */
export function accessOfAll(topicPrefix: string, guards: readonly string[]): PrincipalAccess[] {
  return [
    ...stageNames.map((stage) => ({ principal: stage, rights: ofStage(stage, guards) })),
    ...guards.map((guard) => ({ principal: guardPrincipal(guard), rights: ofGuard(guard) })),
    ...outsiders.map((outsider) => ({ principal: outsider, rights: ofOutsiders([outsider]) })),
    ...Object.entries(serverPrincipals).map(([principal, all]) => ({
      principal,
      rights: ofOutsiders(all),
    })),
  ].map(({ principal, rights }) => ({
    principal,
    rights: rights.map((right) => withPrefix(topicPrefix, right)),
  }))
}

/** A stage checks the configuration of all topics when it starts. */
function ofStage(stage: StageName, guards: readonly string[]): AccessRight[] {
  // `policies` has the partition count, which each process compares.
  const reads = ['policies', keys, ...checkedBy(stage, guards).keys()]
  const writes = topicsSignedBy(stage)
  // A record of evidence names the newest one before it.
  if (writes.includes('audit')) reads.push('audit')
  return [...topicRights({ reads, writes, describes: Object.keys(topics) }), group(stage, ['Read'])]
}

/** A guard looks up the ends of inboxes, its own answers, and its registration. */
function ofGuard(guard: string): AccessRight[] {
  const own = guardTopicName(guard)
  const inboxes = stageNames.map((stage) => stages[stage].inbox)
  return [
    ...topicRights({
      reads: ['rounds-cleared', 'policies', keys, own],
      writes: topicsSignedBy(guardPrincipal(guard)),
      describes: inboxes,
    }),
    group(guardPrincipal(guard), ['Read']),
  ]
}

function ofOutsiders(all: readonly Outsider[]): AccessRight[] {
  const reads = all.flatMap((one) => [...checkedBy(one, []).keys(), ...alsoReads[one]])
  const rights = topicRights({
    reads: ['policies', keys, ...reads],
    writes: all.flatMap(topicsSignedBy),
    describes: all.map((one) => (one === 'front' ? 'guest-events' : 'conversation-events')),
  })
  // Commands say which stages nobody runs.
  const groups = stageNames.map((stage) => group(stage, ['Describe']))
  if (!all.includes('operator')) return [...rights, ...groups]
  const everyTopic: AccessRight = {
    resource: 'topic',
    name: '',
    pattern: 'prefixed',
    operations: ['Create', 'Describe', 'DescribeConfigs'],
  }
  const verdicts: AccessRight = {
    resource: 'topic',
    name: guardTopicName(''),
    pattern: 'prefixed',
    operations: ['Read'],
  }
  const everyGroup: AccessRight = {
    resource: 'group',
    name: '',
    pattern: 'prefixed',
    operations: ['Describe'],
  }
  return [everyTopic, verdicts, ...rights, everyGroup]
}

type TopicRights = {
  reads: readonly string[]
  writes: readonly string[]
  describes: readonly string[]
}

/** One right per topic, in the topology's order. */
function topicRights({ reads, writes, describes }: TopicRights): AccessRight[] {
  const order = Object.keys(topics)
  const names = [...new Set([...order, ...reads, ...writes])]
  return names.flatMap((name): AccessRight[] => {
    const isUsed = reads.includes(name) || writes.includes(name)
    if (!isUsed && !describes.includes(name)) return []
    const operations: Operation[] = [
      ...(reads.includes(name) ? (['Read'] as const) : []),
      ...(writes.includes(name) ? (['Write'] as const) : []),
      'Describe',
      'DescribeConfigs',
    ]
    return [{ resource: 'topic', name, pattern: 'literal', operations }]
  })
}

function group(name: string, operations: Operation[]): AccessRight {
  return { resource: 'group', name, pattern: 'literal', operations }
}

/** With no prefix there is no prefixed pattern: `*` means all resources. */
function withPrefix(topicPrefix: string, right: AccessRight): AccessRight {
  const name = topicPrefix + right.name
  if (name === '') return { ...right, name: '*', pattern: 'literal' }
  return { ...right, name }
}
