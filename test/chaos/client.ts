// The clients' access to the agent: an edge on its own bus, as in a program that uses Weir over
// Kafka.

import { join } from 'node:path'
import { pino } from 'pino'
import { type Edge, openEdge } from '../../client/edge/edge.ts'
import { loadAgents } from '../../client/weir.ts'
import type { Agent } from '../../shared/agents/agents.ts'
import { openKafkaBus } from '../../shared/bus/kafka/bus.ts'
import { readKeys } from '../../shared/bus/signing/keys.ts'
import { acceptsSigned, signedBus } from '../../shared/bus/signing/signed-bus.ts'
import { createSigning } from '../../shared/bus/signing/signing.ts'
import type { Bus } from '../../shared/contract/bus.ts'
import { systemClock } from '../../shared/lib/clock.ts'
import { connectionOf, type Logins } from './users.ts'

export type Client = { agent: Agent; edge: Edge; bus: Bus; close(): Promise<void> }

export type ClientOptions = {
  bootstrapServers: string
  prefix: string
  partitions: number
  agentFile: string
  folder: string
  /** Undefined: it does not sign. */
  keys?: string | undefined
  /** Undefined: it is the super user. */
  logins?: Logins | undefined
}

/** Its bus also carries the decisions of the run's people. */
export const clientPrincipals = ['edge', 'approver']

export async function openClient({
  bootstrapServers,
  prefix,
  partitions,
  agentFile,
  folder,
  keys,
  logins,
}: ClientOptions): Promise<Client> {
  // Messages carry only declarations and settings. The executors alone know the tools' addresses.
  const agent = loadAgents(agentFile, { CHAOS_PROCESS: 'client', CHAOS_STARTS: 'none' }).get(
    'worker',
  ) as Agent
  const log = pino(
    { level: 'info' },
    pino.destination({ dest: join(folder, 'client.log'), sync: true }),
  )
  const signing = keys === undefined ? undefined : createSigning(readKeys(keys), prefix)
  const plain = await openKafkaBus({
    client: {
      clientId: 'chaos-client',
      ...connectionOf(clientPrincipals, bootstrapServers, logins),
    },
    clock: systemClock,
    log,
    accepts: signing && acceptsSigned(signing, log),
    tablesFolder: join(folder, 'data', 'client'),
  })
  const bus = signing === undefined ? plain : signedBus(plain, signing, log)
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
