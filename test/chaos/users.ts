// The users of a run with least rights: one for each job, with the rights of its principals and no
// other. The run itself is the broker's super user.

import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { KafkaConfig } from 'kafkajs'
import { accessOfAll } from '../../shared/bus/kafka/cluster/access-rights.ts'
import type { Broker, BrokerOptions } from '../support/kafka/broker-options.ts'
import {
  brokerWithUsers,
  grant,
  loginAddress,
  loginProperties,
  passwordOf,
} from '../support/kafka/users.ts'

export type Logins = {
  /** The listener for users. */
  address: string
  /** The client.properties of a user. */
  fileOf(user: string): string
}

export type Users = {
  brokerOptions: BrokerOptions
  grantOn(broker: Broker, prefix: string): Promise<Logins>
}

/** `jobs`: the principals of each. */
export function createUsers(
  folder: string,
  jobs: readonly string[][],
  guards: readonly string[],
): Users {
  const byName = new Map(jobs.map((principals) => [userOf(principals), principals]))
  const fileOf = (user: string) => join(folder, 'users', `${user}.properties`)
  mkdirSync(join(folder, 'users'), { mode: 0o700 })
  for (const user of byName.keys())
    writeFileSync(fileOf(user), `${loginProperties(user).join('\n')}\n`, { mode: 0o600 })
  return {
    brokerOptions: brokerWithUsers([...byName.keys()]),
    async grantOn(broker, prefix) {
      const access = accessOfAll(prefix, guards)
      const rightsOf = (principals: string[]) =>
        access.flatMap(({ principal, rights }) => (principals.includes(principal) ? rights : []))
      await grant(
        broker,
        [...byName].map(([user, principals]) => ({
          principal: user,
          rights: rightsOf(principals),
        })),
      )
      return { address: loginAddress(broker), fileOf }
    },
  }
}

/** The flags of a process with these principals. */
export function placeOf(
  principals: readonly string[],
  bootstrapServers: string,
  logins: Logins | undefined,
): string[] {
  const bus = ['--bus', 'kafka', '--bootstrap-server', logins?.address ?? bootstrapServers]
  if (logins === undefined) return bus
  return [...bus, '--command-config', logins.fileOf(userOf(principals))]
}

/** The same for a bus of this process. */
export function connectionOf(
  principals: readonly string[],
  bootstrapServers: string,
  logins: Logins | undefined,
): Pick<KafkaConfig, 'brokers' | 'sasl'> {
  if (logins === undefined) return { brokers: [bootstrapServers] }
  const user = userOf(principals)
  return {
    brokers: [logins.address],
    sasl: { mechanism: 'scram-sha-512', username: user, password: passwordOf(user) },
  }
}

function userOf(principals: readonly string[]): string {
  return principals.join('-')
}
