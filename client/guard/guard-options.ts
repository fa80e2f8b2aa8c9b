// The options of openGuard, and their checks before anything is opened.

import type { Logger } from 'pino'
import {
  defaultGuestSettings,
  type GuestAgent,
  type RecordedParts,
  recordedParts,
} from '../../shared/agents/guest.ts'
import type { Milliseconds } from '../../shared/lib/clock.ts'
import { WeirError } from '../../shared/lib/errors.ts'
import { kindOf, shown } from '../../shared/settings/mistake.ts'
import { checkGuards, needLogger, needOneOf, needOptions, needText } from '../given-options.ts'
import { refuseUnknownKeys } from '../known-keys.ts'
import type { KafkaBusChoice } from '../place/bus-choice.ts'
import { type StagesChoice, stagesChoices } from '../place/stages-choice.ts'
import type { WeirOptions } from '../weir.ts'
import type { GuestPlaceOptions } from './guest-conversation.ts'

export type GuardOptions = {
  /**
   * The guest's name, the path of its file, or its settings as a value. A name means
   * `agents/<name>.yaml` if that file exists, and otherwise the defaults.
   */
  agent: string | GuestAgent
  /**
   * `blocking`: a call starts only after a verdict `allow`. `observing`: every verdict is `allow`, so
   * guards and approvals decide nothing, and Weir advises only. Default `blocking`.
   */
  mode?: 'blocking' | 'observing'
  /** Guards that run in this process, as for `Weir.open`. */
  guards?: WeirOptions['guards']
  /** The calls that wait for a person, as for `Weir.open`. */
  approvals?: WeirOptions['approvals']
  /**
   * The parts of its conversations in the log. `calls`: tools, arguments and the ends of calls, with
   * a hash in place of every other text, so fewer loops are found. Default: as the guest has it.
   */
  record?: RecordedParts
  /** The folder of the log. Default: the log is in memory, without a file. */
  dataFolder?: string
  /**
   * The part of this process in running the stages of the data folder, as for `Weir.open`. Default
   * `auto`: it runs them if no other process does. It leaves the folder to a process with agents.
   */
  stages?: StagesChoice
  /** The log is on Kafka, and `weir up` runs the stages. */
  kafka?: Omit<KafkaBusChoice, 'kind'> & { topicPrefix?: string }
  /** When Weir does not answer in time. Default `allow` for observing, `deny` for blocking. */
  onUnavailable?: 'allow' | 'deny'
  /**
   * Milliseconds that `beforeModel` and `afterModel` wait for an answer. Default 2 seconds for
   * observing, 10 minutes for blocking.
   */
  answerWithinMs?: Milliseconds
  /** Values that no record and no result in the log may contain, such as the key of the agent's model. */
  secrets?: readonly string[]
  /** A pino logger. Default: lines of JSON at `warn` and above on standard error. */
  log?: Logger
}

const code = 'settings.invalid'

const optionNames = Object.keys({
  agent: 1,
  mode: 1,
  guards: 1,
  approvals: 1,
  dataFolder: 1,
  kafka: 1,
  stages: 1,
  onUnavailable: 1,
  answerWithinMs: 1,
  log: 1,
  record: 1,
  secrets: 1,
} satisfies Record<keyof GuardOptions, 1>)

/** Throws `settings.invalid` with the option and its values. */
export function checkGuardOptions(given: GuardOptions): void {
  needOptions(given, { code, subject: 'openGuard', example: "{ agent: 'ops' }" })
  refuseUnknownKeys(given, optionNames, { code, subject: 'openGuard' })
  const { agent, mode, onUnavailable, answerWithinMs, dataFolder, kafka, secrets } = given
  const isName = typeof agent === 'string'
  if (!isName && typeof (agent as { name?: unknown } | null | undefined)?.name !== 'string')
    throw new WeirError(
      code,
      `agent is ${agent === undefined ? 'missing' : shown(agent)}; must be the name of a guest, the path of its file, or an object with its name`,
    )
  if (!isName) checkAgent(agent)
  needOneOf('mode', mode, ['blocking', 'observing'])
  needOneOf('record', given.record, recordedParts)
  needOneOf('onUnavailable', onUnavailable, ['allow', 'deny'])
  needOneOf('stages', given.stages, stagesChoices)
  checkGuards(given.guards)
  if (answerWithinMs !== undefined && !(Number.isFinite(answerWithinMs) && answerWithinMs >= 0))
    throw new WeirError(
      code,
      `answerWithinMs is ${shown(answerWithinMs)}; must be a number of milliseconds from 0 on`,
    )
  needText('dataFolder', dataFolder)
  // Never with a value: each one is a secret.
  if (secrets !== undefined && !(Array.isArray(secrets) && secrets.every(isText)))
    throw new WeirError(code, `secrets is ${kindOf(secrets)}; must be a list of texts`)
  needLogger(given.log)
  if (kafka !== undefined)
    needOptions(kafka, { code, subject: 'kafka', example: "{ bootstrapServer: 'HOST:9092' }" })
}

const isText = (value: unknown) => typeof value === 'string'

const agentKeys = Object.keys({ name: 1, settings: 1, hints: 1, record: 1 } satisfies Record<
  keyof GuestAgent,
  1
>)

function checkAgent({ settings, hints, record, ...rest }: GuestAgent): void {
  refuseUnknownKeys({ settings, hints, record, ...rest }, agentKeys, { code, subject: 'agent' })
  needOneOf('agent.record', record, recordedParts)
  if (hints !== undefined)
    needOptions(hints, { code, subject: 'agent.hints', example: '{ exec: { idempotent: true } }' })
  if (settings === undefined) return
  const example = "{ fallback: 'Please call us.' }"
  needOptions(settings, { code, subject: 'agent.settings', example })
  const names = Object.keys(defaultGuestSettings)
  refuseUnknownKeys(settings, names, { code, subject: 'agent.settings' })
}

/** Throws `message.invalid` for an id of a conversation that is no text. */
export function checkThread(id: unknown, options: object): void {
  if (typeof id !== 'string' || id === '')
    throw new WeirError(
      'message.invalid',
      `the id of the conversation is ${shown(id)}; must be a text that is not empty`,
    )
  refuseUnknownKeys(options, ['turn', 'parent', 'root'], {
    code: 'message.invalid',
    subject: 'conversation',
  })
  const { parent, root }: GuestPlaceOptions = options
  for (const [name, value] of Object.entries({ parent, root }))
    if (value !== undefined && (typeof value !== 'string' || value === ''))
      throw new WeirError(
        'message.invalid',
        `${name} of the conversation is ${shown(value)}; must be the id of another conversation`,
      )
}
