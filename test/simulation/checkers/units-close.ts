// R1: every unit ends. At the end each stage has committed the end of its inbox and needs no
// earlier record to fold again.

import { stages } from '../../../shared/contract/topology.ts'
import type { Checker, Finding } from '../evidence.ts'

export const unitsClose: Checker = {
  name: 'units-close',
  check(evidence) {
    const findings: Finding[] = []
    const last = new Map(
      evidence.commits.map((commit) => [`${commit.group}/${commit.partition}`, commit]),
    )
    for (const [stage, { inbox }] of Object.entries(stages))
      for (let partition = 0; partition < evidence.partitions; partition++) {
        const end = evidence.of(inbox, partition).length
        if (end === 0) continue
        const commit = last.get(`${evidence.topicPrefix}${stage}/${partition}`)
        const from =
          commit === undefined ? undefined : (JSON.parse(commit.metadata) as { from: number }).from
        if (commit?.offset !== end)
          findings.push({
            problem: `${stage} has committed ${commit?.offset} of ${end} records of ${inbox}/${partition}`,
          })
        else if (from !== end) {
          const message = evidence.of(inbox, partition)[from ?? 0]?.message
          findings.push({
            problem: `${stage} still has a unit open since ${inbox}/${partition}/${from}: ${JSON.stringify(message)}`,
            conversation: message && 'conversation' in message ? message.conversation : undefined,
          })
        }
      }
    return findings
  },
}
