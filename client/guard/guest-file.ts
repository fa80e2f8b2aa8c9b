// A guest by its name: its file. Reading files takes more code than guarding an agent, so a program
// loads this only where a guest has a file.

import { basename, dirname, extname } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { Logger } from 'pino'
import { loadGuests } from '../../shared/agents/file/load-agents.ts'
import { defaultGuestSettings, type Guest, type GuestAgent } from '../../shared/agents/guest.ts'
import { policyOf } from '../../shared/agents/policy/policy.ts'
import { WeirError } from '../../shared/lib/errors.ts'
import { parseGuestName, wholeGuest } from './guest-agent.ts'
import { fileOfGuest, type GuestPlace } from './guest-place.ts'

/**
 * A checkout can bring a file along, so a file that was only found sets caps alone: they are the highest
 * ones without it. Its other keys blind rules, hide records or speak to the user.
 */
function setsCapsOnly({ settings, hints, record }: Guest): boolean {
  const { version: _, ...policy } = defaultGuestSettings.policy
  const { caps } = settings.policy
  const plain = { ...defaultGuestSettings, policy: policyOf({ ...policy, caps }) }
  const hasHints = Object.keys(hints).length > 0
  return isDeepStrictEqual(settings, plain) && !hasHints && record === 'all'
}

/**
 * A guest as a value, the path of its file, or its name. A name means its file
 * (guest-place.ts), if there is one, and otherwise the defaults. Throws `agent.invalid`. `log`: a client
 * chose the name, so a faulty file that was only found does not count, with a warning: an error would
 * leave the guest unjudged.
 */
export function guestAgent(given: string | GuestAgent, log?: Pick<Logger, 'warn'>): Guest {
  if (typeof given !== 'string') return wholeGuest(given)
  const place = fileOfGuest(given)
  const { file, name } = place
  if (file === undefined) return wholeGuest({ name: parseGuestName(given) })
  try {
    return guestIn({ ...place, file })
  } catch (error) {
    if (!place.isFound || name === undefined || log === undefined) throw error
    log.warn({ err: error, agent: name }, 'the file of a guest does not count')
    return wholeGuest({ name })
  }
}

function guestIn({ file, name, isFound }: GuestPlace & { file: string }): Guest {
  const guests = loadGuests(file)
  const guest = name === undefined ? [...guests.values()][0] : guests.get(name)
  if (guest !== undefined && isFound && !setsCapsOnly(guest))
    throw new WeirError(
      'agent.invalid',
      `${file} was only found in the working folder, so it may set caps and nothing else: if you trust it, name its folder with WEIR_AGENTS=${dirname(file)}, or give the guest's file by its path`,
    )
  if (guest !== undefined) return guest
  throw new WeirError(
    'agent.invalid',
    guests.size === 0
      ? `${file} is the file of an agent of Weir: add guest: true, and remove its model and its tools`
      : `${file} has the name ${[...guests.keys()].join(', ')}: give it the name ${name ?? basename(file, extname(file))}`,
  )
}
