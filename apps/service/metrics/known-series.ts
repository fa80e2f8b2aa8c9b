// The series of a process that exist from its start, with the value 0. A rate over a counter that appears
// with its first event misses that event, and an alert on an absent series never fires.

import { rules } from '../../../services/loop-detector/rules.ts'
import { symbolsOf } from '../../../shared/codec/codec.ts'
import type { MessageType } from '../../../shared/contract/messages.ts'
import {
  type StageName,
  stages as stageTable,
  type TopicName,
  topics,
  type Writer,
} from '../../../shared/contract/topology.ts'
import { unjudgedKinds } from '../../../shared/contract/unjudged-kinds.ts'
import type { ErrorCode } from '../../../shared/lib/errors.ts'

type Labels = Record<string, string>

/** The codes of records that a stage cannot apply. Another code counts from its first record on. */
const letterCodes: readonly ErrorCode[] = [
  'codec.bad-frame',
  'codec.unknown-schema',
  'codec.bad-body',
  'codec.bad-message',
  'codec.encrypted',
  'record.forged-id',
  'record.unsigned',
  'runtime.assertion',
]

/** By the key of their instrument in `metricTable`. */
export function knownSeries(stages: readonly StageName[]) {
  const has = (...some: StageName[]) => some.some((stage) => stages.includes(stage))
  const inStage = (stage: StageName, labels: () => Labels[]) => (has(stage) ? labels() : [])
  const actions = symbolsOf('InterventionAction')
  const withLabel = (label: string, values: readonly string[]) =>
    values.map((value) => ({ [label]: value }))
  return {
    read: stages.flatMap((stage) =>
      Object.keys(topics[stageTable[stage].inbox].records).map((type) => ({ stage, type })),
    ),
    written: stages.flatMap((stage) => writtenBy(stage).map((type) => ({ stage, type }))),
    deadLetters: stages.flatMap((stage) => letterCodes.map((code) => ({ stage, code }))),
    turns: has('conversation', 'guest') ? turnEnds() : [],
    verdicts: inStage('validator', () =>
      withLabel('verdict', ['accepted', ...symbolsOf('DenialCode')]),
    ),
    interventions: inStage('loop-detector', () => withLabel('action', actions)),
    shadowed: inStage('loop-detector', () =>
      rules.flatMap(({ name: rule }) => actions.map((action) => ({ rule, action }))),
    ),
    unjudged: inStage('guest', () => withLabel('kind', [...unjudgedKinds, 'other'])),
    approvals: inStage('approval', () => withLabel('outcome', symbolsOf('ApprovalOutcome'))),
    results: inStage('loop-detector', () => withLabel('status', symbolsOf('ResultStatus'))),
    attempts: inStage('llm-gateway', () =>
      withLabel('outcome', ['answered', ...symbolsOf('FailureClass')]),
    ),
    tokens: inStage('llm-gateway', () =>
      withLabel('type', ['input', 'output', 'cache_read', 'cache_write']),
    ),
    toolSeconds: inStage('executor', () => withLabel('status', symbolsOf('ResultStatus'))),
  }
}

/** The types of records that a reducer, a performer or the ticks of a stage write. */
function writtenBy(stage: StageName): MessageType[] {
  const { inbox } = stageTable[stage]
  const writers = new Set<Writer>([stage, `${stage} performer`, 'runtime of any stage'])
  const types = Object.entries(topics).flatMap(([topic, { records }]) =>
    (Object.entries(records) as [MessageType, Writer[]][])
      .filter(
        ([, own]) =>
          own.some((writer) => writers.has(writer)) ||
          ((topic as TopicName) === inbox && own.includes('runtime')),
      )
      .map(([type]) => type),
  )
  return [...new Set(types)]
}

/** Each outcome with the classes and caps that it can have. */
function turnEnds(): Labels[] {
  const caps = symbolsOf('Cap')
  const end = (outcome: string, failure: string, cap: string) => ({ outcome, class: failure, cap })
  return [
    ...['none', ...caps].map((cap) => end('answered', 'none', cap)),
    ...caps.map((cap) => end('capped', 'budget', cap)),
    end('cancelled', 'cancelled', 'none'),
    ...symbolsOf('FailureClass').map((failure) => end('failed', failure, 'none')),
  ]
}
