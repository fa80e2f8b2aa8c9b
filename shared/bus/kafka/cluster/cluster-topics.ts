// The metadata of the cluster: its nodes, and the topics that the bus uses with their leaders.

import type { TopicKind } from '../../../contract/bus.ts'
import type { TopicNeed } from '../../fleet/needed-topics.ts'
import { errorCodes, type Node } from '../driver.ts'
import type { ClusterPicture } from '../protocol/metadata-request.ts'

export type Topic = {
  name: string
  /** Undefined if the brokers have no ids. */
  id: string | undefined
  /** By partition. Undefined: it has no leader now. */
  leaders: (Node | undefined)[]
}

export type ResizedTopic = { name: string; was: number; is: number }

export type ClusterTopics = {
  nodes(): Node[]
  known(name: string): Topic | undefined
  /** The names to request. */
  requested(): string[]
  want(name: string): void
  /** The error code of the last response for this topic, if it had one. */
  errorCodeOf(name: string): number | undefined
  /** Did the topic exist before? It may only be unknown for a moment. */
  wasSeen(name: string): boolean
  /** Requests an unseen topic no more. */
  forget(name: string): void
  /** Replaces the metadata of the `requested` topics. */
  apply(picture: ClusterPicture, requested: string[]): void
  /** The first topic whose partition count changed since it was first seen, with both counts. */
  readonly resized: ResizedTopic | undefined
  /** A needed topic that existed and that no broker knows now. */
  readonly missing: string | undefined
  /** A topic of Weir itself that was deleted and created again since it was first seen. */
  readonly recreated: string | undefined
  wasRecreated(name: string): boolean
  kindOf(name: string): TopicKind | undefined
  setKind(name: string, kind: TopicKind): void
}

export function createClusterTopics(
  needOf: (name: string) => TopicNeed = () => 'always',
): ClusterTopics {
  const requested = new Set<string>()
  const topics = new Map<string, Topic>()
  const seen = new Set<string>()
  const failures = new Map<string, number>()
  const kinds = new Map<string, TopicKind>()
  const firstCounts = new Map<string, { id: string | undefined; count: number }>()
  const recreated = new Set<string>()
  let nodes: Node[] = []
  let resized: ResizedTopic | undefined

  return {
    get resized() {
      return resized
    },
    get missing() {
      return [...failures].find(
        ([name, code]) =>
          seen.has(name) && code === errorCodes.unknownTopicOrPartition && needOf(name) !== 'none',
      )?.[0]
    },
    get recreated() {
      return [...recreated].find((name) => needOf(name) === 'always')
    },
    wasRecreated: (name) => recreated.has(name),
    nodes: () => nodes,
    known: (name) => topics.get(name),
    requested: () => [...requested],
    want: (name) => void requested.add(name),
    errorCodeOf: (name) => failures.get(name),
    wasSeen: (name) => seen.has(name),

    forget(name) {
      if (!seen.has(name)) requested.delete(name)
    },

    apply(picture, requested) {
      nodes = picture.nodes
      const byId = new Map(nodes.map((node) => [node.id, node]))
      for (const name of requested) {
        const found = picture.topics.find(({ topic }) => topic === name)
        failures.delete(name)
        if (found === undefined || found.errorCode !== 0) {
          failures.set(name, found?.errorCode ?? errorCodes.unknownTopicOrPartition)
          topics.delete(name)
          kinds.delete(name)
          continue
        }
        seen.add(name)
        if (topics.get(name)?.id !== found.id) kinds.delete(name)
        const leaders: Topic['leaders'] = []
        for (const { partition, leader } of found.partitions) leaders[partition] = byId.get(leader)
        // Brokers only ever add partitions. A topic that was created again has another id.
        const before = firstCounts.get(name)
        if (before?.id !== undefined && found.id !== undefined && before.id !== found.id)
          recreated.add(name)
        if (before === undefined || before.id !== found.id)
          firstCounts.set(name, { id: found.id, count: leaders.length })
        else if (leaders.length > before.count)
          resized ??= { name, was: before.count, is: leaders.length }
        topics.set(name, { name, id: found.id, leaders: Array.from(leaders) })
      }
    },

    kindOf: (name) => kinds.get(name),
    setKind: (name, kind) => void kinds.set(name, kind),
  }
}
