// A guest by its name: its file. Reading files takes more code than guarding an agent, so a program
// loads this only where a guest has a file.

import { basename } from 'node:path'
import { loadGuests } from '../../shared/agents/file/load-agents.ts'
import type { Guest, GuestAgent } from '../../shared/agents/guest.ts'
import { WeirError } from '../../shared/lib/errors.ts'
import { parseGuestName, wholeGuest } from './guest-agent.ts'
import { fileOfGuest } from './guest-place.ts'

const told = new Set<string>()

/** A checkout can bring such a file along. */
function tellFound(file: string): void {
  if (told.has(file)) return
  told.add(file)
  process.emitWarning(`${file} of the working folder sets the rules and caps of this guest`)
}

/**
 * A guest as a value, the path of its file, or its name. A name means its file in the folder
 * `agents`, if there is one, and otherwise the defaults. Throws `agent.invalid`.
 */
export function guestAgent(given: string | GuestAgent): Guest {
  if (typeof given !== 'string') return wholeGuest(given)
  const { file, name } = fileOfGuest(given)
  if (file === undefined) return wholeGuest({ name: parseGuestName(given) })
  const guests = loadGuests(file)
  if (file !== given) tellFound(file)
  const guest = name === undefined ? [...guests.values()][0] : guests.get(name)
  if (guest !== undefined) return guest
  throw new WeirError(
    'agent.invalid',
    guests.size === 0
      ? `${file} is the file of an agent of Weir: add guest: true, and remove its model and its tools`
      : `${file} has the name ${[...guests.keys()].join(', ')}: give it the name ${basename(given)}`,
  )
}
