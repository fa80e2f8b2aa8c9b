// The effect of assignments and arithmetic on the variables.

import type { Assignment } from 'unbash'
import { anything } from './field.ts'
import { checkSecret, type Place } from './place.ts'
import { checkSetting } from './settings.ts'
import { assigned, type State } from './state.ts'
import { fieldsOf, textOf } from './words.ts'

/** `command`: the settings hold for this command only. */
export function assign(assignments: readonly Assignment[], place: Place, command?: string): State {
  let { state } = place
  for (const { name, value, append, index } of assignments) {
    const texts =
      value.type === 'ArrayValue' ? fieldsOf(value.elements, state) : [textOf(value, state)]
    const before = state.variables.get(name) ?? anything
    for (const text of texts) {
      checkSecret(text, place)
      checkSetting(name, append ? before + text : text, { ...place, state }, command)
    }
    const [text = ''] = texts
    const isKnown = value.type === 'Word' && index === undefined && !text.includes('~')
    state = assigned(state, name, isKnown ? (append ? before + text : text) : undefined)
  }
  return state
}

/** Arithmetic assigns numbers to the variables that it names. */
export function counted(text: string, state: State): State {
  const named = text.match(/[A-Za-z_][A-Za-z0-9_]*/g) ?? []
  return named
    .filter((name) => state.variables.has(name))
    .reduce((next, name) => assigned(next, name, undefined), state)
}

export function unknownVariables(state: State): State {
  return [...state.variables.keys()].reduce((next, name) => assigned(next, name, undefined), state)
}
