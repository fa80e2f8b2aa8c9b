// The options of Weir.open: their types, checks and the settings that they give.

import type { Logger } from 'pino'
import type { ApprovalSettings } from '../services/approval/performer/registration.ts'
import type { BusKind } from '../shared/bus/kind.ts'
import { busKindOf } from '../shared/bus/kinds.ts'
import { withPartitionsOfLog } from '../shared/bus/partitions-of-log.ts'
import type { AnyGuard } from '../shared/contract/guard/guard.ts'
import { WeirError } from '../shared/lib/errors.ts'
import { noteFoundFolder, noteNamedFolder } from '../shared/lib/files/folder-owner.ts'
import { alternatives } from '../shared/settings/mistake.ts'
import {
  busNames,
  type SettingFlagValues,
  type Settings,
  settingsWithOrigins,
  valuesOf,
} from '../shared/settings/settings.ts'
import type { AgentsOption } from './agents/agents-in-files.ts'
import { checkGuards, needLogger, needOptions, needText } from './given-options.ts'
import { refuseUnknownKeys } from './known-keys.ts'
import {
  type BusChoice,
  choiceOfSettings,
  exampleChoice,
  flagsOfChoice,
} from './place/bus-choice.ts'
import { type StagesChoice, stagesChoices } from './place/stages-choice.ts'

export type WeirOptions = {
  /**
   * Agents of `defineAgent`, or an agent file, a folder of them, or the agents of `loadAgents`.
   * Stages that run elsewhere have their own agents. Then only the fields that go with a message
   * are read here: no key and no program is needed. An empty list with `stages: 'elsewhere'` opens an
   * existing log to read, decide and cancel, also while no process runs the stages.
   */
  agents: AgentsOption
  /** The place of the log. Default: a file in `dataFolder`. */
  bus?: BusChoice
  /**
   * The process that runs the stages. `auto`: on the embedded bus, this process if no other one runs
   * them in the data folder, and also once that one ends. On Kafka, other processes. `here`: this
   * process. `elsewhere`: other processes, such as `weir up`. Then the end of this process stops no
   * turn. Default `auto`.
   */
  stages?: StagesChoice
  /**
   * The folder of the log, `weir.db`. Several processes can share it. On Kafka: the folder of local
   * copies of tables. Default `.weir` in the working folder.
   */
  dataFolder?: string
  /**
   * When a write waits for the disk. All values survive a killed process. Only `full` survives a
   * power loss at any moment. Default `normal`.
   */
  synchronous?: Settings['synchronous']
  /**
   * Partitions of every topic. Fixed once the topics exist. Default: 4; on Kafka, the topics'
   * number.
   */
  partitions?: number
  /**
   * The start of all topic names. Two Weirs with different prefixes can share a cluster, or a data
   * folder one after the other. Default `weir.`
   */
  topicPrefix?: string
  /**
   * Days to keep records, and the history of an idle conversation. 0: until somebody deletes them
   * (`weir.forget`). Otherwise at least three more than `toleratedDowntimeDays`. Default: 0 in a data
   * folder, and 7 on Kafka.
   */
  retentionDays?: number
  /** Days to keep the decisions of people and the changes of operators (weir audit). Default 400. */
  auditDays?: number
  /**
   * Bytes of the log in the data folder at which `ask` fails with `bus.full`. Running turns end.
   * Default 0: no limit.
   */
  dataFolderBytesMax?: number
  /**
   * The shares of the places for model requests and tools where tenants wait for them, as whole
   * numbers from 1 to 1000. Default: 1 for each tenant.
   */
  tenantWeights?: Readonly<Record<string, number>>
  /** The file with the keys of tenants (weir keys tenant): encrypts their records. Default: none. */
  encryptionKeys?: string
  /** Instead of that file: a program and its arguments, separated by spaces, that prints it. */
  encryptionCommand?: string
  /** Days that all of Weir may be down and still continue every open turn. Default 3. */
  toleratedDowntimeDays?: number
  /**
   * Guards that run in this process with the stages. `mode`: for all of them; default: as
   * registered, and `shadow` for a new guard. A registered guard that is missing here stays in
   * force until it is removed: it does not answer, so its on-timeout decides.
   */
  guards?: { guards: readonly AnyGuard[]; mode?: 'shadow' | 'enforce' }
  /**
   * The calls that wait for a person, if the stages run here; as `weir approvals rules` sets them.
   * Default: the rules that were set before.
   */
  approvals?: ApprovalSettings
  /**
   * Whether stages may run on a log that `weir import` made. Its writer chose the policies, the rules
   * and the history. Default: false, and opening it throws `bus.imported`.
   */
  runImported?: boolean
  /** A pino logger. Default: lines of JSON at `warn` and above on standard error. */
  log?: Logger
}

