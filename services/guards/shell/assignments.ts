// The effect of assignments and arithmetic on the variables.

import { type Assignment, forEachChild, type SyntaxNode } from 'unbash'
import { assigned, type Environment, inherited } from './environment.ts'
import { checkSecret, type Place } from './place.ts'
import { checkValue } from './read-again.ts'
import { fieldsOf, textOf } from './words.ts'

/** Set before a command, these change its effect. */
const steering = ['HOME', ...inherited]

/**
 * The environment of the command after these settings. A script inside would get all of them, but
 * here only these count.
 */
export function withSettings(settings: readonly Assignment[], place: Place): Environment {
  const { variables } = assign(settings, place)
  let environment = place.environment
  for (const name of steering)
    if (settings.some((setting) => setting.name === name))
      environment = assigned(environment, name, name === 'HOME' ? undefined : variables.get(name))
  return environment
}

export function withoutSettings(environment: Environment, before: Environment): Environment {
  const variables = new Map(environment.variables)
  for (const name of steering) {
    const value = before.variables.get(name)
    if (value === undefined) variables.delete(name)
    else variables.set(name, value)
  }
  return { ...environment, variables }
}

export function assign(assignments: readonly Assignment[], place: Place): Environment {
  let environment = place.environment
  for (const { name, value, append, index } of assignments) {
    if (value.type === 'ArrayValue') {
      for (const element of value.elements)
        for (const field of fieldsOf([element], { ...place, environment })) {
          checkSecret(field, place)
          checkValue(name, field)
        }
      environment = assigned(environment, name, undefined)
      continue
    }
    const text = textOf(value, { ...place, environment })
    checkSecret(text, place)
    const before = environment.variables.get(name)
    const whole = append ? (before === undefined ? undefined : before + text) : text
    checkValue(name, whole ?? text)
    environment = assigned(
      environment,
      name,
      index === undefined && !text.includes('~') ? whole : undefined,
    )
  }
  return environment
}

/** Arithmetic assigns numbers to the variables that it names. */
export function countedIn(node: SyntaxNode, environment: Environment): Environment {
  if (node.type === 'ArithmeticWord' && environment.variables.has(node.value))
    return assigned(environment, node.value, undefined)
  let next = environment
  if (!node.type.startsWith('Arithmetic')) return next
  forEachChild(node, (child) => {
    next = countedIn(child, next)
  })
  return next
}
