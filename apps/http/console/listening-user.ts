// The user of the process that listens on a port of this machine, from the kernel's tables (Linux).

import { readFileSync } from 'node:fs'

const tables = ['/proc/net/tcp', '/proc/net/tcp6']
const listening = '0A'

/** False: another user's process listens there too, none does, or the machine does not tell. */
export function isListenedByUser(
  port: number,
  uid: number | undefined = process.getuid?.(),
  read: (file: string) => string = readTable,
): boolean {
  const users = tables.flatMap((table) => usersIn(read(table), port))
  return uid !== undefined && users.length > 0 && users.every((user) => user === uid)
}

/** A line: number, local address, remote address, state, queues, timer, retransmits, user. */
function usersIn(table: string, port: number): number[] {
  return table.split('\n').flatMap((line) => {
    const [, local = '', , state, , , , user] = line.trim().split(/\s+/)
    const isPort = Number.parseInt(local.split(':')[1] ?? '', 16) === port
    return isPort && state === listening ? [Number(user)] : []
  })
}

function readTable(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}
