// Replaces ${NAME} in a text of an agent file by the variable NAME of the environment, and
// ${file:PATH} by the content of a file, such as /run/secrets/key. $${ stands for ${. Values are not
// expanded again. Secrets enter an agent only in this way.

import { resolve } from 'node:path'
import { protectOwnPath } from '../../lib/sandbox/own-paths.ts'
import { readText } from '../../settings/text-file.ts'

/** Bytes of a file that ${file:…} in an agent file names. */
const secretFileBytesMax = 64 * 1024

/**
 * `text`: undefined after a mistake. Messages may show the names in `unset` and `empty` and the
 * sentences in `faults`, never values. `values`: those that stand in the text now.
 */
export type Expanded = {
  text: string | undefined
  unset: string[]
  empty: string[]
  faults: string[]
  values: string[]
}

/** `folder`: where the paths of files start. */
export type Origins = { environment: NodeJS.ProcessEnv; folder: string }

const reference =
  /(?<escaped>\$\$\{)|\$\{(?:(?<name>[A-Za-z_][A-Za-z0-9_]*)|file:(?<file>[^}\0]+))\}|(?<malformed>\$\{)/g

export function expand(text: string, { environment, folder }: Origins): Expanded {
  const [unset, empty, faults] = [new Set<string>(), new Set<string>(), new Set<string>()]
  const values: string[] = []
  const replaced = text.replace(
    reference,
    (found, escaped?: string, name?: string, file?: string) => {
      if (escaped !== undefined) return '${'
      if (file !== undefined) return kept(ofFile(file))
      if (name !== undefined) return kept(ofVariable(name))
      faults.add(
        `has a \${ without the name of a variable; must be \${NAME}, \${file:PATH}, or $\${ for the two characters themselves`,
      )
      return found
    },
  )
  const isRight = unset.size === 0 && empty.size === 0 && faults.size === 0
  return {
    text: isRight ? replaced : undefined,
    unset: [...unset],
    empty: [...empty],
    faults: [...faults],
    values,
  }

  function kept(value: string): string {
    values.push(value)
    return value
  }

  function ofVariable(name: string): string {
    const value = variableValue(name, environment)
    if (value === undefined) unset.add(name)
    else if (value === '') empty.add(name)
    return value ?? ''
  }

  function ofFile(file: string): string {
    const path = resolve(folder, file)
    const content = readText(path, secretFileBytesMax)
    if ('text' in content) protectOwnPath(path, 'hidden')
    const value = 'text' in content ? content.text.replace(/\r?\n$/, '') : ''
    if ('fault' in content) faults.add(`refers to the file ${file}, which ${content.fault}`)
    else if (value === '') faults.add(`refers to the file ${file}, which is empty`)
    return value
  }
}

/** Whether a text has a variable or a file, and so may hold a secret after expansion. */
export function hasVariable(text: string): boolean {
  return [...text.matchAll(reference)].some(
    ({ groups }) => groups?.name !== undefined || groups?.file !== undefined,
  )
}

/** Undefined: not set. */
export function variableValue(name: string, environment: NodeJS.ProcessEnv): string | undefined {
  return Object.hasOwn(environment, name) ? environment[name] : undefined
}
