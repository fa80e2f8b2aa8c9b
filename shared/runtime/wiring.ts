// The wiring of a stage, enforced: the records that its inbox admits, and the records that its outputs
// become. An unknown or misplaced message is an error.

import type { Offset, RecordToAppend, StoredRecord } from '../contract/bus.ts'
import { turnOfMessage } from '../contract/ids.ts'
import { limits } from '../contract/limits.ts'
import type { Message, MessageType } from '../contract/messages.ts'
import type { Output } from '../contract/stage.ts'
import {
  keyOf,
  type StageName,
  stages,
  type TopicName,
  topicOf,
  topics,
  topicsWrittenBy,
  type Writer,
} from '../contract/topology.ts'
import { WeirError } from '../lib/errors.ts'
import { formatId, type ReadId } from './derived-id.ts'

/** The inbox of a stage, with the writers that it admits for each message type. */
export type Inlet = {
  topic: TopicName
  admissions: Map<MessageType, Admission>
  decode: (value: Uint8Array) => Message
}

/** The writers that may write a type of record, by name and by reducer. */
type Admission = {
  writers: Writer[]
  reducers: Set<string>
  isOfAnyStage: boolean
  isObserved: boolean
}

/** The topics of a stage's outputs, with the message types that it may write to each. */
export type Outlet = {
  stage: StageName
  partition: number
  topicPrefix: string
  encode: (message: Message) => Uint8Array
  types: Map<TopicName, Set<MessageType>>
}

export function inletOf(stage: StageName, decode: Inlet['decode']): Inlet {
  const observers = /^(edge|front|approver|runtime|operator|.* performer)$/
  const topic = stages[stage].inbox
  const { records, formerly = {} } = topics[topic]
  const entries = Object.entries(records) as [MessageType, Writer[]][]
  const admissions = entries.map(([type, writers]): [MessageType, Admission] => [
    type,
    {
      writers,
      reducers: new Set<string>(writers),
      isOfAnyStage: writers.includes('runtime of any stage'),
      isObserved: [...writers, ...(formerly[type] ?? [])].some((writer) => observers.test(writer)),
    },
  ])
  return { topic, admissions: new Map(admissions), decode }
}

export function outletOf(stage: StageName, place: Omit<Outlet, 'stage' | 'types'>): Outlet {
  const types = topicsWrittenBy(stage).map((topic): [TopicName, Set<MessageType>] => {
    const entries = Object.entries(topics[topic].records) as [MessageType, Writer[]][]
    const written = entries.filter(
      ([, writers]) => writers.includes(stage) || writers.includes('runtime of any stage'),
    )
    return [topic, new Set(written.map(([type]) => type))]
  })
  return { ...place, stage, types: new Map(types) }
}

/** Decodes a record and checks that it may stand in this inbox. */
export function admit(inlet: Inlet, record: StoredRecord, id: ReadId | undefined): Message {
  if (record.value === null) throw new WeirError('codec.bad-message', 'a log takes no tombstone')
  const message = inlet.decode(record.value)
  const admitted = inlet.admissions.get(message.type)
  if (admitted === undefined)
    throw new WeirError('codec.bad-message', `${message.type} does not belong into ${inlet.topic}`)
  if (record.id !== undefined && id === undefined)
    throw new WeirError('codec.bad-message', `the id ${JSON.stringify(record.id)} is no derived id`)
  if (
    id === undefined
      ? !admitted.isObserved
      : !(admitted.isOfAnyStage || admitted.reducers.has(id.stage))
  )
    throw new WeirError(
      'codec.bad-message',
      `${message.type} in ${inlet.topic} may not come from ${id?.stage ?? 'an observer'}; writers are ${admitted.writers.join(', ')}`,
    )
  if (keyOf(message) !== record.key)
    throw new WeirError(
      'codec.bad-message',
      `${message.type} of ${keyOf(message)} stands under the key ${record.key}`,
    )
  return message
}

/** An empty title leaves a tombstone, so a deleted conversation has no key left. */
function isRemoval(message: Message): boolean {
  return message.type === 'conversation-titled' && message.title === ''
}

/** Encodes the outputs of the input at `offset`. */
export function toRecords(outlet: Outlet, offset: Offset, outputs: Output[]): RecordToAppend[] {
  const { stage, partition, topicPrefix, types, encode } = outlet
  return outputs.map(({ to, message }, n): RecordToAppend => {
    const topic = topicOf(stage, to, message)
    if (topic === undefined || !types.get(topic)?.has(message.type))
      throw new WeirError(
        'runtime.assertion',
        `${stage} may not write ${message.type} to its port ${to}; see shared/contract/topology.ts`,
      )
    const value = isRemoval(message) ? null : encode(message)
    if (value !== null && value.length > limits.recordBytesMax)
      throw new WeirError(
        'bus.record-too-large',
        `${message.type} of ${stage} has ${value.length} bytes, over the limit of ${limits.recordBytesMax}`,
      )
    return {
      topic: topicPrefix + topic,
      partition,
      key: keyOf(message),
      value,
      id: formatId({ stage, partition, offset, n }),
      turn: turnOfMessage(message),
    }
  })
}
