// Guards an agent that runs elsewhere: the package's `weir-agents/guard`. It opens a log and the
// stages, and makes a front of this process for each conversation.
// Owns: opening and closing. Does not own: the records (front.ts), reading histories (history.ts).

import type { Logger } from 'pino'
import { defaultGuestSettings, type GuestAgent } from '../../shared/agents/guest.ts'
import { openEmbeddedBus } from '../../shared/bus/embedded/bus.ts'
import type { Bus } from '../../shared/contract/bus.ts'
import { retentionMsOf } from '../../shared/contract/retention.ts'
import { type Milliseconds, systemClock } from '../../shared/lib/clock.ts'
import { WeirError } from '../../shared/lib/errors.ts'
import { createLog } from '../../shared/lib/log.ts'
import { foldFrom } from '../../shared/runtime/position.ts'
import { readSettings, type Settings } from '../../shared/settings/settings.ts'
import { flagsOfChoice, type KafkaBusChoice } from '../bus-choice.ts'
import { keepPartitionCount, openBus, openBusForStages, partitionCount } from '../open-bus.ts'
import { runHere } from '../run-here.ts'
import type { WeirOptions } from '../weir.ts'
import { type FrontOn, type FrontOnOptions, frontOn, stagesOfGuests } from './bus-front.ts'
import { guestAgent } from './guest-agent.ts'
import type { Guard } from './guest-conversation.ts'

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
export type { GuestAgent }
export { defaultGuestSettings, WeirError }

export type GuardOptions = {
  /**
   * The guest's name, the path of its file, or its settings as a value. A name means
   * `agents/<name>.yaml` if that file exists, and otherwise the defaults.
   */
  agent: string | GuestAgent
  /**
   * `blocking`: a call starts only after a verdict `run`. `observing`: calls cannot be held, so
   * guards and approvals decide nothing. Default `blocking`.
   */
  mode?: 'blocking' | 'observing'
  /** Guards that run in this process, as for `Weir.open`. */
  guards?: WeirOptions['guards']
  /** The calls that wait for a person, as for `Weir.open`. */
  approvals?: WeirOptions['approvals']
  /** The folder of the log. Default: the log is in memory, without a file. */
  dataFolder?: string
  /** The log is on Kafka, and `weir up` runs the stages. */
  kafka?: Omit<KafkaBusChoice, 'kind'> & { topicPrefix?: string }
  /** When Weir does not answer in time. Default `run` for observing, `refuse` for blocking. */
  onUnavailable?: 'run' | 'refuse'
  /**
   * Milliseconds that `beforeModel` and `afterModel` wait for an answer. Default 2 seconds for
   * observing, 10 minutes for blocking.
   */
  answerWithinMs?: Milliseconds
  /** A pino logger. Default: lines of JSON at `warn` and above on standard error. */
  log?: Logger
}

/** Guards an agent that runs elsewhere. Without `dataFolder` or `kafka` nothing is written. */
export async function openGuard(options: GuardOptions): Promise<Guard> {
  const agent = guestAgent(options.agent) // before anything is opened
  const fronts = await openFronts(frontsPlace(options), options)
  const front = fronts.front({ ...options, agent })
  return {
    conversation: (id, { turn } = {}) => front.conversation(id, { turn }),
    failed: fronts.failed,
    close: fronts.close,
  }
}

/** Where the log is. On Kafka, `weir up` runs the stages. */
export type FrontsPlace = { kind: 'memory' | 'folder' | 'shared'; settings: Settings }

export type Fronts = FrontsOn & {
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
  const bus = await busOf(kind, settings, log)
  const { topicPrefix } = settings
  try {
    const partitions = isElsewhere ? await partitionCount(bus, topicPrefix) : settings.partitions
    const running = isElsewhere
      ? { failed: new Promise<never>(() => {}), close: async () => {} }
      : await runHere(
          {
            ...{ bus, agents: new Map(), topicPrefix, partitions, log },
            retentionMs: retentionMsOf(settings.retention),
            names: stagesOfGuests,
          },
          options,
        )
    if (kind === 'folder') await keepPartitionCount({ bus, topicPrefix, partitions, log })
    const fronts = frontsOn({ bus, topicPrefix, partitions, log })
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

/** Fronts on an open log. Stages that judge guests must run on it. */
export function frontsOn(
  place: Pick<FrontOnOptions, 'bus' | 'topicPrefix' | 'partitions' | 'log'>,
): FrontsOn & { close(): void } {
  const opened: FrontOn[] = []
  return {
    front({ agent, mode, onUnavailable, answerWithinMs }) {
      const choice = { mode, onUnavailable, answerWithinMs }
      const front = frontOn({ ...place, ...choice, agent: guestAgent(agent) })
      opened.push(front)
      return front
    },
    close() {
      for (const front of opened) front.close()
    },
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

async function busOf(kind: FrontsPlace['kind'], settings: Settings, log: Logger): Promise<Bus> {
  if (kind === 'shared') return openBus(settings, log)
  if (kind === 'folder') return openBusForStages(settings, log)
  return openEmbeddedBus({ file: ':memory:', clock: systemClock, keepFrom: foldFrom, log })
}
