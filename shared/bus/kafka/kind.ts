// The record of Kafka. It imports Kafka's client and the readers of agent files on first use: loading
// them costs a tenth of a second at every start.

import { join } from 'node:path'
import type { Logger } from 'pino'
import type { Bus } from '../../contract/bus.ts'
import { systemClock } from '../../lib/clock.ts'
import { heldBus } from '../fleet/held-bus.ts'
import { learningBus } from '../fleet/learning-bus.ts'
import { createNeededTopics } from '../fleet/needed-topics.ts'
import type { BusSettings, OpenOptions, SharedBus } from '../kind.ts'
import { readKeys } from '../signing/keys.ts'
import { acceptsSigned, signedBus } from '../signing/signed-bus.ts'
import { createSigning } from '../signing/signing.ts'
import type { GroupAdmin } from './group/group-admin.ts'
import { kafkaClient } from './properties/client-of-settings.ts'
import { tracedBus } from './traced-bus.ts'

export const kafkaKind: SharedBus = {
  title: 'Kafka',
  place: 'Kafka',
  isLocal: false,
  ownsTopics: false,
  hasAtomicSteps: false,
  describe: ({ bootstrapServer }) => ({ bootstrapServer }),
  open: openHeld,
  openReadOnly: open,
  openBeside: openHeld,
  async checkClient(settings) {
    await kafkaClient(settings)
  },
  async survey(settings, topics, log) {
    const { surveyCluster } = await import('./cluster/cluster-survey.ts')
    const { topicPlan } = await import('./cluster/topic-plan.ts')
    const { replicationFactor } = settings
    return surveyCluster(await kafkaClient(settings), topicPlan(topics, { replicationFactor }), log)
  },
  progressOfGroups: async (settings, places, log) => (await groups(settings, log)).progress(places),
  groups,
}

async function groups(settings: BusSettings, log: Logger): Promise<GroupAdmin> {
  const { groupAdmin } = await import('./group/group-admin.ts')
  return groupAdmin(await kafkaClient(settings), log)
}

async function hashOfAgents({ agents }: BusSettings): Promise<string | undefined> {
  if (agents === '') return undefined
  const { agentFilesHash } = await import('../../agents/file/agent-files-hash.ts')
  return agentFilesHash(agents)
}

async function openHeld(settings: BusSettings, options: OpenOptions): Promise<Bus> {
  return heldBus(await open(settings, options), settings.topicPrefix, options.log)
}

async function open(
  settings: BusSettings,
  { log, connectMs, replicationFactor, keepsTables = true }: OpenOptions,
): Promise<Bus> {
  const { openKafkaBus } = await import('./bus.ts')
  const signing =
    settings.recordSigning === ''
      ? undefined
      : createSigning(readKeys(settings.recordSigning), settings.topicPrefix)
  let bus: Bus | undefined
  bus = await openKafkaBus({
    client: await kafkaClient(settings, (note) => log.info(note)),
    clock: systemClock,
    log,
    tablesFolder: keepsTables ? join(settings.dataFolder, 'tables') : undefined,
    connectMs,
    replicationFactor,
    accepts: signing && acceptsSigned(signing, log),
    agents: await hashOfAgents(settings),
    needOf: createNeededTopics(() => bus, settings.topicPrefix),
    times: { sessionMs: settings.sessionTimeoutMs },
    instanceId: settings.groupInstanceId || undefined,
    placePath: keepsTables ? join(settings.dataFolder, 'processes', 'process') : undefined,
  })
  const learning = learningBus(bus, settings.topicPrefix)
  const signed = signing === undefined ? learning : signedBus(learning, signing, log)
  return settings.traceHeaders === 'on' ? tracedBus(signed) : signed
}
