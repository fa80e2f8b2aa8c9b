// Folds a log's partition by one stage, for programs that fold a log a second time.

import { batchesOf } from '../../bus/range.ts'
import { codec } from '../../codec/codec.ts'
import type { Bus } from '../../contract/bus.ts'
import type { Message } from '../../contract/messages.ts'
import { partitionsOf } from '../../contract/partition.ts'
import type { Stage } from '../../contract/stage.ts'
import { stages } from '../../contract/topology.ts'
import { createFold, type Fold, type FoldOptions } from '../fold.ts'
import { refusedInLog } from './refused-in-log.ts'

export type FoldableLog = {
  bus: Pick<Bus, 'read' | 'ends'>
  topicPrefix: string
  partitions: number
}

/**
 * Begins without marks, and refuses the records that the stage refused. `special` replaces options
 * of the fold.
 */
export async function foldOfLog<State, In extends Message, Task>(
  log: FoldableLog,
  stage: Stage<State, In, Task>,
  partition: number,
  special: Partial<Pick<FoldOptions<State, In, Task>, 'decode' | 'encode' | 'readBack'>> = {},
): Promise<Fold<State>> {
  const { bus, topicPrefix, partitions } = log
  const topic = topicPrefix + stages[stage.name].inbox
  return createFold({
    stage,
    partition,
    partitions: partitionsOf(partitions),
    topicPrefix,
    marks: {},
    ...codec,
    judge: (await refusedInLog(log, partition))(stage.name),
    readBack: (from, to) => batchesOf(bus, { topic, partition, from, to }),
    ...special,
  })
}
