// What assignments and arithmetic make of the variables.

import type { Assignment, SyntaxNode } from 'unbash'
import { forEachChild } from 'unbash'
import type { Environment } from './environment.ts'
import { assigned } from './environment.ts'
import type { Place } from './place.ts'
import { checkSecret } from './place.ts'
import { fieldsOf, textOf } from './words.ts'

export function withHomeOf(environment: Environment, before: Environment): Environment {
  const variables = new Map(environment.variables)
  const home = before.variables.get('HOME')
  if (home === undefined) variables.delete('HOME')
  else variables.set('HOME', home)
  return { ...environment, variables }
}

export function assign(assignments: readonly Assignment[], place: Place): Environment {
  let environment = place.environment
  for (const { name, value, append, index } of assignments) {
    if (value.type === 'ArrayValue') {
      for (const element of value.elements) for (const field of fieldsOf([element], { ...place, environment })) checkSecret(field, place)
      environment = assigned(environment, name, undefined)
      continue
    }
    const text = textOf(value, { ...place, environment })
    checkSecret(text, place)
    const before = environment.variables.get(name)
    const whole = append ? (before === undefined ? undefined : before + text) : text
    environment = assigned(environment, name, index === undefined && !text.includes('~') ? whole : undefined)
  }
  return environment
}

/** Arithmetic gives numbers to the variables that it names. */
export function countedIn(node: SyntaxNode, environment: Environment): Environment {
  if (node.type === 'ArithmeticWord' && environment.variables.has(node.value)) return assigned(environment, node.value, undefined)
  let next = environment
  if (!node.type.startsWith('Arithmetic')) return next
  forEachChild(node, (child) => {
    next = countedIn(child, next)
  })
  return next
}
