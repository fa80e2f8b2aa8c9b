// Prints access rights: lines of kafka-acls.sh, Strimzi's KafkaUsers, and a table per principal.

import { stringify } from 'yaml'
import type { AccessRight } from '../../../shared/bus/kafka/access-rights.ts'
import { shellWord } from '../../../shared/bus/kafka/topic-plan.ts'
import { WeirError } from '../../../shared/lib/errors.ts'
import { painted } from '../../terminal/paint.ts'
import { printable } from '../../terminal/printable.ts'

/** `user`: the name of the user on Kafka, without `User:`. */
export type UserAccess = { principal: string; user: string; rights: AccessRight[] }

/** One line for each user and kind of right: it names all resources with the same operations. */
export function aclLines(users: UserAccess[], connection: string[]): string[] {
  return users.flatMap(({ user, rights }) => {
    const alike = Map.groupBy(rights, ({ resource, pattern, operations }) =>
      [resource, pattern, ...operations].join(),
    )
    return [...alike.values()].map((group) => aclLine(user, group, connection))
  })
}

/** `rights`: with one kind of resource, one pattern and the same operations. */
function aclLine(user: string, rights: AccessRight[], connection: string[]): string {
  const [first] = rights
  return [
    'kafka-acls.sh',
    ...connection,
    ...['--add', '--allow-principal', `User:${user}`],
    ...(first?.operations ?? []).flatMap((operation) => ['--operation', operation]),
    ...rights.flatMap(({ resource, name }) => [`--${resource}`, name]),
    ...(first?.pattern === 'prefixed' ? ['--resource-pattern-type', 'prefixed'] : []),
  ]
    .map(shellWord)
    .join(' ')
}

const strimziVersion = 'kafka.strimzi.io/v1'
const resourceName = /^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/

/**
 * KafkaUsers of `kafka.strimzi.io/v1` (Strimzi 0.49 or newer; the content also fits v1beta2). They
 * log in by SCRAM-SHA-512. Throws `usage` for a user that no Kubernetes resource can be named after.
 */
export function strimziUsers(users: UserAccess[], cluster: string): string {
  return users.map((user) => `---\n${stringify(strimziUser(user, cluster))}`).join('')
}

function strimziUser({ user, rights }: UserAccess, cluster: string) {
  if (!resourceName.test(user))
    throw new WeirError(
      'usage',
      `no KafkaUser can have the name '${printable(user)}': use a-z, 0-9, - and . only (--user)`,
    )
  return {
    apiVersion: strimziVersion,
    kind: 'KafkaUser',
    metadata: { name: user, labels: { 'strimzi.io/cluster': cluster } },
    spec: {
      authentication: { type: 'scram-sha-512' },
      authorization: {
        type: 'simple',
        acls: rights.map(({ resource, name, pattern, operations }) => ({
          resource: {
            type: resource,
            name,
            patternType: pattern === 'prefixed' ? 'prefix' : 'literal',
          },
          operations,
        })),
      },
    },
  }
}

/** A table for each principal, with one line for each right. */
export function printTables(users: UserAccess[], out: NodeJS.WriteStream): void {
  const all = users.flatMap(({ rights }) => rights)
  const width = Math.max(...all.map((right) => shownName(right).length))
  for (const { principal, user, rights } of users) {
    out.write(`${painted(out, 'title', `${principal} (User:${printable(user)})`)}\n`)
    for (const right of rights) {
      const name = shownName(right).padEnd(width)
      out.write(`    ${right.resource}  ${name}  ${right.operations.join(', ')}\n`)
    }
    out.write('\n')
  }
}

function shownName({ name, pattern }: AccessRight): string {
  return printable(pattern === 'prefixed' ? `${name}…` : name)
}
