// The script of the page: the modules in page/ and those that they import, joined into one. The page is opened from a disk, where a browser loads no
// modules, and nothing is built beforehand: Node itself takes the types away.
// B1. A module is `import {…} from './….ts'` lines at its top, then declarations; what is exported stands behind `export `. Names at the top of modules
//     share one scope, so they differ over all of them: two of one name are an error of syntax, which a test sees.

import { existsSync, readFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { dirname, join } from 'node:path'

/** `entry`: the path of the module that begins. What it needs comes before it. In a package other modules are compiled already, so `.js` is taken too. */
export function joinedScript(entry: string): string {
  const seen = new Set<string>()
  return `'use strict';\n(() => {\n${parts(entry, seen).join('\n')}\n})()\n`
}

const importLine = /^import (type )?\{[^}]*\} from '(\.[^']+)'\n/gm
const exported = /^export (?=const|function|class|let|type)/gm

function parts(file: string, seen: Set<string>): string[] {
  if (seen.has(file)) return []
  seen.add(file)
  const source = readFileSync(file, 'utf8')
  const needed = [...source.matchAll(importLine)].flatMap(([, isType, path = '']) => (isType ? [] : [found(join(dirname(file), path))]))
  const own = source.replace(importLine, '').replace(exported, '')
  return [...needed.flatMap((other) => parts(other, seen)), file.endsWith('.ts') ? stripTypeScriptTypes(own, { mode: 'strip' }) : own]
}

function found(path: string): string {
  return existsSync(path) ? path : path.replace(/\.ts$/, '.js')
}
