// The access of the processes to the broker and to the records. In a secured run, each job has a user of
// Kafka with the rights of its principals and no other. Records are signed and encrypted, and each
// process gets the keys of its principals. The run itself is the broker's super user.

import { cpSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { addTenantKey } from '../../shared/bus/encryption/tenant-keys.ts'
import { accessOfAll } from '../../shared/bus/kafka/cluster/access-rights.ts'
import { createKeyFiles } from '../../shared/bus/signing/keys.ts'
import type { Broker, BrokerOptions } from '../support/kafka/broker-options.ts'
import { brokerWithUsers, grant, loginAddress, loginProperties } from '../support/kafka/users.ts'

/** Settings of Weir by name. */
export type PlaceSettings = Record<string, string>

export type Access = {
  readonly brokerOptions: BrokerOptions
  /** The file with the keys of tenants. Undefined: records are not encrypted. */
  readonly tenantKeys: string | undefined
  grantOn(broker: Broker): Promise<void>
  /** The bus for a process with these principals. `name`: of the process. */
  settingsOf(name: string, principals: readonly string[]): PlaceSettings
}

export type AccessOptions = {
  folder: string
  prefix: string
  /** The principals of each. */
  jobs: readonly string[][]
  guards: readonly string[]
}

/** One super user, and readable records without signatures. */
export function openAccess({ prefix }: Pick<AccessOptions, 'prefix'>): Access {
  let address = ''
  return {
    brokerOptions: {},
    tenantKeys: undefined,
    async grantOn({ bootstrapServers }) {
      address = bootstrapServers
    },
    settingsOf: () => placeAt(address, prefix),
  }
}

export function securedAccess({ folder, prefix, jobs, guards }: AccessOptions): Access {
  let address = ''
  const byUser = new Map(jobs.map((principals) => [userOf(principals), principals]))
  const loginOf = (user: string) => join(folder, 'users', `${user}.properties`)
  const tenantKeys = join(folder, 'tenant-keys.json')
  const recordKeys = join(folder, 'keys')
  mkdirSync(join(folder, 'users'), { mode: 0o700 })
  for (const user of byUser.keys())
    writeFileSync(loginOf(user), `${loginProperties(user).join('\n')}\n`, { mode: 0o600 })
  createKeyFiles(recordKeys, { guards })
  addTenantKey(tenantKeys, '*', new Date())

  return {
    brokerOptions: brokerWithUsers([...byUser.keys()]),
    tenantKeys,
    async grantOn(broker) {
      address = loginAddress(broker)
      const access = accessOfAll(prefix, guards)
      const rightsOf = (principals: string[]) =>
        access.flatMap(({ principal, rights }) => (principals.includes(principal) ? rights : []))
      const users = [...byUser].map(([principal, all]) => ({ principal, rights: rightsOf(all) }))
      await grant(broker, users)
    },
    settingsOf: (name, principals) => ({
      ...placeAt(address, prefix),
      commandConfig: loginOf(userOf(principals)),
      recordSigning: keysFor(name, principals),
      encryptionKeys: tenantKeys,
    }),
  }

  function keysFor(name: string, principals: readonly string[]): string {
    const own = join(folder, 'keys-of', name)
    mkdirSync(own, { recursive: true, mode: 0o700 })
    for (const principal of principals)
      cpSync(join(recordKeys, `${principal}.json`), join(own, `${principal}.json`))
    return own
  }
}

/** The flags of a command for these settings. */
export function flagsOf(settings: PlaceSettings): string[] {
  return Object.entries(settings).flatMap(([name, value]) => [
    `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`,
    value,
  ])
}

function placeAt(bootstrapServer: string, topicPrefix: string): PlaceSettings {
  return { bus: 'kafka', bootstrapServer, topicPrefix }
}

function userOf(principals: readonly string[]): string {
  return principals.join('-')
}
