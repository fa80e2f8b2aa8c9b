// Prints access rights: lines of kafka-acls.sh, and a table per principal.

import type { AccessRight } from '../../../shared/bus/kafka/cluster/access-rights.ts'
import { shellWord } from '../../../shared/bus/kafka/cluster/topic-plan.ts'
import { painted } from '../../terminal/paint.ts'
import { printable } from '../../terminal/text/printable.ts'

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
