// R1: at the end each group has committed the end of its inbox, and its "fold from" offset is
// inside the log. In a run that went on until it was idle, no unit needs an earlier record. Before, stages whose units end with their turns still fold only cancels, until the turn
// expires. A conversation, also that of a guest, stays in memory for ten minutes, and in guards for an
// hour.

import { addressOf, type Checker, type Logged } from '../../evidence.ts'

export const commits: Checker = {
  name: 'commits',
  rule: 'Each group has committed the end of its inbox, and no unit stays open.',
  needs: [],
  check({ committed, records, isIdle }) {
    const cancels = new Set(
      records.filter(({ message }) => message?.type === 'cancel').map(addressOf),
    )
    const messageAt = (place: Pick<Logged, 'topic' | 'partition' | 'offset'>) =>
      records.find((record) => addressOf(record) === addressOf(place))?.message
    return committed.flatMap(({ group, topic, partition, offset, metadata, begin, end }) => {
      const report = (problem: string) => [
        {
          problem: `${group}: ${problem}`,
          at: `${topic}/${partition}/${offset}`,
        },
      ]
      if (offset === -1)
        return end === begin
          ? []
          : report(`it has committed nothing, and the log has ${end - begin} records`)
      if (offset < begin || offset > end)
        return report(`its commit is outside of the log, which goes from ${begin} to ${end}`)
      if (offset < end) return report(`it has not processed the last ${end - offset} records`)
      const from = foldFrom(metadata)
      if (from === undefined)
        return report(`the metadata of its commit cannot be read: ${metadata.slice(0, 200)}`)
      if (from < begin || from > offset)
        return report(`it folds from ${from}, which is not between ${begin} and ${offset}`)
      const isRemembered =
        !isIdle &&
        (topic === 'conversation-events' ||
          topic === 'guest-events' ||
          isOfGuard(group) ||
          cancels.has(addressOf({ topic, partition, offset: from })))
      if (from < end && !isRemembered)
        return report(
          `it still has an open unit since ${from} of ${end}: ${JSON.stringify(messageAt({ topic, partition, offset: from }))}`,
        )
      return []
    })
  },
}

function isOfGuard(group: string): boolean {
  return group.includes('guard.')
}

function foldFrom(metadata: string): number | undefined {
  try {
    const { from } = JSON.parse(metadata) as { from: unknown }
    return typeof from === 'number' ? from : undefined
  } catch {
    return undefined
  }
}
