// Guards an agent that runs elsewhere: the package's `weir-agents/guard`. It opens a log and the
// stages, and makes a front of this process for each conversation.
// Owns: opening and closing. Does not own: the records (front.ts), reading histories (history.ts).

import type { Logger } from 'pino'
import { type Approvals, openApprovals } from '../../services/approval/approvals.ts'
import { defaultGuestSettings, type GuestAgent, type Guests } from '../../shared/agents/guest.ts'
import { openEmbeddedBus } from '../../shared/bus/embedded/bus.ts'
import type { Bus } from '../../shared/contract/bus.ts'
import { limits } from '../../shared/contract/limits.ts'
import { retentionMsOf } from '../../shared/contract/retention.ts'
import { systemClock } from '../../shared/lib/clock.ts'
import { WeirError } from '../../shared/lib/errors.ts'
import { createLog } from '../../shared/lib/log.ts'
import { foldFrom } from '../../shared/runtime/position.ts'
import { readSettings, type Settings } from '../../shared/settings/settings.ts'
import { flagsOfChoice } from '../bus-choice.ts'
import { keepPartitionCount, openBus, openBusForStages, partitionCount } from '../open-bus.ts'
import { runHere } from '../run-here.ts'
import { type FrontOn, type FrontOnOptions, frontOn, stagesOfGuests } from './bus-front.ts'
import { guardHost } from './guard-host.ts'
import { checkGuardOptions, checkThread, type GuardOptions } from './guard-options.ts'
import { openActivity } from './guest-activity.ts'
import { guestAgent } from './guest-agent.ts'
import type { Guard } from './guest-conversation.ts'
import { stagesAtRest } from './stages-at-rest.ts'

export type {
  Advice,
  CallVerdict,
  Guard,
  GuestAnswer,
  GuestConversation,
  GuestFormat,
  GuestRequest,
  GuestResult,
} from './guest-conversation.ts'
export type { VerdictCode } from './verdict-code.ts'
export type { GuardOptions, GuestAgent }
export { defaultGuestSettings, WeirError }

/**
 * Guards an agent that runs elsewhere. Without `dataFolder` or `kafka` nothing is written. Throws
 * `settings.invalid` and `agent.invalid` for options, and `bus.locked` for a folder in use.
 */
export async function openGuard(options: GuardOptions): Promise<Guard> {
  checkGuardOptions(options)
  const guest = guestAgent(options.agent) // before anything is opened
  const agent = { ...guest, record: options.record ?? guest.record }
  const fronts = await openFronts(frontsPlace(options), options)
  const front = fronts.front({ ...options, agent })
  return {
    conversation(id, options = {}) {
      checkThread(id, options)
      return front.conversation(id, { turn: options.turn })
    },
    failed: fronts.failed,
    close: fronts.close,
    [Symbol.asyncDispose]: fronts.close,
  }
}

/** Where the log is. On Kafka, `weir up` runs the stages. */
export type FrontsPlace = { kind: 'memory' | 'folder' | 'shared'; settings: Settings }

export type Fronts = FrontsOn & {
  /** For a front that shows a waiting call to its person. */
  approvals: Pick<Approvals, 'decide'>
  /** Rejects with the first stage that cannot go on; never resolves. */
  readonly failed: Promise<never>
  close(): Promise<void>
}

