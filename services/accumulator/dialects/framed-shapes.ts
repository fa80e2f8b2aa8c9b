// The JSON shapes of calls that only one family's frame has, beside those of plain JSON. Outside it
// they are data.

import { objectShape, type Shape, withArguments } from './json-shapes.ts'
import { membersOf, type Repair, stringOf } from './written-json.ts'

/**
 * Command A and R7B: {"tool_call_id": "0", "tool_name": "name", "parameters": {…}} (llama.cpp
 * models/templates/CohereForAI-c4ai-command-r7b-12-2024-tool_use.jinja).
 */
export function namedByTool(json: string, repairs: Set<Repair>): Shape {
  const list = membersOf(json) ?? []
  const members = new Map(list.map((member) => [member.name, member.json]))
  const name = stringOf(members.get('tool_name'))
  const args = members.get('parameters')
  if (name === undefined || name.trim() === '' || args === undefined)
    return objectShape(json, repairs)
  if (members.size < list.length)
    return { kind: 'broken', names: [name], why: 'one of its fields is given twice' }
  const own = ['tool_call_id', 'tool_name', 'parameters']
  const strange = [...members.keys()].filter((key) => !own.includes(key))
  return withArguments(
    [name],
    stringOf(members.get('tool_call_id')) ?? '',
    { args, strange },
    repairs,
  )
}

/** Apertus: {"name": {…}} (SGLang function_call/apertus2509_detector.py). */
export function nameAsKey(json: string, repairs: Set<Repair>): Shape {
  const [only, ...others] = membersOf(json) ?? []
  if (only === undefined || others.length > 0 || only.name.trim() === '')
    return objectShape(json, repairs)
  return withArguments([only.name], '', { args: only.json, strange: [] }, repairs)
}
