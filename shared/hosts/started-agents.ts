// The agents of a host that a result of its tools shows: one that goes on after its call, and those that
// have ended. For hooks, whose hosts run agents in the background.

import { limits } from '../contract/limits.ts'
import { boundedJson } from '../lib/json/bounded-json.ts'
import { isObject } from '../lib/json/json-object.ts'
import type { HostProfile } from './host-profile.ts'

/** The id of the agent that goes on after this result. Undefined: none does, or the host names none. */
export function agentThatGoesOn(
  host: Pick<HostProfile, 'starts'> | undefined,
  tool: string,
  result: string,
): string | undefined {
  const starts = host?.starts
  if (starts?.child === undefined || !starts.tools.includes(tool)) return undefined
  const value = boundedJson(result, limits.jsonDepthMax)
  if (!isObject(value)) return undefined
  const { over, child } = starts
  if (over !== undefined && value[over.member] === over.value) return undefined
  const id = value[child]
  return typeof id === 'string' && id !== '' ? id : undefined
}

/** The ids of agents whose state in this result is an end: an object, such as `{ completed: text }`. */
export function agentsThatEnded(
  host: Pick<HostProfile, 'starts'> | undefined,
  tool: string,
  result: string,
): string[] {
  if (host?.starts?.reports?.includes(tool) !== true) return []
  const value = boundedJson(result, limits.jsonDepthMax)
  const states = isObject(value) && isObject(value.status) ? Object.entries(value.status) : []
  return states.flatMap(([id, state]) => (isObject(state) ? [id] : []))
}