/** Opens the log for any number of fronts and guests, and runs the stages if nobody else does. */
export async function openFronts(
  { kind, settings }: FrontsPlace,
  options: Pick<GuardOptions, 'guards' | 'approvals' | 'log'>,
): Promise<Fronts> {
  const isElsewhere = kind === 'shared'
  if (isElsewhere && (options.guards !== undefined || options.approvals !== undefined))
    throw new WeirError(
      'settings.invalid',
      'the stages run elsewhere on Kafka, and so do guards and approvals: leave guards and approvals out',
    )
  const log = options.log ?? createLog({ level: 'warn', secrets: [] })
  const guards = options.guards?.guards.map(({ name }) => name) ?? []
  const bus = await busOf(kind, settings, { log, guards })
  const { topicPrefix } = settings
  try {
    // A user with the rights of a front may describe no other inbox.
    const partitions = isElsewhere
      ? await partitionCount(bus, topicPrefix, 'guest-events')
      : settings.partitions
    const atRest = stagesAtRest()
    const running = isElsewhere
      ? { failed: new Promise<never>(() => {}), close: async () => {} }
      : await runHere(
          {
            ...{ bus, agents: new Map(), topicPrefix, partitions, log },
            instruments: atRest.instruments,
            retentionMs: kind === 'memory' ? limits.memoryLogMs : retentionMsOf(settings.retention),
            names: stagesOfGuests,
          },
          options,
        )
    if (kind === 'folder') await keepPartitionCount({ bus, topicPrefix, partitions, log })
    const fronts = frontsOn({ bus, topicPrefix, partitions, log })
    let closing: Promise<void> | undefined
    const close = async () => {
      try {
        // Later nobody runs the stages until the folder is opened again.
        if (kind === 'folder')
          await Promise.race([atRest.wait(bus, limits.guestCloseMs), running.failed]).catch(
            (error: unknown) => log.warn({ err: error }, 'the newest records were not judged'),
          )
        await running.close()
      } finally {
        fronts.close()
        await bus.close()
      }
    }
    return {
      front: fronts.front,
      approvals: openApprovals({
        ...{ bus, topicPrefix, partitions },
        append: (records) => bus.append(records),
      }),
      failed: running.failed,
      close() {
        closing ??= close()
        return closing
      },
    }
  } catch (error) {
    await bus.close()
    throw error
  }
}

/** Options of one front: a guest, and whether its calls are held. */
export type FrontOptions = Pick<GuardOptions, 'agent' | 'mode' | 'onUnavailable' | 'answerWithinMs'>

/** Throws `agent.invalid` for a name that no guest can have. */
export type FrontsOn = { front(options: FrontOptions): Pick<FrontOn, 'conversation'> }

/**
 * Fronts on an open log, with one reader of it. Stages that judge guests must run on it. `guests`:
 * those of agent files. The file of another name is searched.
 */
export function frontsOn({
  guests = new Map(),
  ...place
}: Pick<FrontOnOptions, 'bus' | 'topicPrefix' | 'partitions' | 'log'> & {
  guests?: Guests
}): FrontsOn & { close(): void } {
  const activity = openActivity(place)
  return {
    front({ agent, mode, onUnavailable, answerWithinMs }) {
      const choice = { mode, onUnavailable, answerWithinMs }
      const known = typeof agent === 'string' ? guests.get(agent) : undefined
      return frontOn({ ...place, ...choice, activity, agent: known ?? guestAgent(agent) })
    },
    close: activity.close,
  }
}

function frontsPlace({ dataFolder, kafka }: GuardOptions): FrontsPlace {
  if (kafka !== undefined && dataFolder !== undefined)
    throw new WeirError('settings.invalid', 'give dataFolder or kafka, not both')
  const { topicPrefix, ...choice } = kafka ?? {}
  const settings = readSettings(
    {
      ...(dataFolder !== undefined && { dataFolder }),
      ...(topicPrefix !== undefined && { topicPrefix }),
      ...flagsOfChoice(kafka === undefined ? { kind: 'embedded' } : { kind: 'kafka', ...choice }),
    },
    {},
  )
  if (kafka !== undefined) return { kind: 'shared', settings }
  return { kind: dataFolder === undefined ? 'memory' : 'folder', settings }
}

async function busOf(
  kind: FrontsPlace['kind'],
  settings: Settings,
  { log, guards }: { log: Logger; guards: readonly string[] },
): Promise<Bus> {
  if (kind === 'shared') return openBus(settings, log)
  if (kind === 'folder')
    return openBusForStages(settings, log, {
      linkHost: guardHost(settings.dataFolder, guards),
    }).catch((error: unknown) => {
      throw error instanceof WeirError && error.code === 'bus.locked' ? inUse(error) : error
    })
  return openEmbeddedBus({ file: ':memory:', clock: systemClock, keepFrom: foldFrom, log })
}

/** One process has the log of guests, and others reach it over HTTP. */
function inUse({ code, message }: WeirError): WeirError {
  return new WeirError(
    code,
    `${message}. To guard several programs, let one weir proxy or weir up --front-port have the data folder and send their requests to it, or put the log on Kafka`,
  )
}
