// `weir allow` and `weir deny`: a person's decision on a waiting call. Exit codes: 0 it counts,
// 4 the call was decided before; an unknown id is bad usage (2).

import { partitionCount } from '../../../client/place/open-bus.ts'
import { openApprovals } from '../../../services/approval/performer/approvals.ts'
import { personHere } from '../../../services/approval/performer/person.ts'
import type { ApprovalAnswer } from '../../../shared/contract/messages.ts'
import type { Settings } from '../../../shared/settings/settings.ts'
import { assertLogExists } from '../../history/open-log.ts'
import { withRegistry } from '../../history/registry.ts'
import { missingStages } from '../../terminal/silence.ts'
import { processStreams, type Streams } from '../../terminal/streams.ts'
import { printable } from '../../terminal/text/printable.ts'

export type DecideOptions = { by?: string; reason?: string; values?: string }

/** Throws `approval.unknown`, `approval.ambiguous`, `message.invalid`, and errors of the log. */
export async function decideApproval(
  answer: ApprovalAnswer,
  id: string,
  { by = personHere(), reason, values }: DecideOptions,
  settings: Settings,
  { out, errors }: Pick<Streams, 'out' | 'errors'> = processStreams(),
): Promise<0 | 4> {
  assertLogExists(settings) // opening would make an empty log
  const { counted, text } = await withRegistry(settings, async ({ bus, topicPrefix }) => {
    const partitions = await partitionCount(bus, topicPrefix)
    return openApprovals({
      bus,
      append: (records) => bus.append(records),
      topicPrefix,
      partitions,
    }).decide({ id, answer, by, reason, values })
  })
  out.write(`${printable(text)}\n`)
  if (counted) await warnIfStageIsMissing(settings, errors)
  return counted ? 0 : 4
}

async function warnIfStageIsMissing(settings: Settings, errors: NodeJS.WriteStream): Promise<void> {
  if ((await missingStages(settings))?.includes('approval') !== true) return
  errors.write(
    'no process runs the stage approval now: start it with weir up --stages approval, or the call is denied at its deadline\n',
  )
}
