// The capabilities of a bus. Callers check capabilities, never the name of the bus. The list of buses
// is kinds.ts. Each record is in its bus's folder.

import type { Logger } from 'pino'
import type { Bus, Commit, Offset, TopicSpec } from '../contract/bus.ts'
import type { Clock, Milliseconds } from '../lib/clock.ts'
import type { Settings } from '../settings/settings.ts'
import type { BackupContent, Restored } from './embedded/backup.ts'
import type { SendRequest } from './embedded/beside/beside.ts'
import type { OwnerLink } from './embedded/beside/link.ts'
import type { OutsideValues } from './embedded/beside/outside-requests.ts'
import type { LinkHost } from './embedded/beside/owner-links.ts'
import type { LockState } from './embedded/file/lock.ts'
import type { Imported } from './embedded/import.ts'
import type { GroupPlace, GroupProgress } from './group-progress.ts'
import type { ClusterSurvey } from './kafka/cluster/cluster-survey.ts'
import type { GroupAdmin } from './kafka/group/group-admin.ts'

export type BusSettings = Pick<
  Settings,
  | 'agents'
  | 'bus'
  | 'dataFolder'
  | 'synchronous'
  | 'dataFolderBytesMax'
  | 'bootstrapServer'
  | 'commandConfig'
  | 'commandProperty'
  | 'plaintextPassword'
  | 'recordSigning'
  | 'traceHeaders'
  | 'encryptionKeys'
  | 'encryptionCommand'
  | 'topicPrefix'
  | 'sessionTimeoutMs'
  | 'groupInstanceId'
>

/** The settings of a process that writes next to the owner of the log. */
export type BesideSettings = BusSettings

export type OpenOptions = {
  log: Logger
  /** The lowest offset that a group with this commit reads again after a restart. */
  keepFrom: (commit: Commit) => Offset
  /**
   * How long the first contact is tried. Default: a minute, because a service may start before its
   * broker.
   */
  connectMs?: Milliseconds | undefined
  /** Copies of topics that this bus creates. Default: the brokers' default. */
  replicationFactor?: number | undefined
  /** For a log in this process. Default: the machine's. */
  clock?: Clock | undefined
  /** False: keeps no copies of tables on disk. */
  keepsTables?: boolean | undefined
  /** Encrypts the records that this process writes for others. Default: they stay as they are. */
  values?: ((bus: Bus) => OutsideValues) | undefined
  /** Answers the links of other processes, on a local bus. Default: they are refused. */
  linkHost?: LinkHost | undefined
}

type Capabilities = {
  /** For sentences: "on Kafka". */
  title: string
  /** The place of the log for a page that goes to strangers: no folder, no address. */
  place: string
  /**
   * True: the bus creates its topics, with the partitions of the settings. False: a person creates
   * them (`weir topics create`), and the topics give the number of partitions.
   */
  ownsTopics: boolean
  /** True: a reader sees either all records of a step or none. */
  hasAtomicSteps: boolean
  /** The settings that lead to the log, for the first line of a service's log. */
  describe(settings: Settings): Record<string, string | number>
  /** Opens the bus for writing. Errors: client/place/open-bus.ts. */
  open(settings: BusSettings, options: OpenOptions): Promise<Bus>
  /** Opens an existing log. Nobody appends through this bus. */
  openReadOnly(settings: BusSettings, options: OpenOptions): Promise<Bus>
  /** The progress of groups, in their order. Joins none, and changes nothing. */
  progressOfGroups(
    settings: BusSettings,
    places: readonly GroupPlace[],
    log: Logger,
  ): Promise<GroupProgress[]>
  /** Opens the bus for a short command that appends while other processes run. */
  openBeside(settings: BesideSettings, options: OpenOptions): Promise<Bus>
}

/**
 * The log is a file in the data folder. One process writes the file, so all stages run in it, and
 * only that process knows its members.
 */
export type LocalBus = Capabilities & {
  isLocal: true
  logFile(settings: Pick<Settings, 'dataFolder'>): string
  /** The partitions of that topic in the file. Undefined: there is none, or it cannot be read. */
  partitionsIn(settings: Pick<Settings, 'dataFolder'>, topic: string): number | undefined
  /** Whether a process writes the file. */
  lockState(settings: Pick<Settings, 'dataFolder'>): LockState
  /** Whether a process writes the file and accepts requests. Throws `bus.unreachable`. */
  writerListens(settings: Pick<Settings, 'dataFolder'>): Promise<boolean>
  /** The bus through the process that writes the file. Undefined: none accepts requests. */
  openBesideWriter(settings: BesideSettings, log: Logger): Promise<Bus | undefined>
  /**
   * A link to the process that owns the file and answers links. Undefined: there is none now. Throws
   * `bus.unreachable` if the owner is another user's.
   */
  link(settings: Pick<Settings, 'dataFolder'>): Promise<OwnerLink | undefined>
  /** The file next to its owners. `request` reaches the owner of the moment. */
  openLinked(settings: BesideSettings, log: Logger, request: SendRequest): Promise<Bus>
  /** Makes the file from records that have offsets and times already. */
  importLog(imported: Imported): Promise<void>
  /** Copies the file to the empty file `to`, also while a process writes it. */
  backUpLog(settings: Pick<Settings, 'dataFolder'>, to: string, content: BackupContent): void
  /** Makes the file from a backup. Returns the time of the backup; '' for a copy of a log. */
  restoreLog(restored: Restored): Promise<string>
}

/** Processes of many machines share the log: stages, guards and clients run anywhere. */
export type SharedBus = Capabilities & {
  isLocal: false
  /** Throws `settings.invalid` with every mistake of the client's properties. */
  checkClient(settings: BusSettings): Promise<void>
  /** The brokers, and each topic that differs from `topics`. */
  survey(
    settings: BusSettings & Pick<Settings, 'replicationFactor'>,
    topics: TopicSpec[],
    log: Logger,
  ): Promise<ClusterSurvey>
  groups(settings: BusSettings, log: Logger): Promise<GroupAdmin>
}

export type BusKind = LocalBus | SharedBus
