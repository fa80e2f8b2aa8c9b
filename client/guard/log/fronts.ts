// Fronts of this process: on the log of a data folder or of Kafka, or in memory without a log. It opens
// the log, and runs the stages if no other process does.
// Owns: opening and closing. Does not own: the records (front.ts), reading histories (history.ts).

import type { Logger } from 'pino'
import { type Approvals, openApprovals } from '../../../services/approval/performer/approvals.ts'
import type { Guests } from '../../../shared/agents/guest.ts'
import { withPartitionsOfLog } from '../../../shared/bus/partitions-of-log.ts'
import { WeirError } from '../../../shared/lib/errors.ts'
import { createLog } from '../../../shared/lib/log/log.ts'
import type { Slot, SlotRequest, SlotWait } from '../../../shared/runtime/budgets/account-lines.ts'
import { budgetLog } from '../../../shared/runtime/budgets/budget-log.ts'
import { createBudgetReaders } from '../../../shared/runtime/budgets/budget-readers.ts'
import { settingsWithOrigins, valuesOf } from '../../../shared/settings/settings.ts'
import { flagsOfChoice } from '../../place/bus-choice.ts'
import type { GuardOptions } from '../guard-options.ts'
import { guestAgent } from '../guest-file.ts'
import { fileOfGuest } from '../guest-place.ts'
import type { BudgetCounting } from '../guest-thread.ts'
import { frontInMemory, stagesWith } from '../memory/open-memory.ts'
import { type FrontOn, type FrontOnOptions, frontOn } from './bus-front.ts'
import { openActivity } from './guest-activity.ts'
import { type FrontsPlace, openGuestLog } from './guest-log.ts'

export type Fronts = FrontsOn & {
  /** For a front that shows a waiting call to its person. */
  approvals: Pick<Approvals, 'decide'>
  /** Rejects with the first stage that cannot go on; never resolves. */
  readonly failed: Promise<never>
  close(): Promise<void>
}

/**
 * Opens the log for any number of fronts and guests, and runs the stages if no other process does. In
 * memory there are no guards, no approvals and no budgets.
 */
export async function openFronts(
  place: FrontsPlace | { kind: 'memory' },
  options: Pick<GuardOptions, 'guards' | 'approvals' | 'stages' | 'secrets' | 'log'>,
): Promise<Fronts> {
  const log = options.log ?? createLog({ level: 'warn', secrets: [] })
  const { secrets } = options
  if (place.kind === 'memory') return openMemoryFronts(log, secrets)
  const { topicPrefix } = place.settings
  const { bus, partitions, running } = await openGuestLog(place, { ...options, log })
  const fronts = frontsOn({ bus, topicPrefix, partitions, secrets, log })
  let closing: Promise<void> | undefined
  const close = async () => {
    try {
      await running.close()
    } finally {
      fronts.close()
      await bus.close()
    }
  }
  return {
    front: fronts.front,
    hasFile: fronts.hasFile,
    slotOf: fronts.slotOf,
    approvals: openApprovals({
      bus,
      topicPrefix,
      partitions,
      append: (records) => bus.append(records),
    }),
    failed: running.failed,
    close() {
      closing ??= close()
      return closing
    },
  }
}

function openMemoryFronts(log: Logger, secrets: readonly string[] | undefined): Fronts {
  const stages = stagesWith(log)
  return {
    front: ({ agent, isGiven, ...options }) => ({
      conversation: frontInMemory(stages, {
        ...options,
        agent: guestAgent(agent, isGiven ? undefined : log),
        inForce: [],
        secrets,
        log,
      }),
    }),
    hasFile: hasOwnFile,
    approvals: {
      async decide({ id }) {
        throw new WeirError('approval.unknown', `no call waits in memory under the id ${id}`)
      },
    },
    failed: stages.failed,
    close: stages.close,
  }
}

function hasOwnFile(agent: string): boolean {
  return fileOfGuest(agent).file !== undefined
}

/** Options of one front: a guest, and whether its calls are held. `isGiven`: an operator chose the guest. */
export type FrontOptions = Pick<
  GuardOptions,
  'agent' | 'mode' | 'onUnavailable' | 'answerWithinMs'
> & { counting?: BudgetCounting; givesOnce?: boolean; isGiven?: boolean }

export type FrontsOn = {
  /** Throws `agent.invalid` for a name that no guest can have. */
  front(options: FrontOptions): Pick<FrontOn, 'conversation'>
  /** Whether a guest has a file. */
  hasFile(agent: string): boolean
  /** Waits in the line of a provider's account. Absent in memory. */
  slotOf?: SlotOf
}

/** As `AccountLines.slot`. */
export type SlotOf = (
  request: SlotRequest,
  options: { stop: AbortSignal; onWait: (wait: SlotWait) => void },
) => Promise<Slot | undefined>

/**
 * Fronts on an open log, with one reader of it. Stages that judge guests must run on it. `guests`:
 * those of agent files. The file of another name is searched.
 */
export function frontsOn({
  guests = new Map(),
  ...place
}: Pick<FrontOnOptions, 'bus' | 'topicPrefix' | 'partitions' | 'secrets' | 'log'> & {
  guests?: Guests
}): FrontsOn & { close(): void } {
  const activity = openActivity(place)
  const { ledgers, lines, join } = createBudgetReaders()
  const member = join()
  const { bus, topicPrefix, log } = place
  const context = { budgets: budgetLog({ bus, topicPrefix, log }), clock: bus.clock, log }
  return {
    front({ agent, isGiven, mode, onUnavailable, answerWithinMs, counting, givesOnce }) {
      const choice = { mode, onUnavailable, answerWithinMs, counting, givesOnce }
      const known = typeof agent === 'string' ? guests.get(agent) : undefined
      const guest = known ?? guestAgent(agent, isGiven ? undefined : place.log)
      return frontOn({ ...place, ...choice, activity, ledgers, agent: guest })
    },
    hasFile: (agent) => guests.has(agent) || hasOwnFile(agent),
    slotOf: (request, options) => lines.slot(context, request, options),
    close() {
      activity.close()
      member.leave()
    },
  }
}

/** Throws `settings.invalid` for options that do not fit together. */
export function frontsPlace({ dataFolder, kafka, stages }: GuardOptions): FrontsPlace {
  if (kafka !== undefined && dataFolder !== undefined)
    throw new WeirError('settings.invalid', 'give dataFolder or kafka, not both')
  if (stages !== undefined && dataFolder === undefined)
    throw new WeirError('settings.invalid', 'stages needs dataFolder: processes share a folder')
  const { topicPrefix, ...choice } = kafka ?? {}
  const values = settingsWithOrigins(
    {
      ...(dataFolder !== undefined && { dataFolder }),
      ...(topicPrefix !== undefined && { topicPrefix }),
      ...flagsOfChoice(kafka === undefined ? { kind: 'embedded' } : { kind: 'kafka', ...choice }),
    },
    {},
  )
  if (kafka !== undefined) return { kind: 'shared', settings: valuesOf(values) }
  return { kind: 'folder', settings: valuesOf(withPartitionsOfLog(values)) }
}
