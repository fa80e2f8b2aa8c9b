// `weir topics acls`: the least rights of each principal. Changes nothing on the cluster.

import { accessOfAll } from '../../../shared/bus/kafka/cluster/access-rights.ts'
import { isGuardName } from '../../../shared/contract/guard/guard-registration.ts'
import { guardTopicName } from '../../../shared/contract/topology.ts'
import { usageError } from '../../../shared/lib/errors.ts'
import type { SettingFlags } from '../../terminal/command-settings.ts'
import { painted } from '../../terminal/paint.ts'
import { printable, printableJson } from '../../terminal/text/printable.ts'
import { guardTopicsOn } from './guard-topics.ts'
import { aclLines, printTables, type UserAccess } from './print-acls.ts'
import { strimziUsers } from './strimzi.ts'
import { connectionFlags, kafkaSettings, planSettings } from './topics.ts'

/** `user`: a pattern with `{principal}`. `registered`: also the guards in the log. */
export type AclOptions = SettingFlags & {
  guard?: string[]
  registered?: boolean
  user: string
  as: 'table' | 'lines' | 'strimzi' | 'json'
  cluster: string
}

/** Contacts a broker only with `registered`. Throws `usage` for a bad name or pattern. */
export async function showAcls(options: AclOptions, out: NodeJS.WriteStream): Promise<void> {
  const { guard = [], registered = false, user, as, cluster, ...flags } = options
  const settings = registered ? kafkaSettings(flags) : planSettings(flags)
  const bad = guard.find((name) => !isGuardName(name))
  if (bad !== undefined)
    throw usageError(
      `--guard is '${printable(bad)}'; the name of a guard has 1 to 63 of a-z, 0-9 and -`,
    )
  const prefix = settings.topicPrefix + guardTopicName('')
  const inLog = registered
    ? (await guardTopicsOn(settings)).map(({ name }) => name.slice(prefix.length))
    : []
  const guards = [...new Set([...guard, ...inLog])].filter((name) => name !== 'approval')
  const users = accessOfAll(settings.topicPrefix, guards).map((access) => ({
    ...access,
    user: userOf(user, access.principal),
  }))
  const lines = aclLines(users, connectionFlags(settings))
  if (as === 'strimzi') out.write(strimziUsers(users, cluster))
  else if (as === 'json') out.write(`${printableJson({ users, lines })}\n`)
  else if (as === 'lines') out.write(`${lines.map(printable).join('\n')}\n`)
  else printAll(users, lines, out)
}

function printAll(users: UserAccess[], lines: string[], out: NodeJS.WriteStream): void {
  printTables(users, out)
  out.write(`${painted(out, 'title', "These lines grant the rights, with Kafka's own tool:")}\n`)
  out.write(`${lines.map(printable).join('\n')}\n`)
}

/** Two principals with one user would hold each other's rights. */
function userOf(pattern: string, principal: string): string {
  if (pattern.includes('{principal}')) return pattern.replaceAll('{principal}', principal)
  throw usageError(
    `--user is '${printable(pattern)}'; it needs {principal}, the place of each principal's name`,
  )
}
