// The script of a page: its modules, their imports and its libraries, joined into one. A report is
// opened from a disk, where browsers load no modules. A checkout needs no build step: Node strips the
// types. The package has each script ready, because that function of Node warns in a user's program.
// A module is imports of `./….ts` lines or of the libraries here, then declarations,
// some exported. Other forms throw. Comment lines are left out, so no text has such a line.
// Each module becomes a function that returns its exports, so two modules may use
// the same name.

import { existsSync, readFileSync } from 'node:fs'
import { createRequire, findPackageJSON, stripTypeScriptTypes } from 'node:module'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'

/** By the name in an import, which is that of the package: the file for a browser, next to the entry of the package. */
export const pageLibraries: Record<string, string> = {
  preact: 'preact.mjs',
  htm: 'htm.mjs',
  uplot: 'uPlot.iife.min.js',
  'eventsource-parser': 'parse.js',
}

/** The file of the package with the script of this entry. */
export const readyScriptOf = (entry: string): string => entry.replace(/\.ts$/, '.joined.js')

/** `entry`: the path of the first module; its imports are placed before it. */
export function joinedScript(entry: string): string {
  const ready = readyScriptOf(entry)
  if (existsSync(ready)) return readFileSync(ready, 'utf8')
  const joined: Joined = { names: new Map(), parts: [] }
  append({ file: entry, isLibrary: false }, joined)
  return `'use strict';\n(() => {\n${joined.parts.join('\n')}\n})()\n`
}

type Source = { file: string; isLibrary: boolean }
type Joined = { names: Map<string, string>; parts: string[] }

const importLine = /^import (type )?(\{[^}]*\}|\w+) from '([^']+)';?\n/gm
const exportWord = /^export (?=(?:const|let|async function|function|class) (\w+))/gm

function append({ file, isLibrary }: Source, joined: Joined): string {
  const { names, parts } = joined
  const known = names.get(file)
  if (known !== undefined) return known
  const name = `$${names.size}`
  names.set(file, name)
  const source = readFileSync(file, 'utf8')
  const code = isLibrary ? `// ${licenseOf(file)}\n${libraryCode(source)}` : ownCode(source)
  const imports = [...code.matchAll(importLine)].map(([, , members = '', path = '']) => {
    const from = append(found(path, file), joined)
    return members.startsWith('{')
      ? `const ${members.replaceAll(' as ', ': ')} = ${from}`
      : `const ${members} = ${from}.default`
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

const commentLines = /^ *(?:\/\/.*|\/\*\*[\s\S]*?\*\/)\n/gm
const emptyLines = /^\s*\n/gm

/** Comments and imports of types go before the types: to strip these would leave blank lines. */
function ownCode(source: string): string {
  const code = source
    .replace(commentLines, '')
    .replace(importLine, (line, isType) => (isType ? '' : line))
  return stripTypeScriptTypes(code, { mode: 'strip' }).replace(emptyLines, '')
}

function licenseOf(file: string): string {
  const manifest = findPackageJSON(pathToFileURL(file))
  if (manifest === undefined) throw new Error(`${file} has no package`)
  const { name, version, license } = JSON.parse(readFileSync(manifest, 'utf8'))
  return `${name} ${version}, license ${license}, https://www.npmjs.com/package/${name}`
}

/** A library exports all at the end, or a default, or is a script with a single variable. */
function libraryCode(source: string): string {
  const code = source.replace(/\n\/\/# sourceMappingURL=.*/, '')
  if (/\bexport default /.test(code))
    return `${code.replace(/\bexport default /, 'const $default = ')}\nreturn { default: $default }\n`
  const [, variable] = /^(?:\/\*.*\*\/\s*)?var (\w+)=function/.exec(code) ?? []
  if (variable !== undefined) return `${code}\nreturn { default: ${variable} }\n`
  return code.replace(/\bexport ?\{([^}]*)\};?\s*$/, (_, members: string) => {
    const pairs = members.split(',').map((member) => member.trim().split(' as ').reverse())
    return `\nreturn { ${pairs.map((pair) => pair.join(': ')).join(', ')} }\n`
  })
}

function found(path: string, from: string): Source {
  if (!path.startsWith('.')) {
    const file = pageLibraries[path]
    if (file === undefined) throw new Error(`${from} imports ${path}, which no page has`)
    const entry = createRequire(import.meta.url).resolve(path)
    return { file: join(dirname(entry), file), isLibrary: true }
  }
  return { file: join(dirname(from), path), isLibrary: false }
}
