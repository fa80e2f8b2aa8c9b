// The script of the page: the modules in page/ and those that they import, joined into one. The
// page is opened from a disk, where a browser loads no modules, and nothing is built beforehand:
// Node itself takes the types away.
// PAGE-SCRIPT-1. A module is `import { … } from './….ts'` lines at its top, then declarations, of
//     which some stand behind `export `. Each becomes a function of its own that gives what it
//     exports, so names need not differ from module to module. What is written otherwise is an
//     error, not a wrong script.

import { existsSync, readFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { dirname, join } from 'node:path'

/**
 * `entry`: the path of the module that begins. What it needs comes before it. In a package other
 * modules are compiled already, so `.js` is taken too.
 */
export function joinedScript(entry: string): string {
  const names = new Map<string, string>()
  const parts: string[] = []
  take(entry, names, parts)
  return `'use strict';\n(() => {\n${parts.join('\n')}\n})()\n`
}

const importLine = /^import (type )?\{([^}]*)\} from '(\.[^']+)';?\n/gm
const exportWord = /^export (?=(?:const|let|async function|function|class) (\w+))/gm

function take(file: string, names: Map<string, string>, parts: string[]): string {
  const known = names.get(file)
  if (known !== undefined) return known
  const name = `$${names.size}`
  names.set(file, name)
  const source = readFileSync(file, 'utf8')
  const code = file.endsWith('.ts')
    ? stripTypeScriptTypes(withoutTypeImports(source), { mode: 'strip' })
    : source
  const imports = [...code.matchAll(importLine)].map(([, , members = '', path = '']) => {
    const from = take(found(join(dirname(file), path)), names, parts)
    return `const {${members.replaceAll(' as ', ': ')}} = ${from}`
  })
  const exported = [...code.matchAll(exportWord)].map(([, what]) => what)
  const body = code.replace(importLine, '').replace(exportWord, '')
  const strange = /^(?:import|export)\b.*/m.exec(body)
  if (strange !== null) throw new Error(`${file} has a line that cannot be joined: ${strange[0]}`)
  parts.push(
    `const ${name} = (() => {\n${[...imports, body].join('\n')}\nreturn { ${exported.join(', ')} }\n})()`,
  )
  return name
}

/** Before the types are taken away, which would leave blank lines in their place. */
function withoutTypeImports(source: string): string {
  return source.replace(importLine, (line, isType) => (isType ? '' : line))
}

function found(path: string): string {
  return existsSync(path) ? path : path.replace(/\.ts$/, '.js')
}
