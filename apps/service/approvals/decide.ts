// `weir approve` and `weir reject`: a person's word on a call that waits. Exit codes: 0 it counts,
// 4 it changes nothing, because the call was decided before; an id under which nothing waits is bad
// usage (2).

import { partitionCount } from '../../../client/open-bus.ts'
import { openDesk } from '../../../services/approval/desk.ts'
import { personHere } from '../../../services/approval/person.ts'
import type { ApprovalAnswer } from '../../../shared/contract/messages.ts'
import type { Settings } from '../../../shared/settings/settings.ts'
import { assertLogExists } from '../../history/open-log.ts'
import { withRegistry } from '../../history/registry.ts'
import { printable } from '../../terminal/printable.ts'
import { missingStages } from '../../terminal/silence.ts'
import { processStreams, type Streams } from '../../terminal/streams.ts'

export type DecideOptions = { by?: string; reason?: string }

/**
 * Throws `approval.unknown`, `approval.ambiguous`, `message.invalid`, and what keeps the log from
 * being written.
 */
export async function decideApproval(
  answer: ApprovalAnswer,
  id: string,
  { by = personHere(), reason }: DecideOptions,
  settings: Settings,
  { out, errors }: Pick<Streams, 'out' | 'errors'> = processStreams(),
): Promise<0 | 4> {
  assertLogExists(settings) // opening would make an empty log
  const { counted, text } = await withRegistry(settings, async ({ bus, topicPrefix }) => {
    const partitions = await partitionCount(bus, topicPrefix)
    return openDesk({
      bus,
      append: (records) => bus.append(records),
      topicPrefix,
      partitions,
    }).decide({ id, answer, by, reason })
  })
  out.write(`${printable(text)}\n`)
  if (counted) await tellIfNobodyRuns(settings, errors)
  return counted ? 0 : 4
}

async function tellIfNobodyRuns(settings: Settings, errors: NodeJS.WriteStream): Promise<void> {
  if ((await missingStages(settings))?.includes('approval') !== true) return
  errors.write(
    'nobody runs the stage approval now: weir up --stages approval does, and without it the call is vetoed at its deadline\n',
  )
}
