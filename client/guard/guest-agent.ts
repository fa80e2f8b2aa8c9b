// A guest by its name: its file, and the ids of its conversations.

import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { basename, extname, join } from 'node:path'
import { loadGuests } from '../../shared/agents/file/load-agents.ts'
import { defaultGuestSettings, type GuestAgent } from '../../shared/agents/guest.ts'
import type { ConversationId } from '../../shared/contract/ids.ts'
import { limits } from '../../shared/contract/limits.ts'
import { guestConversation } from '../../shared/contract/topology.ts'
import { WeirError } from '../../shared/lib/errors.ts'

const folder = 'agents'
const endings = ['.yaml', '.yml', '.json']

/**
 * A guest as a value, the path of its file, or its name. A name means its file in the folder
 * `agents`, if there is one, and otherwise the defaults. Throws `agent.invalid`.
 */
export function guestAgent(given: string | GuestAgent): Required<GuestAgent> {
  if (typeof given !== 'string') {
    const { name, settings = defaultGuestSettings, hints = {}, record = 'all' } = given
    return { name: parseGuestName(name), settings, hints, record }
  }
  const isPath = endings.includes(extname(given))
  const name = isPath ? undefined : parseGuestName(given)
  const file = isPath
    ? given
    : endings.map((ending) => join(folder, `${given}${ending}`)).find((path) => existsSync(path))
  if (file === undefined)
    return { name: given, settings: defaultGuestSettings, hints: {}, record: 'all' }
  const guests = loadGuests(file)
  const guest = name === undefined ? [...guests.values()][0] : guests.get(name)
  if (guest !== undefined) return guest
  throw new WeirError(
    'agent.invalid',
    guests.size === 0
      ? `${file} is the file of an agent of Weir: add guest: true, and remove its model and its tools`
      : `${file} has the name ${[...guests.keys()].join(', ')}: give it the name ${basename(given)}`,
  )
}

export const guestName = /^[a-z0-9][a-z0-9-]{0,63}$/

/** Throws `agent.invalid`. */
export function parseGuestName(name: string): string {
  if (guestName.test(name)) return name
  throw new WeirError(
    'agent.invalid',
    `the name of the guest is ${JSON.stringify(name.slice(0, 80))}; must be 1 to 64 of a-z, 0-9 and -`,
  )
}

/** The conversation of a guest's thread. A long id becomes a hash. */
export function conversationOfGuest(agent: string, thread: string): ConversationId {
  const id = guestConversation(agent, thread.toWellFormed())
  if (Buffer.byteLength(id) <= limits.conversationIdBytesMax) return id
  return guestConversation(agent, createHash('sha256').update(thread).digest('hex'))
}