const asked = { code: 'settings.invalid', subject: 'Weir.open' } as const

/** Throws `settings.invalid` for options in another form. */
export function checkOptions(options: WeirOptions): void {
  needOptions(options, { ...asked, example: '{ agents: [yours] }' })
  refuseUnknownKeys(options, optionNames, asked)
  for (const name of texts) needText(name, options[name])
  if (options.bus !== undefined)
    needOptions(options.bus, {
      code: 'settings.invalid',
      subject: 'bus',
      example: exampleChoice,
    })
  checkGuards(options.guards)
  needLogger(options.log)
}

const texts = ['dataFolder', 'topicPrefix', 'encryptionKeys', 'encryptionCommand'] as const

const optionNames = Object.keys({
  agents: 1,
  bus: 1,
  stages: 1,
  dataFolder: 1,
  synchronous: 1,
  partitions: 1,
  topicPrefix: 1,
  retentionDays: 1,
  auditDays: 1,
  dataFolderBytesMax: 1,
  toleratedDowntimeDays: 1,
  guards: 1,
  tenantWeights: 1,
  encryptionKeys: 1,
  encryptionCommand: 1,
  approvals: 1,
  runImported: 1,
  log: 1,
} satisfies Record<keyof WeirOptions, 1>)

/** The options whose settings have the same name and the same value. */
const sameNames = [
  ...(['dataFolder', 'synchronous', 'partitions', 'topicPrefix', 'retentionDays'] as const),
  ...(['auditDays', 'toleratedDowntimeDays', 'dataFolderBytesMax'] as const),
  ...(['encryptionKeys', 'encryptionCommand'] as const),
]

export function settingsOf({ bus = defaultBus, ...options }: WeirOptions): Settings {
  const given = sameNames.filter((key) => options[key] !== undefined)
  try {
    const flags = {
      ...Object.fromEntries(given.map((key) => [key, String(options[key])])),
      ...weightFlags(options.tenantWeights),
      ...flagsOfChoice(bus),
    }
    const settings = valuesOf(withPartitionsOfLog(settingsWithOrigins(flags, {})))
    if (options.dataFolder === undefined) noteFoundFolder(settings.dataFolder, 'program')
    else noteNamedFolder(settings.dataFolder)
    return settings
  } catch (error) {
    throw error instanceof WeirError ? aboutOptions(error) : error
  }
}

/** The options that give these settings, without agents and the parts that run next to them. */
export function optionsOfSettings(settings: Settings): Omit<WeirOptions, 'agents'> {
  // Where people create the topics, their number of partitions is fixed already.
  const { ownsTopics } = busKindOf(settings)
  const same = sameNames.filter((key) => key !== 'partitions' || ownsTopics)
  const weights = Object.entries(settings.tenantWeights)
  return {
    ...Object.fromEntries(same.map((key) => [key, settings[key]])),
    tenantWeights: Object.fromEntries(weights.map(([tenant, weight]) => [tenant, Number(weight)])),
    bus: choiceOfSettings(settings),
  }
}

function weightFlags(weights: WeirOptions['tenantWeights']): SettingFlagValues {
  if (weights === undefined) return {}
  return { tenantWeights: Object.entries(weights).map(([tenant, weight]) => `${tenant}=${weight}`) }
}

const defaultBus: BusChoice = { kind: busNames[0] }

/** The process that runs the stages, with the default of the bus. */
export function stagesOf({ stages = 'auto' }: WeirOptions, { isLocal }: BusKind): StagesChoice {
  if (!stagesChoices.includes(stages))
    throw new WeirError(
      'settings.invalid',
      `stages is ${JSON.stringify(stages)}; must be ${alternatives(stagesChoices)}`,
    )
  return stages === 'auto' && !isLocal ? 'elsewhere' : stages
}

/** Options are checked as settings, but no command line exists that an error could name. */
function aboutOptions({ code, message }: WeirError): WeirError {
  return new WeirError(code, message.replaceAll(/ \(from the flag [a-z-]+\)/g, ''))
}
