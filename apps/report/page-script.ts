// The script of the page: the modules in page/ and their imports, joined into one. The page is
// opened from a disk, where browsers load no modules. There is no build step: Node strips the
// types.
// PAGE-SCRIPT-1. A module starts with `import { … } from './….ts'` lines. Declarations follow, some
//     behind `export `. Any other form throws, so the script cannot be wrong silently.
// PAGE-SCRIPT-2. Each module becomes a function that returns its exports, so two modules may use
//     the same name.

import { existsSync, readFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { dirname, join } from 'node:path'

/**
 * `entry`: the path of the first module; its imports are placed before it. A package contains
 * compiled modules, so `.js` files are accepted too.
 */
export function joinedScript(entry: string): string {
  const names = new Map<string, string>()
  const parts: string[] = []
  append(entry, names, parts)
  return `'use strict';\n(() => {\n${parts.join('\n')}\n})()\n`
}

const importLine = /^import (type )?\{([^}]*)\} from '(\.[^']+)';?\n/gm
const exportWord = /^export (?=(?:const|let|async function|function|class) (\w+))/gm

function append(file: string, names: Map<string, string>, parts: string[]): string {
  const known = names.get(file)
  if (known !== undefined) return known
  const name = `$${names.size}`
  names.set(file, name)
  const source = readFileSync(file, 'utf8')
  const code = file.endsWith('.ts')
    ? stripTypeScriptTypes(withoutTypeImports(source), { mode: 'strip' })
    : source
  const imports = [...code.matchAll(importLine)].map(([, , members = '', path = '']) => {
    const from = append(found(join(dirname(file), path)), names, parts)
    return `const {${members.replaceAll(' as ', ': ')}} = ${from}`
  })
  const exported = [...code.matchAll(exportWord)].map(([, declared]) => declared)
  const body = code.replace(importLine, '').replace(exportWord, '')
  const strange = /^(?:import|export)\b.*/m.exec(body)
  if (strange !== null) throw new Error(`${file} has a line that cannot be joined: ${strange[0]}`)
  parts.push(
    `const ${name} = (() => {\n${[...imports, body].join('\n')}\nreturn { ${exported.join(', ')} }\n})()`,
  )
  return name
}

/** Must run before the types are stripped: that would leave blank lines. */
function withoutTypeImports(source: string): string {
  return source.replace(importLine, (line, isType) => (isType ? '' : line))
}

function found(path: string): string {
  return existsSync(path) ? path : path.replace(/\.ts$/, '.js')
}
