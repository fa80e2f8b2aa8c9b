// The script of a page: its modules and their imports, joined into one. A report is opened from a
// disk, where browsers load no modules. There is no build step: Node strips the types.
// PAGE-SCRIPT-1. A module starts with `import { … } from './….ts'` lines, or imports of libraries that
//     the caller names. Declarations follow, some behind `export `. Any other form throws.
// PAGE-SCRIPT-2. Each module becomes a function that returns its exports, so two modules may use
//     the same name.

import { existsSync, readFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { dirname, join } from 'node:path'

/** The addresses of libraries in a browser, by their names. */
export type Libraries = Record<string, string>

/**
 * `entry`: the path of the first module; its imports are placed before it. A package contains
 * compiled modules, so `.js` files are accepted too. With `libraries` the script is a module.
 */
export function joinedScript(entry: string, libraries: Libraries = {}): string {
  const names = new Map<string, string>()
  const parts: string[] = []
  append(entry, { names, parts, libraries: Object.keys(libraries) })
  const loaded = Object.values(libraries).map(
    (address, place) => `import * as $library${place} from '${address}'\n`,
  )
  return `${loaded.join('')}'use strict';\n(() => {\n${parts.join('\n')}\n})()\n`
}

type Joined = { names: Map<string, string>; parts: string[]; libraries: string[] }

const importLine = /^import (type )?\{([^}]*)\} from '(\.[^']+)';?\n/gm
const libraryLine = /^import (type )?(\{[^}]*\}|\w+) from '([^.'][^']*)';?\n/gm
const exportWord = /^export (?=(?:const|let|async function|function|class) (\w+))/gm

function append(file: string, joined: Joined): string {
  const { names, parts, libraries } = joined
  const known = names.get(file)
  if (known !== undefined) return known
  const name = `$${names.size}`
  names.set(file, name)
  const source = readFileSync(file, 'utf8')
  const code = file.endsWith('.ts')
    ? stripTypeScriptTypes(withoutTypeImports(source), { mode: 'strip' })
    : source
  const imports = [...code.matchAll(importLine)].map(([, , members = '', path = '']) => {
    const from = append(found(join(dirname(file), path)), joined)
    return `const {${members.replaceAll(' as ', ': ')}} = ${from}`
  })
  const loaded = [...code.matchAll(libraryLine)].flatMap(([, , members = '', name = '']) => {
    const place = libraries.indexOf(name)
    if (place < 0) return []
    return members.startsWith('{')
      ? `const ${members.replaceAll(' as ', ': ')} = $library${place}`
      : `const ${members} = $library${place}.default`
  })
  const exported = [...code.matchAll(exportWord)].map(([, declared]) => declared)
  const body = code
    .replace(importLine, '')
    .replace(libraryLine, (line, _, __, name) => (libraries.includes(name) ? '' : line))
    .replace(exportWord, '')
  const strange = /^(?:import|export)\b.*/m.exec(body)
  if (strange !== null) throw new Error(`${file} has a line that cannot be joined: ${strange[0]}`)
  parts.push(
    `const ${name} = (() => {\n${[...loaded, ...imports, body].join('\n')}\nreturn { ${exported.join(', ')} }\n})()`,
  )
  return name
}

/** Must run before the types are stripped: that would leave blank lines. */
function withoutTypeImports(source: string): string {
  const withoutType = (line: string, isType: unknown) => (isType ? '' : line)
  return source.replace(importLine, withoutType).replace(libraryLine, withoutType)
}

function found(path: string): string {
  return existsSync(path) ? path : path.replace(/\.ts$/, '.js')
}
