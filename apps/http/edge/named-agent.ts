// The agent that a request names.

import type { Agents } from '../../../client/weir.ts'
import { nearestName } from '../../../shared/settings/nearest-name.ts'
import { HttpError } from '../http-error.ts'

/** The names of models begin with it: `weir/AGENT`. */
export const modelPrefix = 'weir/'

/**
 * `given` undefined: the only agent. `field`: the field of the request. Throws 404 with the nearest name,
 * 400 for a choice of several.
 */
export function namedAgent(
  agents: Agents,
  given: string | undefined,
  field: 'model' | 'agent',
): string {
  const names = [...agents.keys()]
  const [only, another] = names
  if (only === undefined)
    throw new HttpError(
      404,
      'agent.unknown',
      'this server has no agents, only the history and the controls: ask the server that was started with --agents',
    )
  if (given === undefined) {
    if (only !== undefined && another === undefined) return only
    throw new HttpError(400, 'agent.unknown', `name one of the agents: ${names.join(', ')}`)
  }
  const name = given.startsWith(modelPrefix) ? given.slice(modelPrefix.length) : given
  if (agents.has(name)) return name
  const near = nearestName(name, names)
  const prefix = field === 'model' ? modelPrefix : ''
  const advice =
    near === undefined
      ? `the ${field}s are ${names.map((one) => prefix + one).join(', ')}`
      : `did you mean ${prefix}${near}?`
  throw new HttpError(404, 'agent.unknown', `there is no such ${field}: ${advice}`)
}
