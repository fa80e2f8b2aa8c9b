// A call of an answer as the hooks of its host show it.
// A hook may show a part of a call only. A verdict on the whole call holds for it.

import { isObject, jsonIn } from '../lib/json/json-object.ts'
import type { HostProfile } from './host-profile.ts'

type ShownCall = { name: string; arguments: string }

/** Each way in which a hook may show the call. The namespace of a tool stands before a dot. */
export function callInHooks(
  call: ShownCall,
  { hookCalls }: Pick<HostProfile, 'hookCalls'>,
): ShownCall[] {
  if (hookCalls === undefined) return [call]
  const { name, arguments: text } = call
  const tool = name.slice(name.lastIndexOf('.') + 1)
  const change = hookCalls.find((one) => one.tool === tool)
  if (change === undefined)
    return [name, tool, name.replaceAll('.', '')].map((shown) => ({ ...call, name: shown }))
  const { member, as } = change
  const shown = member === undefined ? text : memberIn(text, member)
  return [{ name: as.tool, arguments: JSON.stringify({ [as.member]: shown }) }]
}

function memberIn(text: string, member: string): unknown {
  const value = jsonIn(text)
  return isObject(value) ? value[member] : undefined
}
