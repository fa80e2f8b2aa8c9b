// The members of the consumer groups, by the broker's answer. Nothing else can prove that a process
// had work to lose, or that it was expelled.

import { setTimeout as sleep } from 'node:timers/promises'
import kafkajs, { type Admin, type GroupDescription } from 'kafkajs'
import { stageNames } from '../evidence/inboxes.ts'
import { guardNames, onceGuard } from './guard-world.ts'

/** By member name (its client id): its number of partitions over all groups. */
export type Owned = Map<string, number>

export type Groups = {
  /** Undefined: the broker does not answer now. */
  owned(): Promise<Owned | undefined>
  /** The broker's last answer. */
  lastOwned(): Owned
  close(): Promise<void>
}

const requestMs = 5_000
/** A slower broker counts as one that does not answer. */
const answerMs = 10_000

export function watchGroups(bootstrapServers: string, prefix: string): Groups {
  const kafka = new kafkajs.Kafka({
    clientId: 'chaos-groups',
    brokers: [bootstrapServers],
    logLevel: kafkajs.logLevel.NOTHING,
    connectionTimeout: requestMs,
    requestTimeout: requestMs,
    // the first try of a new connection always fails: it knows no broker yet
    retry: { retries: 2, initialRetryTime: 100, maxRetryTime: 300 },
  })
  let admin: Admin | undefined
  let last: Owned = new Map()

  /** Reconnects after every failure: the old connection's knowledge of the broker may be stale. */
  async function connected(): Promise<Admin> {
    if (admin !== undefined) return admin
    const fresh = kafka.admin()
    await fresh.connect()
    admin = fresh
    return fresh
  }

  async function close(): Promise<void> {
    const former = admin
    admin = undefined
    await former?.disconnect().catch(() => {})
  }

  return {
    async owned() {
      const late = new AbortController()
      const answer = connected()
        .then((admin) =>
          admin.describeGroups(
            [
              ...stageNames,
              ...[...guardNames, onceGuard.name].map((guard) => `guard.${guard}`),
            ].map((group) => prefix + group),
          ),
        )
        .then(({ groups }) => ownedIn(groups))
        .catch(() => undefined)
      const owned = await Promise.race([
        answer,
        sleep(answerMs, undefined, { signal: late.signal }).catch(() => undefined),
      ])
      late.abort()
      if (owned === undefined) void close()
      else last = owned
      return owned
    },
    lastOwned: () => last,
    close,
  }
}

function ownedIn(groups: GroupDescription[]): Owned {
  const owned: Owned = new Map()
  for (const { clientId, memberAssignment } of groups.flatMap(({ members }) => members)) {
    const assignment =
      memberAssignment.length === 0
        ? undefined
        : kafkajs.AssignerProtocol.MemberAssignment.decode(memberAssignment)
    const partitions = Object.values(assignment?.assignment ?? {}).flat().length
    owned.set(clientId, (owned.get(clientId) ?? 0) + partitions)
  }
  return owned
}
