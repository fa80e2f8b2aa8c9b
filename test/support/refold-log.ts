// Folds a log again with every reducer, independently of `weir replay`. Compares the outputs of each
// stage with the records in the log under the same ids.

import type { OpenLog } from '../../apps/history/open-log.ts'
import { type AnyStage, reducers } from '../../services/reducers.ts'
import { batchesOf } from '../../shared/bus/range.ts'
import type { RecordToAppend } from '../../shared/contract/bus.ts'
import { stages, type TopicName, topics } from '../../shared/contract/topology.ts'
import { foldOfLog } from '../../shared/runtime/log/log-fold.ts'

export type Refolded = { compared: number; missing: string[]; differing: string[] }

/**
 * `missing`: ids of outputs that the log does not have. `differing`: ids under which the log has
 * another record.
 */
export async function refoldLog(log: OpenLog): Promise<Refolded> {
  const { bus, topicPrefix, partitions } = log
  const written = new Map<string, RecordToAppend>()
  for (const topic of Object.keys(topics) as TopicName[])
    for await (const record of all(topic))
      if (record.id !== undefined) written.set(record.id, record)
  const found: Refolded = { compared: 0, missing: [], differing: [] }
  for (const stage of Object.values(reducers) as AnyStage[])
    for (let partition = 0; partition < partitions; partition += 1) {
      const fold = await foldOfLog(log, stage, partition)
      for await (const record of all(stages[stage.name].inbox, partition))
        for (const output of (await fold.apply(record)).records) {
          const id = output.id as string
          const same = written.get(id)
          found.compared += 1
          if (same === undefined) found.missing.push(id)
          else if (
            same.topic !== output.topic ||
            same.key !== output.key ||
            !Buffer.from(same.value ?? []).equals(output.value ?? Buffer.of(1))
          )
            found.differing.push(id)
        }
    }
  return found

  async function* all(topic: TopicName, only?: number) {
    for (const { partition, begin, end } of await bus.ends(topicPrefix + topic))
      if (only === undefined || partition === only)
        for await (const records of batchesOf(bus, {
          topic: topicPrefix + topic,
          partition,
          from: begin,
          to: end,
        }))
          yield* records
  }
}
