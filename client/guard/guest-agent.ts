// A guest as a value, and its name.

import { defaultGuestSettings, type Guest, type GuestAgent } from '../../shared/agents/guest.ts'
import { WeirError } from '../../shared/lib/errors.ts'

/** With its defaults. Throws `agent.invalid`. */
export function wholeGuest({ name, settings = {}, hints = {}, record = 'all' }: GuestAgent): Guest {
  const given = Object.entries(settings).filter(([, value]) => value !== undefined)
  const whole = { ...defaultGuestSettings, ...Object.fromEntries(given) }
  return { name: parseGuestName(name), settings: whole, hints, record }
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
