// The clients' access to the agent: an edge on its own bus, as in a program that uses Weir over
// Kafka.

import { join } from 'node:path'
import { pino } from 'pino'
import { type Edge, openEdge } from '../../client/edge/edge.ts'
import { openBus } from '../../client/place/open-bus.ts'
import { loadAgents } from '../../client/weir.ts'
import type { Agent } from '../../shared/agents/agents.ts'
import type { Bus } from '../../shared/contract/bus.ts'
import { readSettings } from '../../shared/settings/settings.ts'
import type { Access } from './access.ts'

export type Client = { agent: Agent; edge: Edge; bus: Bus; close(): Promise<void> }

export type ClientOptions = {
  access: Access
  prefix: string
  partitions: number
  agentFile: string
  folder: string
}

/** Its bus also carries the decisions of the run's people. */
export const clientPrincipals = ['edge', 'approver']

export async function openClient({
  access,
  prefix,
  partitions,
  agentFile,
  folder,
}: ClientOptions): Promise<Client> {
  // Messages carry only declarations and settings. The executors alone know the tools' addresses.
  const agent = loadAgents(agentFile, { CHAOS_PROCESS: 'client', CHAOS_STARTS: 'none' }).get(
    'worker',
  ) as Agent
  const log = pino(
    { level: 'info' },
    pino.destination({ dest: join(folder, 'client.log'), sync: true }),
  )
  const settings = {
    ...access.settingsOf('client', clientPrincipals),
    dataFolder: join(folder, 'data', 'client'),
  }
  const bus = await openBus(readSettings(settings, {}), log)
  const edge = openEdge({ bus, topicPrefix: prefix, partitions })
  return {
    agent,
    edge,
    bus,
    async close() {
      edge.close()
      await bus.close()
    },
  }
}
