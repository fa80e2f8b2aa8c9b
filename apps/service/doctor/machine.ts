// Requirements of every command: a recent Node.js and a plausible clock.

import { type Check, ok, wrong } from './check.ts'

/** Equals `engines` in package.json: this version strips types and has SQLite. */
export const nodeMinimum = { major: 22, minor: 18 }

export function nodeCheck(version: string): Check {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  const { major: least, minor: leastMinor } = nodeMinimum
  const isNew = major > least || (major === least && minor >= leastMinor)
  if (isNew) return ok('node', `${version}; ${least}.${leastMinor} or newer is needed`)
  return wrong('node', `${version} is too old`, `install Node.js ${least}.${leastMinor} or newer`)
}

/** This file is newer, so an earlier clock is wrong. */
const notBefore = Date.UTC(2026, 0, 1)
/** After a small correction of the clock, a log's newest record may be ahead by this much. */
const aheadMaxMs = 60_000

/**
 * `logNewest`: the newest time in the log, if there is one. The log's times never go back, so no
 * time passes for Weir while they are ahead.
 */
export function clockCheck(now: number, logNewest: number | undefined): Check {
  const shown = new Date(now).toISOString()
  if (now < notBefore) return wrong('clock', `it says ${shown}`, 'set the clock of this machine')
  const ahead = logNewest === undefined ? 0 : logNewest - now
  if (ahead <= aheadMaxMs) return ok('clock', `it says ${shown}`)
  const finding = `it says ${shown}, and the newest record is ${Math.round(ahead / 1000)} s ahead of that: until then deadlines stand still`
  return wrong('clock', finding, 'set the clock of this machine, or wait')
}
