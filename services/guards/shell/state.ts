// The known facts at one place of a script: the possible folders, and the variables with known
// texts. A state never changes: each command returns a new one, and the two sides of a branch
// cannot affect each other.

import { anything } from './field.ts'
import { Refusal } from './refusal.ts'

export type State = {
  /** Folders that the shell may be in. Undefined: any. A relative path must be allowed from each. */
  folders: readonly string[] | undefined
  /** A missing variable may have any text. */
  variables: ReadonlyMap<string, string>
}

/** The states after a success and after a failure. Undefined: the script does not continue there. */
export type Outcome = { ok: State | undefined; failed: State | undefined }

const foldersMax = 8
const variablesMax = 256
const valueMax = 4_096

export function both(state: State | undefined): Outcome {
  return { ok: state, failed: state }
}

export function after({ ok, failed }: Outcome): State | undefined {
  return joined(ok, failed)
}

/** Bash itself sets these at other times. */
const managed =
  /^(_|PWD|OLDPWD|REPLY|MAPFILE|OPT\w+|S?RANDOM|SECONDS|LINENO|PPID|BASH\w*|PIPESTATUS|DIRSTACK|EPOCH\w+|E?UID|SHLVL)$/

/** `value` undefined: any text from here on. */
export function assigned(state: State, name: string, value: string | undefined): State {
  const isUnknown = value === undefined || value.length > valueMax || managed.test(name)
  const known = isUnknown ? anything : value
  if (!state.variables.has(name) && state.variables.size >= variablesMax)
    throw new Refusal(
      'unknowable',
      `it sets more than ${variablesMax} variables`,
      'Split it into several shorter commands.',
    )
  return { ...state, variables: new Map(state.variables).set(name, known) }
}

/** The facts that hold where two paths meet. */
export function joined(one: State | undefined, other: State | undefined): State | undefined {
  if (one === undefined || one === other) return other
  if (other === undefined) return one
  const folders = joinedFolders(one.folders, other.folders)
  if (one.variables === other.variables) return { ...one, folders }
  const variables = new Map(one.variables)
  for (const name of [...one.variables.keys(), ...other.variables.keys()])
    if (one.variables.get(name) !== other.variables.get(name)) variables.set(name, anything)
  return { folders, variables }
}

function joinedFolders(one: State['folders'], other: State['folders']): State['folders'] {
  if (one === other || one === undefined || other === undefined) return one && other
  const all = [...new Set([...one, ...other])]
  return all.length <= foldersMax ? all : undefined
}

/** Whether both states have the same facts. A loop's body then needs no further lap. */
export function same(one: State, other: State): boolean {
  return (
    String(one.folders) === String(other.folders) &&
    one.variables.size === other.variables.size &&
    [...one.variables].every(([name, value]) => other.variables.get(name) === value)
  )
}
