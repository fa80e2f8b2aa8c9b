// The log of guests: in a data folder that processes share, or on Kafka. It runs the stages of
// guests in this process if no other process runs the stages of that log.

import type { Logger } from 'pino'
import { busKindOf } from '../../../shared/bus/kinds.ts'
import type { Bus } from '../../../shared/contract/bus.ts'
import { keptBy } from '../../../shared/contract/retention.ts'
import { WeirError } from '../../../shared/lib/errors.ts'
import type { Settings } from '../../../shared/settings/settings.ts'
import { closedOnFailure } from '../../place/closed-on-failure.ts'
import { keepPartitionCount, openBus, partitionCount } from '../../place/open-bus.ts'
import { runBeside, runHere } from '../../place/run-here.ts'
import { createSharedFolder } from '../../place/shared-folder.ts'
import type { GuardOptions } from '../guard-options.ts'
import { stagesOfGuests } from './bus-front.ts'
import { stagesAtRest } from './stages-at-rest.ts'

/** The wait of a closing guard until its stages have handled the records in its folder. */
const guestCloseMs = 5_000

/** Where the log is. On Kafka, `weir up` runs the stages. */
export type FrontsPlace = { kind: 'folder' | 'shared'; settings: Settings }

/** Close `running` first, and then the bus. */
export type GuestLog = { bus: Bus; partitions: number; running: Running }

type Running = { failed: Promise<never>; close(): Promise<void> }

type Options = Pick<GuardOptions, 'guards' | 'approvals' | 'stages'> & { log: Logger }

export function openGuestLog(place: FrontsPlace, options: Options): Promise<GuestLog> {
  switch (place.kind) {
    case 'folder':
      return openInFolder(place.settings, options)
    case 'shared':
      return openOnKafka(place.settings, options)
    default:
      return place.kind satisfies never
  }
}

async function openInFolder(settings: Settings, options: Options): Promise<GuestLog> {
  const { topicPrefix, partitions } = settings
  const { log, stages = 'auto' } = options
  const kind = busKindOf(settings)
  if (!kind.isLocal) throw new WeirError('runtime.assertion', 'this bus has no data folder')
  const parts = { agents: new Map(), topicPrefix, partitions, ...keptBy(settings), log }
  const folder = createSharedFolder({
    kind,
    settings,
    stages,
    agents: parts.agents,
    log,
    runImported: undefined,
    guards: options.guards?.guards.map(({ name }) => name) ?? [],
    async runStages(bus) {
      const atRest = stagesAtRest()
      const { instruments } = atRest
      await keepPartitionCount({ bus, topicPrefix, partitions, log })
      const running = await runHere({ ...parts, bus, instruments, names: stagesOfGuests }, options)
      return {
        failed: running.failed,
        async close() {
          // Later nobody may run the stages until the folder is opened again.
          await Promise.race([atRest.wait(bus, guestCloseMs), running.failed]).catch(
            (error: unknown) => log.warn({ err: error }, 'the newest records were not judged'),
          )
          await running.close()
        },
      }
    },
    runBeside: (bus) => runBeside({ ...parts, bus }, options),
  })
  const { bus, failed } = folder
  return closedOnFailure(bus, async () => {
    await folder.join()
    return { bus, partitions, running: { failed, close: folder.stop } }
  })
}

async function openOnKafka(settings: Settings, options: Options): Promise<GuestLog> {
  if (options.guards !== undefined || options.approvals !== undefined)
    throw new WeirError(
      'settings.invalid',
      'the stages run elsewhere on Kafka, and so do guards and approvals: leave guards and approvals out',
    )
  const bus = await openBus(settings, options.log)
  return closedOnFailure(bus, async () => {
    // A user with the rights of a front may describe no other inbox.
    const partitions = await partitionCount(bus, settings.topicPrefix, 'guest-events')
    const running = { failed: new Promise<never>(() => {}), close: async () => {} }
    return { bus, partitions, running }
  })
}
