// The known facts at one place of a script: possible folders, variables with known texts,
// functions. An environment never changes: each command returns a new one, so the two sides of a
// branch cannot affect each other.

import type { SyntaxNode } from 'unbash'
import { anything } from './field.ts'
import { Refusal, shown } from './refusal.ts'

export type Environment = {
  /**
   * Folders that the shell may be in. Undefined: any. A relative path must be allowed from each of
   * them.
   */
  cwds: readonly string[] | undefined
  /** A missing variable may have any text. */
  variables: ReadonlyMap<string, string>
  functions: ReadonlyMap<string, SyntaxNode>
}

/**
 * The environments after a success and after a failure of a command. Undefined: the script does not
 * continue there.
 */
export type Outcome = { ok: Environment | undefined; failed: Environment | undefined }

const cwdsMax = 8
const variablesMax = 256
const valueMax = 4_096

/** Inherited variables that change the commands of an inner shell. */
export const inherited = ['CDPATH', 'TMPDIR']

export function both(environment: Environment | undefined): Outcome {
  return { ok: environment, failed: environment }
}

export function after({ ok, failed }: Outcome): Environment | undefined {
  return joined(ok, failed)
}

export function inFolders(
  environment: Environment,
  cwds: readonly string[] | undefined,
): Environment {
  return { ...environment, cwds }
}

/** `value` undefined: any text from here on. */
export function assigned(
  environment: Environment,
  name: string,
  value: string | undefined,
): Environment {
  // An unknown value stays in the map. Otherwise HOME and RANDOM would keep their old meaning.
  const known = value === undefined || value.length > valueMax ? anything : value
  const variables = new Map(environment.variables)
  if (variables.has(name) || variables.size < variablesMax) variables.set(name, known)
  else
    throw new Refusal(
      'unknowable',
      `it sets more than ${variablesMax} variables`,
      'Split it into several shorter commands.',
    )
  return { ...environment, variables }
}

export function defined(environment: Environment, name: string, body: SyntaxNode): Environment {
  if (environment.functions.size >= variablesMax)
    throw new Refusal(
      'unknowable',
      `it defines more than ${variablesMax} functions`,
      'Split it into several shorter commands.',
    )
  return { ...environment, functions: new Map(environment.functions).set(name, body) }
}

/** The facts that hold where two paths meet. */
export function joined(
  one: Environment | undefined,
  other: Environment | undefined,
): Environment | undefined {
  if (one === undefined || one === other) return other
  if (other === undefined) return one
  return {
    cwds: joinedFolders(one.cwds, other.cwds),
    variables: joinedVariables(one, other),
    functions: joinedFunctions(one, other),
  }
}

function joinedFolders(one: Environment['cwds'], other: Environment['cwds']): Environment['cwds'] {
  if (one === other) return one
  if (one === undefined || other === undefined) return undefined
  const all = [...new Set([...one, ...other])]
  return all.length > cwdsMax ? undefined : all
}

function joinedVariables(
  { variables: one }: Environment,
  { variables: other }: Environment,
): Environment['variables'] {
  if (one === other) return one
  const all = new Map<string, string>()
  for (const name of [...one.keys(), ...other.keys()])
    all.set(name, one.get(name) === other.get(name) ? (one.get(name) as string) : anything)
  return all
}

function joinedFunctions(
  { functions: one }: Environment,
  { functions: other }: Environment,
): Environment['functions'] {
  if (one === other) return one
  const all = new Map([...one, ...other])
  for (const [name, body] of all)
    if ((one.has(name) && one.get(name) !== body) || (other.has(name) && other.get(name) !== body))
      throw new Refusal(
        'unknowable',
        `what the function ${shown(name)} does depends on how it runs`,
        'Define a function once.',
      )
  return all
}

/** Whether both environments have the same facts. A loop's body then needs no further lap. */
export function same(one: Environment | undefined, other: Environment | undefined): boolean {
  if (one === other) return true
  if (one === undefined || other === undefined) return false
  return (
    sameFolders(one.cwds, other.cwds) &&
    sameEntries(one.variables, other.variables) &&
    sameEntries(one.functions, other.functions)
  )
}

function sameFolders(one: Environment['cwds'], other: Environment['cwds']): boolean {
  if (one === undefined || other === undefined) return one === other
  return one.length === other.length && one.every((folder) => other.includes(folder))
}

function sameEntries<T>(one: ReadonlyMap<string, T>, other: ReadonlyMap<string, T>): boolean {
  return (
    one === other ||
    (one.size === other.size && [...one].every(([name, value]) => other.get(name) === value))
  )
}
