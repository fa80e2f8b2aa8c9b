// Replaces ${NAME} in a text of an agent file by the variable NAME of the environment. $${ stands
// for ${. Values are not expanded again. Secrets enter an agent only in this way.

/**
 * `text`: undefined after a mistake. Messages may show the names in `unset` and `empty`, never
 * values.
 */
export type Expanded = {
  text: string | undefined
  unset: string[]
  empty: string[]
  malformed: boolean
}

const reference = /(?<escaped>\$\$\{)|\$\{(?<name>[A-Za-z_][A-Za-z0-9_]*)\}|(?<malformed>\$\{)/g

export function expand(text: string, environment: NodeJS.ProcessEnv): Expanded {
  const unset = new Set<string>()
  const empty = new Set<string>()
  let malformed = false
  const replaced = text.replace(reference, (found, escaped?: string, name?: string) => {
    if (escaped !== undefined) return '${'
    if (name === undefined) {
      malformed = true
      return found
    }
    const value = variableValue(name, environment)
    if (value === undefined) unset.add(name)
    else if (value === '') empty.add(name)
    return value ?? ''
  })
  const isRight = unset.size === 0 && empty.size === 0 && !malformed
  return { text: isRight ? replaced : undefined, unset: [...unset], empty: [...empty], malformed }
}

/** Whether a text has a variable, and so may hold a secret after expansion. */
export function hasVariable(text: string): boolean {
  return [...text.matchAll(reference)].some(({ groups }) => groups?.name !== undefined)
}

/** Undefined: not set. */
export function variableValue(name: string, environment: NodeJS.ProcessEnv): string | undefined {
  return Object.hasOwn(environment, name) ? environment[name] : undefined
}
